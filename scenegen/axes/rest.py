"""Let what an axis disturbed come to rest, and measure how it lies."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from scenegen.axes.axis import AxisContext
from scenegen.axes.items import fixture_pose, targets_in
from scenegen.geometry import Array, Pose, quat_to_matrix
from scenegen.parts.part import Part
from scenegen.physics.settle import Settled
from scenegen.posed import Posed, stable_ups
from scenegen.scenario import Cause, Item, Layout, Scenario

NEIGHBOURHOOD_M = 0.02
"""How near to a disturbed item others must lie to take part in a trial [m]."""

TRIAL_S = 0.5
"""Time in which a trial must come to rest [s]."""
REST_S = 1.0
"""Time in which a whole scene must come to rest [s]."""
UNMOVED_M = 2e-4
"""Items that moved less than this while settling are left exactly where they were [m]."""

AT_REST_M_S = 0.01
"""Greatest speed of what rests [m/s]."""
DEEPEST_M = 5e-4
"""Greatest penetration of what rests [m]."""
OVERHANG_M = 0.025
"""How far an item may hang over the walls of the feed [m]."""
RAISED_M = 0.001
"""An item whose lowest point is higher than this above the floor lies on something [m]."""
LEANING_DEG = 2.5
"""An item that is turned farther than this out of every stable pose leans on something [deg]."""
ROUND = 0.02
"""Relative difference below which two principal moments count as equal."""


def trial(scenario: Scenario, poses: Mapping[str, Pose], ctx: AxisContext) -> Scenario | None:
    """Put items somewhere and let them and their neighbours come to rest, the rest of the scene left out.

    Args:
        scenario: The scene; every item is in it.
        poses: Where to put some of its items, by name.
        ctx: The axis' context.

    Returns:
        The scene with those items, and what they pushed, at rest; None where that is not reached.
    """
    placed = [i.replaced(pose_to_world=poses[i.name]) if i.name in poses else i for i in scenario.layout.items]
    near = _near(placed, set(poses), ctx)
    items = tuple(item for item in placed if item.name in near)
    settled = _settled(scenario.layout.replaced(items=items), scenario, ctx, disturbed=frozenset(poses))
    if settled is None:
        return None
    ends = {item.name: item for item in settled.items}
    return scenario.varied(layout=scenario.layout.replaced(items=tuple(ends.get(i.name, i) for i in placed)))


def settled(scenario: Scenario, ctx: AxisContext) -> Scenario | None:
    """Let the whole scene come to rest; what hardly moves keeps its pose. None where rest is not reached."""
    layout = _settled(scenario.layout, scenario, ctx)
    return None if layout is None else scenario.varied(layout=layout)


def _settled(
    layout: Layout, scenario: Scenario, ctx: AxisContext, *, disturbed: frozenset[str] = frozenset()
) -> Layout | None:
    """Settle a layout: quickly where it is a trial of what was disturbed, else with nudges that show if it holds."""
    final = not disturbed
    names = {item.name for item in layout.items}
    matter = scenario.matter.replaced(items=tuple(m for m in scenario.matter.items if m.name in names))
    result = ctx.settler.settle(layout, matter, limit_s=REST_S if final else TRIAL_S, nudge=final)
    if not result.finite or result.speed_m_s > AT_REST_M_S or result.penetration_m > DEEPEST_M:
        return None
    return layout.replaced(
        items=tuple(
            old if old.name not in disturbed and _unmoved(result, old.name) else new
            for old, new in zip(layout.items, result.layout.items, strict=True)
        )
    )


def _unmoved(result: Settled, name: str) -> bool:
    return max(result.drift_m[name], 0.01 * result.rotation_rad[name]) < UNMOVED_M


def _near(items: Collection[Item], names: set[str], ctx: AxisContext) -> set[str]:
    centers = np.array([item.pose_to_world.position for item in items])
    radii = np.array([ctx.parts[item.part].radius_m for item in items])
    chosen = np.array([item.name in names for item in items])
    gaps = np.linalg.norm(centers[:, None] - centers[chosen], axis=-1) - radii[:, None] - radii[chosen]
    close = (gaps < NEIGHBOURHOOD_M).any(axis=1)
    return {item.name for item, near in zip(items, close.tolist(), strict=True) if near}


def explained(scenario: Scenario, ctx: AxisContext) -> Scenario:
    """Give every target in the feed that leans or lies on something the cause that says so, and take it from others."""
    items = list(scenario.layout.items)
    for name, lift in lifts_m(targets_in(scenario, ctx.cell), scenario, ctx).items():
        index = next(i for i, item in enumerate(items) if item.name == name)
        items[index] = items[index].replaced(cause=_cause(items[index], lift, ctx))
    return scenario.varied(layout=scenario.layout.replaced(items=tuple(items)))


def _cause(item: Item, lift: float, ctx: AxisContext) -> Cause:
    if lift > RAISED_M:
        return Cause.PILED
    up, stable = item.pose_to_world.rotation[2], stable_ups(ctx.parts[item.part])
    if float((stable @ up).max()) < np.cos(np.radians(LEANING_DEG)):
        return item.cause if item.cause is Cause.PILED else Cause.LEANING
    return Cause.JOSTLED if item.cause in (Cause.LEANING, Cause.PILED) else item.cause


def lies_in_feed(scenario: Scenario, name: str, ctx: AxisContext) -> bool:
    """Tell whether an item lies in the feed: between its walls as far as it is lower than them, and not far beyond."""
    item, pose = scenario.item(name), fixture_pose(scenario.layout, "feed")
    local = pose.inverse().apply(item.pose_to_world.apply(ctx.parts[item.part].collision_vertices))
    beyond = (np.abs(local[:, :2]) - np.array(ctx.cell.feed.size_m) / 2).max(axis=1)
    low = local[:, 2] < ctx.cell.feed.wall_height_m
    middle = pose.inverse().apply(item.pose_to_world.position)
    centered = np.all(np.abs(middle[:2]) < np.array(ctx.cell.feed.size_m) / 2)
    return bool(centered and beyond.max() < OVERHANG_M and beyond[low].max(initial=-1.0) < UNMOVED_M)


def lifts_m(items: Sequence[Item], scenario: Scenario, ctx: AxisContext) -> dict[str, float]:
    """Return how far above the floor of their zones the items' lowest points lie [m], by name."""
    if not items:
        return {}
    floors = {fixture.name: fixture.pose_to_world.position_m[2] for fixture in scenario.layout.fixtures}
    table = ctx.cell.table.pose_top_to_world.position_m[2]
    posed = Posed.of(items, ctx.parts)
    lowest = posed.least(posed.corners[:, 2]).tolist()
    return {item.name: low - floors.get(item.zone, table) for item, low in zip(items, lowest, strict=True)}


