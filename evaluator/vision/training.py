"""Train a net on pictures of nominal scenes; can be stopped at any time and goes on where it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional

from evaluator.vision.batches import Batch, PictureSet
from evaluator.vision.net import Maps, SortNet
from scenegen.record import Record
from scenegen.streams import stream

RATE = 3e-3
"""Highest learning rate; it rises at first and falls to nothing (Smith and Topin 2019, "Super-convergence")."""
DECAY = 1e-4
"""Weight decay (Loshchilov and Hutter 2019, AdamW)."""
SPOT_WEIGHT = 30.0
"""How much more a cell in the middle of a grasp counts than one without: there are few of them."""
PLAIN_WEIGHT = 0.2
"""How much a pixel of the background counts: there are many of them."""
SHARES = {"region": 2.0, "spot": 50.0, "angle": 4.0, "size": 10.0}
"""How much each part of the loss counts."""
SAVE_EVERY = 100
"""Steps after which the state is kept: what an interruption can cost."""


class TrainOptions(Record):
    """How a net is trained; equal options give equal weights on one machine."""

    scenes: Annotated[int, Field(ge=1)] = 1500
    """Pictures to learn from."""
    steps: Annotated[int, Field(ge=1)] = 3000
    batch: Annotated[int, Field(ge=2)] = 8
    """Pictures a step."""
    seed: int = 0
    device: str = "cpu"


class Training:
    """A net that learns step by step.

    Args:
        pictures: What it learns from.
        options: How.
        kept: File where the state is kept between runs; None keeps it nowhere.
    """

    def __init__(self, pictures: PictureSet, options: TrainOptions, *, kept: Path | None = None) -> None:
        self._pictures, self._options, self._kept = pictures, options, kept
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(options.seed)
            self.net = SortNet(pictures.classes).to(options.device)
        self._optimizer = torch.optim.AdamW(self.net.parameters(), lr=RATE, weight_decay=DECAY)
        self._schedule = torch.optim.lr_scheduler.OneCycleLR(
            self._optimizer, max_lr=RATE, total_steps=options.steps + 1, pct_start=0.2
        )
        self.done = 0
        """Steps that were made."""
        if kept is not None and kept.exists():
            self._load(kept)

    def run(self) -> Iterator[float]:
        """Make the steps that are left; yields the loss of each."""
        options = self._options
        self.net.train()
        while self.done < options.steps:
            rng = stream(options.seed, "vision batch", self.done)
            loss = self._step(self._pictures.draw(options.batch, rng=rng, device=options.device))
            self.done += 1
            if self._kept is not None and (self.done % SAVE_EVERY == 0 or self.done == options.steps):
                self._save(self._kept)
            yield loss

    def _step(self, batch: Batch) -> float:
        self._optimizer.zero_grad()
        loss = loss_of(self.net(batch.images), batch)
        loss.backward()
        self._optimizer.step()
        self._schedule.step()
        return loss.item()

    def _save(self, path: Path) -> None:
        state = {
            "options": self._options.canonical_json(),
            "done": self.done,
            "net": self.net.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "schedule": self._schedule.state_dict(),
        }
        fresh = path.with_suffix(".new")
        torch.save(state, fresh)
        fresh.replace(path)

    def _load(self, path: Path) -> None:
        state = torch.load(path, map_location=self._options.device, weights_only=True)
        if state["options"] != self._options.canonical_json():
            return
        self.done = state["done"]
        self.net.load_state_dict(state["net"])
        self._optimizer.load_state_dict(state["optimizer"])
        self._schedule.load_state_dict(state["schedule"])


def loss_of(maps: Maps, batch: Batch) -> Tensor:
    """Say how far maps are from what they shall be, as one number."""
    image, row, column = batch.near
    size = torch.stack([maps.width, maps.height], dim=-1)[image, row, column]
    weight = 1 + SPOT_WEIGHT * batch.spot
    kinds = torch.ones(maps.region.shape[1], device=size.device)
    kinds[0] = PLAIN_WEIGHT
    parts = {
        "region": functional.cross_entropy(maps.region, batch.region, kinds),
        "spot": functional.binary_cross_entropy_with_logits(maps.spot, batch.spot, weight),
    }
    if len(image):
        closes = maps.angle.permute(0, 2, 3, 1)[image, row, column]
        parts["angle"] = functional.binary_cross_entropy_with_logits(closes, batch.angle)
        parts["size"] = functional.smooth_l1_loss(size, batch.size, beta=0.02)
    return torch.stack([SHARES[name] * part for name, part in parts.items()]).sum()
