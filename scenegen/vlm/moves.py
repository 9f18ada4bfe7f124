"""Edits of the layout, by the machinery of the axes: from an edit and a scene to a scene at rest."""

from __future__ import annotations

import numpy as np

from scenegen.axes import datum, misplacement, occlusion, pose, stacking, tilt
from scenegen.axes.aim import Aim
from scenegen.axes.axis import AxisContext, limits
from scenegen.axes.items import fixture_pose, free_slots, targets_in, with_items, with_poses
from scenegen.cell import Role
from scenegen.errors import VariationFailed
from scenegen.geometry import Pose, quat_multiply, quat_yaw
from scenegen.scenario import Cause, Item, Scenario
from scenegen.vlm.choices import NEIGHBOUR
from scenegen.vlm.edits import (
    AddForeign,
    Cover,
    Misplace,
    Move,
    ShiftDatum,
    Stack,
    Swap,
    Tilt,
    Turn,
    WrongBin,
)

TRIES = 24
"""Most places that are tried for a fixture, and turns for a part that replaces another one."""
COVERS = 48
"""Most ways in which an occluder is laid over a target."""
NARROW_DEG = 3.0
"""How far to either side of its middle a range of angles reaches, limits allowing: parts settle as they will [deg]."""
PLAY_M = 0.004
"""How far from the place of the part that it replaces another one may lie [m]."""


def target_of(name: str, scenario: Scenario, ctx: AxisContext, *, axis: str) -> Item:
    """Return a target in the feed.

    Raises:
        VariationFailed: The scene has none of that name there.
    """
    for item in targets_in(scenario, ctx.cell):
        if item.name == name:
            return item
    raise VariationFailed(axis, 0, "no_item", f"no target {name!r} lies in the feed")


def move(edit: Move, scenario: Scenario, ctx: AxisContext, *, rng: np.random.Generator) -> Scenario:
    """Move a target within the feed."""
    item = target_of(edit.item, scenario, ctx, axis=pose.NAME)

    def ways(shape: tuple[int, int]) -> pose.Ways:
        lengths = rng.uniform(edit.low_mm, edit.high_mm, shape) / 1e3
        return lengths * np.exp(2j * np.pi * rng.random(shape)), np.zeros(shape)

    return pose.relaid(scenario, [item], ways, ctx=ctx, rng=rng)


def turn(edit: Turn, scenario: Scenario, ctx: AxisContext, *, rng: np.random.Generator) -> Scenario:
    """Turn a target about the vertical."""
    item = target_of(edit.item, scenario, ctx, axis=pose.NAME)

    def ways(shape: tuple[int, int]) -> pose.Ways:
        turns = np.radians(rng.uniform(edit.low_deg, edit.high_deg, shape)) * rng.choice([-1.0, 1.0], shape)
        return np.zeros(shape, complex), turns

    return pose.relaid(scenario, [item], ways, ctx=ctx, rng=rng)


def lean(edit: Tilt, scenario: Scenario, ctx: AxisContext, *, rng: np.random.Generator) -> Scenario:
    """Lean a target on a neighbour, a wall or a small piece."""
    item = target_of(edit.item, scenario, ctx, axis=tilt.NAME)
    middle, most = (edit.low_deg + edit.high_deg) / 2, limits(tilt.LEAN, cell=ctx.cell, axis=tilt.NAME)[1]
    near = max(tilt.LEAN.least, min(edit.low_deg, middle - NARROW_DEG))
    far = max(edit.high_deg, min(most, middle + NARROW_DEG))
    return tilt.leaned(scenario, [item], (near, far), ctx=ctx, rng=rng)


def stack(edit: Stack, scenario: Scenario, ctx: AxisContext, *, rng: np.random.Generator) -> Scenario:
    """Lay a target onto another one."""
    item, onto = (target_of(name, scenario, ctx, axis=stacking.NAME) for name in (edit.item, edit.onto))
    return stacking.stacked_on(scenario, item, onto, ctx=ctx, rng=rng)


def cover(edit: Cover, scenario: Scenario, ctx: AxisContext, *, rng: np.random.Generator) -> Scenario:
    """Hide a share of a target."""
    target = target_of(edit.item, scenario, ctx, axis=occlusion.NAME)
    low, high = edit.low_percent / 100, edit.high_percent / 100
    aim = Aim.within(occlusion.HIDDEN, low, high, cell=ctx.cell, axis=occlusion.NAME, rng=rng)

    def pick() -> tuple[Item, Item] | None:
        if edit.by == NEIGHBOUR:
            found = occlusion.neighbour_of(scenario, target, ctx, rng=rng)
        else:
            found = occlusion.piece_of(edit.by, scenario, ctx)
        return (target, found) if found else None

    return occlusion.hidden(scenario, aim, pick, tries=COVERS, ctx=ctx, rng=rng)