def lowest_m(part: Part, pose: Pose) -> float:
    """Return the height of a part's lowest collider corner in the world [m]."""
    return float(pose.apply(part.collision_vertices)[:, 2].min())


def lean_deg(part: Part, quat_xyzw: ArrayLike) -> float:
    """Return how far a part leans out of its nearest stable pose [deg].

    Of a body of revolution, or one with three equal sides or more about an axis (two equal principal moments), only the
    axis' slope counts: a bolt that rolled onto its next side does not lean.

    Args:
        part: The part.
        quat_xyzw: Rotation of its frame, shape [4].
    """
    up = quat_to_matrix(np.asarray(quat_xyzw, float))[2]
    stable = stable_ups(part)
    axis = symmetry_axis(part)
    if axis is None:
        angles = np.arccos(np.clip(stable @ up, -1, 1))
    else:
        angles = np.abs(np.arccos(np.clip(stable @ axis, -1, 1)) - np.arccos(np.clip(up @ axis, -1, 1)))
    return float(np.degrees(angles.min()))


@lru_cache(maxsize=1024)
def symmetry_axis(part: Part) -> Array | None:
    """Return the axis about which a part's inertia is symmetric, in its frame, shape [3]; None where there is none."""
    moments = np.array(part.mass.diagonal_inertia_kg_m2)
    axes = quat_to_matrix(np.array(part.mass.principal_axes_xyzw))
    for index in range(3):
        one, two = np.delete(moments, index)
        if abs(one - two) < ROUND * moments.max() and abs(moments[index] - one) > ROUND * moments.max():
            return axes[:, index]
    return None
