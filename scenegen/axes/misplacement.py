"""Axis `misplacement`: parts beside the feed, in the wrong bin, of a mixed lot, or foreign to the line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from scenegen.axes.axis import Axis, AxisContext, Severity, count_at
from scenegen.axes.items import ITEM_FACETS, free_slots, targets_in, with_items
from scenegen.cell import Cell, Role
from scenegen.errors import PlacementFailed, VariationFailed
from scenegen.parts.catalogue import Catalogue
from scenegen.place import place
from scenegen.scenario import Cause, Item, Layout, Scenario
from scenegen.units import Quantity, Unit
from scenegen.wording import matches

NAME = "misplacement"

COUNT = Severity(
    "misplaced", Unit.COUNT, 0.0, 0.0, 5.0, "parts that lie where they do not belong, or do not belong at all"
)

Mode = Callable[[Scenario, int, AxisContext, np.random.Generator], Scenario | None]
"""From a scene and a number of parts to a scene in which so many are misplaced; None where there are too few."""


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Misplace some parts, all in one of the ways that the plant knows, chosen at random."""
    count = count_at(COUNT, level, cell=ctx.cell, axis=NAME)
    modes = [mode for cause, mode in MODES if cause in ctx.cell.allowed_causes]
    for index in rng.permutation(len(modes)).tolist():
        try:
            varied = modes[index](scenario, count, ctx, rng)
        except PlacementFailed as failure:
            raise VariationFailed(NAME, level, "no_room", str(failure)) from failure
        if varied is not None:
            return varied
    raise VariationFailed(
        NAME, level, "no_parts", f"the inventory cannot have {count} parts misplaced in any allowed way"
    )


def _foreign(scenario: Scenario, count: int, ctx: AxisContext, rng: np.random.Generator) -> Scenario | None:
    """Put parts into the feed that are foreign to the line."""
    free = free_slots(scenario, ctx.cell, Role.FOREIGN)
    if len(free) < count:
        return None
    return with_foreign(scenario, _drawn(free, count, rng), ctx, rng=rng)


def with_foreign(scenario: Scenario, slots: Sequence[str], ctx: AxisContext, *, rng: np.random.Generator) -> Scenario:
    """Put the foreign parts of some free slots into the feed.

    Raises:
        PlacementFailed: One found no place.
    """
    added = place(ctx.cell, ctx.parts, slots=slots, zone="feed", rng=rng, occupied=scenario.layout)
    return _with(scenario, (), _caused(added, Cause.FOREIGN_OBJECT), ctx)


def _beside(scenario: Scenario, count: int, ctx: AxisContext, rng: np.random.Generator) -> Scenario | None:
    """Take targets out of the feed and leave them on the table beside it."""
    names = [item.name for item in targets_in(scenario, ctx.cell)]
    if len(names) <= count:
        return None
    return beside(scenario, _drawn(names, count, rng), ctx, rng=rng)


def beside(scenario: Scenario, slots: Sequence[str], ctx: AxisContext, *, rng: np.random.Generator) -> Scenario:
    """Take some items out of the feed and leave them on the table beside it.

    Raises:
        PlacementFailed: One found no place.
    """
    left = _without(scenario, slots)
    moved = place(ctx.cell, ctx.parts, slots=slots, zone="table", rng=rng, occupied=left)
    return _with(scenario, slots, _caused(moved, Cause.MISFEED), ctx)


def _wrong_bin(scenario: Scenario, count: int, ctx: AxisContext, rng: np.random.Generator) -> Scenario | None:
    """Put targets into a bin that is not theirs."""
    box = ctx.cell.bins[int(rng.integers(len(ctx.cell.bins)))].name
    free = [slot for slot in spare(scenario, ctx.cell) if box not in bins_for(slot, ctx.cell, ctx.parts)]
    if len(free) < count or room_in(scenario, box, ctx.cell) < count:
        return None
    return in_bin(scenario, _drawn(free, count, rng), box, ctx, rng=rng)


def in_bin(
    scenario: Scenario, slots: Sequence[str], box: str, ctx: AxisContext, *, rng: np.random.Generator
) -> Scenario:
    """Put the parts of some free slots into a bin.

    Raises:
        PlacementFailed: One found no place.
    """
    added = place(ctx.cell, ctx.parts, slots=slots, zone=box, rng=rng, occupied=scenario.layout)
    return _with(scenario, (), _caused(added, Cause.MISFEED), ctx)