def add_foreign(edit: AddForeign, scenario: Scenario, ctx: AxisContext, *, rng: np.random.Generator) -> Scenario:
    """Put foreign parts of one kind into the feed."""
    slots = [s for s in free_slots(scenario, ctx.cell, Role.FOREIGN) if ctx.cell.slots[s].part == edit.part]
    return misplacement.with_foreign(scenario, _first(slots, edit.count, edit.part), ctx, rng=rng)


def misplace(edit: Misplace, scenario: Scenario, ctx: AxisContext, *, rng: np.random.Generator) -> Scenario:
    """Leave a target beside the feed."""
    item = target_of(edit.item, scenario, ctx, axis=misplacement.NAME)
    return misplacement.beside(scenario, (item.name,), ctx, rng=rng)


def wrong_bin(edit: WrongBin, scenario: Scenario, ctx: AxisContext, *, rng: np.random.Generator) -> Scenario:
    """Put one more target into a bin that is not its own."""
    slots = _first(_spare(edit.part, scenario, ctx), 1, edit.part)
    if edit.bin in misplacement.bins_for(slots[0], ctx.cell, ctx.parts):
        raise VariationFailed(misplacement.NAME, 0, "own_bin", f"{edit.part!r} belongs into bin {edit.bin!r}")
    return misplacement.in_bin(scenario, slots, edit.bin, ctx, rng=rng)


def _spare(part: str, scenario: Scenario, ctx: AxisContext) -> list[str]:
    return [slot for slot in misplacement.spare(scenario, ctx.cell) if ctx.cell.slots[slot].part == part]


def _first(slots: list[str], count: int, part: str) -> tuple[str, ...]:
    if len(slots) < count:
        raise VariationFailed(misplacement.NAME, 0, "no_parts", f"{len(slots)} of {count} {part!r} are free")
    return tuple(slots[:count])


def swap(edit: Swap, scenario: Scenario, ctx: AxisContext, *, rng: np.random.Generator) -> Scenario:
    """Put another part in a target's place, flat on the floor of the feed."""
    old = target_of(edit.item, scenario, ctx, axis=misplacement.NAME)
    slot = _first(_spare(edit.part, scenario, ctx), 1, edit.part)[0]
    part, (x, y, _) = ctx.parts[edit.part], old.pose_to_world.position_m
    floor_m = fixture_pose(scenario.layout, "feed").position_m[2]
    others = [item for item in scenario.layout.items if item.name != old.name]

    def ways(shape: tuple[int, int]) -> pose.Ways:
        steps = PLAY_M * np.sqrt(rng.random(shape)) * np.exp(2j * np.pi * rng.random(shape))
        return steps, rng.uniform(0, 2 * np.pi, shape)

    chances = np.array([rest.probability for rest in part.stable_poses])
    for _ in range(TRIES):
        rest = part.stable_poses[int(rng.choice(len(chances), p=chances / chances.sum()))]
        quat = quat_multiply(quat_yaw(rng.uniform(0, 2 * np.pi)), rest.quat_xyzw)
        there = Pose.of((x, y, floor_m + rest.height_m), quat)
        new = Item(name=slot, part=part.id, zone="feed", cause=Cause.MIXED_LOT, pose_to_world=there)
        put = with_items(scenario, [*others, new], cell=ctx.cell, parts=ctx.parts)
        try:
            laid = pose.relaid(put, [new], ways, ctx=ctx, rng=rng)
        except VariationFailed:
            continue
        return with_poses(laid, {slot: laid.item(slot).pose_to_world}, cause=Cause.MIXED_LOT)
    raise VariationFailed(misplacement.NAME, 0, "no_room", f"{part.id!r} does not fit where {old.name!r} lies")


def shift_datum(edit: ShiftDatum, scenario: Scenario, ctx: AxisContext, *, rng: np.random.Generator) -> Scenario:
    """Shift and turn a fixture of a datum, and what lies in it."""
    if edit.fixture not in {one.fixture for one in ctx.cell.datums}:
        raise VariationFailed(datum.NAME, 0, "no_datum", f"no datum of the cell is {edit.fixture!r}")
    for _ in range(TRIES):
        step = rng.uniform(edit.low_mm, edit.high_mm) / 1e3 * np.exp(2j * np.pi * rng.random())
        angle = np.radians(rng.uniform(edit.low_deg, edit.high_deg)) * rng.choice([-1.0, 1.0])
        moved = datum.shifted(scenario, edit.fixture, step, angle, ctx=ctx)
        if moved is not None:
            return moved
    raise VariationFailed(datum.NAME, 0, "no_room", f"{TRIES} places of {edit.fixture!r} meet something else")
