"""Pictures as batches to learn from: drawn, turned, mirrored and a little brighter or darker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from evaluator.vision.net import ANGLES, STRIDE
from evaluator.vision.pictures import Picture

EXPOSURE_SHARE = 0.06
"""Images are made brighter or darker by up to this share, so that renderers which differ by a few grey levels look alike."""
SPREAD_CELLS = 1.0
"""How far around the middle of a grasp the net shall answer (standard deviation) [cells]."""
NEAR = 0.5
"""From this value of `spot` on a cell belongs to a grasp, and its angles and sizes count."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Images and what a net shall say of them; n images, s cells that belong to grasps."""

    images: Tensor
    """Values from 0 to 255, shape [n, h, w, 3]."""
    region: Tensor
    """Class of each pixel, shape [n, h, w]."""
    spot: Tensor
    """How near a cell is to the middle of a grasp, 1 to 0, shape [n, classes, h/2, w/2]."""
    near: tuple[Tensor, Tensor, Tensor]
    """Image, row and column of the cells that belong to grasps, each of shape [s]."""
    angle: Tensor
    """How well the fingers can close along each direction there, shape [s, ANGLES]."""
    size: Tensor
    """Width and height there (`Labels.size`), shape [s, 2]."""


class PictureSet:
    """Pictures in memory: images as bytes, parts as rows of numbers.

    Args:
        pictures: At least one; all of one size.
        classes: How many parts are told apart.
    """

    def __init__(self, pictures: Sequence[Picture], *, classes: int) -> None:
        self.classes = classes
        self.images = np.stack([one.image for one in pictures])
        self.regions = np.stack([one.labels.region for one in pictures])
        self.rows = np.stack([one.labels.rows() for one in pictures])

    def draw(self, count: int, *, rng: np.random.Generator, device: str = "cpu") -> Batch:
        """Draw pictures with replacement, each turned or mirrored at random.

        Args:
            count: How many.
            rng: Source of randomness.
            device: Where the batch goes.
        """
        chosen = rng.integers(len(self.images), size=count)
        square = self.images.shape[1] == self.images.shape[2]
        turns = rng.integers(8 if square else 4, size=count)
        gains = rng.uniform(1 - EXPOSURE_SHARE, 1 + EXPOSURE_SHARE, size=count).astype(np.float32)
        images, regions, rows = zip(
            *(
                turned(self.images[index], self.regions[index], self.rows[index], turn)
                for index, turn in zip(chosen.tolist(), turns.tolist(), strict=True)
            ),
            strict=True,
        )
        bright = np.clip(np.stack(images) * gains[:, None, None, None], 0, 255)
        return batch_of(bright, np.stack(regions), np.stack(rows), classes=self.classes, device=device)


def turned(
    image: NDArray[np.uint8], region: NDArray[np.uint8], rows: NDArray[np.float32], turn: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.float32]]:
    """Mirror an image and its labels; the eight ways are all symmetries of a square.

    Args:
        image: Shape [h, w, 3].
        region: Shape [h, w].
        rows: As `Labels.rows`.
        turn: Bit 0 mirrors columns, bit 1 mirrors rows, bit 2 exchanges rows and columns.
    """
    height, width = region.shape
    rows = rows.copy()
    places = np.arange(ANGLES)
    if turn & 1:
        image, region, places = image[:, ::-1], region[:, ::-1], -places
        rows[:, 1] = width - rows[:, 1]
    if turn & 2:
        image, region, places = image[::-1], region[::-1], -places
        rows[:, 2] = height - rows[:, 2]
    if turn & 4:
        image, region, places = image.swapaxes(0, 1), region.T, ANGLES // 2 - places
        rows[:, [1, 2]] = rows[:, [2, 1]]
    rows[:, 5 + places % ANGLES] = rows[:, 5:].copy()
    return image, region, rows


def batch_of(
    images: NDArray[np.floating],
    regions: NDArray[np.uint8],
    rows: NDArray[np.float32],
    *,
    classes: int,
    device: str = "cpu",
) -> Batch:
    """Draw what a net shall say as maps.

    Args:
        images: Values from 0 to 255, shape [n, h, w, 3].
        regions: Shape [n, h, w].
        rows: As `Labels.rows`, shape [n, MAX_SLOTS, 5 + ANGLES].
        classes: How many parts are told apart.
        device: Where the batch goes.
    """
    known = torch.as_tensor(rows, device=device)
    part, column, row = known[..., 0], known[..., 1] / STRIDE - 0.5, known[..., 2] / STRIDE - 0.5
    cells = [torch.arange(side // STRIDE, device=device) for side in images.shape[1:3]]
    down, along = (
        torch.exp(-0.5 * ((cell - place[..., None]) / SPREAD_CELLS) ** 2)
        for cell, place in zip(cells, (row, column), strict=True)
    )
    around = down[..., :, None] * along[..., None, :]
    spot = torch.stack(
        [(around * (part == kind)[..., None, None]).amax(dim=1) for kind in range(1, classes + 1)], dim=1
    )
    most, owner = (around * (part > 0)[..., None, None]).max(dim=1)
    image, y, x = torch.nonzero(most >= NEAR, as_tuple=True)
    mine = known[image, owner[image, y, x]]
    return Batch(
        images=torch.as_tensor(images, dtype=torch.float32, device=device),
        region=torch.as_tensor(regions, dtype=torch.int64, device=device),
        spot=spot,
        near=(image, y, x),
        angle=mine[:, 5:],
        size=mine[:, 3:5],
    )