def _mixed_lot(scenario: Scenario, count: int, ctx: AxisContext, rng: np.random.Generator) -> Scenario | None:
    """Fill a bin with parts of its own, and look-alikes of theirs among them."""
    box = ctx.cell.bins[int(rng.integers(len(ctx.cell.bins)))].name
    left = spare(scenario, ctx.cell)
    own = [slot for slot in left if box in bins_for(slot, ctx.cell, ctx.parts)][:3]
    alike = {other for slot in own for other in ctx.parts[ctx.cell.slots[slot].part].look_alikes}
    wrong = [slot for slot in left if ctx.cell.slots[slot].part in alike and slot not in own]
    wrong = [slot for slot in wrong if box not in bins_for(slot, ctx.cell, ctx.parts)]
    if len(wrong) < count or not own or room_in(scenario, box, ctx.cell) < count + len(own):
        return None
    slots = _drawn(wrong, count, rng)
    added = place(ctx.cell, ctx.parts, slots=(*own, *slots), zone=box, rng=rng, occupied=scenario.layout)
    items = [*added[: len(own)], *_caused(added[len(own) :], Cause.MIXED_LOT)]
    return _with(scenario, (), items, ctx)


MODES: tuple[tuple[Cause, Mode], ...] = (
    (Cause.FOREIGN_OBJECT, _foreign),
    (Cause.MISFEED, _beside),
    (Cause.MISFEED, _wrong_bin),
    (Cause.MIXED_LOT, _mixed_lot),
)
"""The ways in which parts are misplaced, each with the cause that the plant must allow."""


def _drawn(slots: list[str], count: int, rng: np.random.Generator) -> tuple[str, ...]:
    return tuple(slots[index] for index in sorted(rng.permutation(len(slots))[:count].tolist()))


def _caused(items: Iterable[Item], cause: Cause) -> list[Item]:
    return [item.replaced(cause=cause) for item in items]


def _without(scenario: Scenario, slots: Iterable[str]) -> Layout:
    gone = set(slots)
    return Layout(
        fixtures=scenario.layout.fixtures, items=tuple(i for i in scenario.layout.items if i.name not in gone)
    )


def _with(scenario: Scenario, gone: Iterable[str], added: Iterable[Item], ctx: AxisContext) -> Scenario:
    items = (*_without(scenario, gone).items, *added)
    return with_items(scenario, items, cell=ctx.cell, parts=ctx.parts)


def spare(scenario: Scenario, cell: Cell) -> list[str]:
    """Return free slots of targets of which the scene has others, so that the instruction speaks of them already."""
    present = {item.part for item in targets_in(scenario, cell)}
    return [slot for slot in free_slots(scenario, cell, Role.TARGET) if cell.slots[slot].part in present]


def bins_for(slot: str, cell: Cell, parts: Catalogue) -> set[str]:
    """Name the bins in which the part of a slot belongs."""
    part = parts[cell.slots[slot].part]
    return {rule.bin for rule in cell.rules if matches(rule, part)}


def room_in(scenario: Scenario, box: str, cell: Cell) -> int:
    """Return how many parts a bin can still take."""
    capacity = next(b.capacity for b in cell.bins if b.name == box)
    return capacity - sum(item.zone == box for item in scenario.layout.items)


def misplaced(scenario: Scenario, cell: Cell, parts: Catalogue) -> set[str]:
    """Name what lies where it does not belong: foreign parts, targets of a mixed lot, on the table, in a wrong bin."""
    found, bins = set(), {box.name for box in cell.bins}
    for item in scenario.layout.items:
        role = cell.slots[item.name].role
        if role is Role.FOREIGN or (role is Role.TARGET and item.zone == "table"):
            found.add(item.name)
        elif role is Role.TARGET and item.zone == "feed" and item.cause is Cause.MIXED_LOT:
            found.add(item.name)
        elif role is Role.TARGET and item.zone in bins and item.zone not in bins_for(item.name, cell, parts):
            found.add(item.name)
    return found


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Count what is misplaced in the scene and was not in its base."""
    now, before = (misplaced(scenario, ctx.cell, ctx.parts) for scenario in (varied, base))
    return (Quantity(name=COUNT.name, value=len(now - before), unit=COUNT.unit),)


MISPLACEMENT = Axis(
    name=NAME,
    doc="Parts lie beside the feed, in a wrong bin or in a mixed lot, or are foreign to the line.",
    touches=ITEM_FACETS,
    severities=(COUNT,),
    aliases=("LIBERO-Plus: Objects Layout (added objects)", "Colosseum: distractor object", "SimplerEnv: distractor"),
    change=change,
    measure=measure,
)
