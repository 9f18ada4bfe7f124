"""Weights of nets as files: those that come with scenegen, and those that a person trained."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from evaluator.vision.net import SortNet
from evaluator.vision.subject import Subject
from scenegen.errors import InvalidRecord
from scenegen.record import canonical_text

FORMAT = "scenegen vision 1"
"""Changes with the net's form: files of another one are refused."""
_FACTS = "scenegen"
"""The one entry of a file's metadata; several would stand in any order."""
_SHIPPED = files("evaluator.vision").joinpath("weights")


def write_weights(path: Path, net: SortNet, subject: Subject, facts: dict[str, Any]) -> None:
    """Write weights, and what they were trained for; equal nets and facts give equal bytes.

    Args:
        path: The file.
        net: The net.
        subject: What it sees.
        facts: Plain data for people: how it was trained, and how well it does.
    """
    known = {**facts, "format": FORMAT, "subject": subject.content_id, "classes": subject.classes}
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in net.state_dict().items()}
    path.write_bytes(save(tensors, {_FACTS: canonical_text(known)}))


def facts_of(path: Path) -> dict[str, Any]:
    """Return what a file says of itself.

    Raises:
        InvalidRecord: It is no file of weights.
    """
    try:
        with safe_open(path, "pt") as opened:
            facts = json.loads((opened.metadata() or {}).get(_FACTS, "{}"))
    except (OSError, SafetensorError) as error:
        raise InvalidRecord(str(path), [f"no weights can be read from it ({error})"]) from error
    if facts.get("format") != FORMAT:
        raise InvalidRecord(str(path), [f"format is {facts.get('format')!r} - accepted: {FORMAT!r}"])
    return facts


def read_weights(path: Path) -> SortNet:
    """Build the net that a file holds, ready to look.

    Raises:
        InvalidRecord: It is no file of weights.
    """
    classes = facts_of(path)["classes"]
    net = SortNet(len(classes))
    with safe_open(path, "pt") as opened:
        net.load_state_dict({name: opened.get_tensor(name) for name in opened.keys()})
    return net.eval()


def shipped_weights(subject: Subject) -> Path | None:
    """Find the weights that come with scenegen for a view; None if there are none."""
    for entry in sorted(_SHIPPED.iterdir(), key=lambda one: one.name) if _SHIPPED.is_dir() else ():
        path = Path(str(entry))
        if path.suffix == ".safetensors" and facts_of(path)["subject"] == subject.content_id:
            return path
    return None
