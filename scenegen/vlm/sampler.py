"""From a proposal to scenes: each draw of its amounts is one scene."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from scenegen.axes.axis import AxisContext, level_reached
from scenegen.axes.misplacement import NAME as MISPLACEMENT
from scenegen.axes.registry import axis_named
from scenegen.cell import Cell
from scenegen.errors import PlacementFailed, VariationFailed
from scenegen.scenario import Scenario
from scenegen.units import Quantity
from scenegen.vlm.edits import EDITS, ChangeLight, Edit, RelabelBin, Rephrase
from scenegen.vlm.looks import change_light, change_surface
from scenegen.vlm.moves import (
    add_foreign,
    cover,
    lean,
    misplace,
    move,
    shift_datum,
    stack,
    swap,
    turn,
    wrong_bin,
)
from scenegen.vlm.proposal import Proposal
from scenegen.vlm.words import relabel_bin, rephrase

_APPLY: Mapping[str, Callable[..., Scenario]] = {
    "misplace": misplace, "swap": swap, "wrong_bin": wrong_bin, "add_foreign": add_foreign, "move": move, "turn": turn,
    "tilt": lean, "cover": cover, "stack": stack, "shift_datum": shift_datum, "change_surface": change_surface,
    "change_light": change_light, "relabel_bin": relabel_bin, "rephrase": rephrase,
}  # fmt: skip
_ORDER = {op: place for place, op in enumerate(EDITS)}


def sampled(proposal: Proposal, scenario: Scenario, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Apply a proposal to a scene, the amounts drawn from its ranges.

    Args:
        proposal: What to change, of this scene or of another one of the cell that has the same items.
        scenario: The scene.
        ctx: What axes use.
        rng: Source of randomness.

    Returns:
        A scene that differs in the facets of the proposal's axes alone, at rest; checks must still accept it.

    Raises:
        VariationFailed: An edit found no scene, at level 0; the reason is a short code.
    """
    changed = scenario
    for edit in _in_order(proposal):
        try:
            changed = _APPLY[edit.op](edit, changed, ctx, rng=rng)
        except PlacementFailed as failure:
            raise VariationFailed(MISPLACEMENT, 0, "no_room", str(failure)) from failure
    if not changed.changed(scenario):
        raise VariationFailed(axes_of(proposal)[0], 0, "no_change", "the scene equals its base")
    return changed


def _in_order(proposal: Proposal) -> list[Edit]:
    """Sort edits by kind, then by their upper limits: a later one of a kind may reach farther than those before it."""
    return sorted(proposal.edits, key=lambda edit: (_ORDER[edit.op], _reach(edit)))


def _reach(edit: Edit) -> tuple[Any, ...]:
    return tuple(getattr(edit, name) for name in type(edit).model_fields if name.startswith("high_"))


def axes_of(proposal: Proposal) -> tuple[str, ...]:
    """Name the axes of a proposal's edits, each once, in the order in which they are applied."""
    return tuple(dict.fromkeys(edit.axis for edit in _in_order(proposal)))


def varies(proposal: Proposal) -> bool:
    """Tell whether a proposal leads to more than one scene: whether its edits leave an amount or a place to draw."""
    return any(_draws(edit) for edit in proposal.edits)


def _draws(edit: Edit) -> bool:
    if isinstance(edit, RelabelBin | Rephrase):
        return False
    if isinstance(edit, ChangeLight):  # its direction is drawn where its angle is not 0
        ranges = ((edit.low_percent, edit.high_percent), (edit.low_kelvin, edit.high_kelvin), (0, edit.high_deg))
        return any(low != high for low, high in ranges)
    return True


def level_of(axis: str, severity: Sequence[Quantity], cell: Cell) -> int:
    """Grade what an axis measured: the level, 1 to 5, in whose band it lies; 0 where it departs from nothing.

    Args:
        axis: Name of the axis.
        severity: What the axis' `measure` returned.
        cell: The cell, whose envelope sets the bands.

    Returns:
        The level; 5 also for what lies beyond the limit.
    """
    return level_reached(axis_named(axis), severity, cell=cell)
