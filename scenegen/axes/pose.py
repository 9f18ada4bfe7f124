"""Axis `pose`: targets lie elsewhere in the feed, and turned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenegen.axes.axis import Axis, AxisContext, Severity, draws
from scenegen.axes.items import fixture_pose, targets_in, with_poses
from scenegen.board import NONE, Board, Spots
from scenegen.errors import VariationFailed
from scenegen.geometry import Array, Pose, quat_conjugate, quat_multiply, quat_yaw
from scenegen.place import PlaceOptions, spots_of, zone_named
from scenegen.scenario import Cause, Facet, Item, Layout, Scenario
from scenegen.units import Quantity, Unit

NAME = "pose"
CANDIDATES = 12
"""Places that are tried for each target."""
TOUCHING_M = 0.0005
"""A target nearer than this to another thing is left where it is: it leans, carries or is covered [m]."""

OFFSET = Severity("offset", Unit.METRE, 0.0, 0.0, 0.1, "largest planar displacement of a target within the feed")
YAW = Severity("yaw", Unit.DEGREE, 0.0, 0.0, 180.0, "largest turn of a target about the vertical")
MOVED = Severity("moved", Unit.COUNT, 0.0, 0.0, 32.0, "targets that were moved", graded=False)

Ways = tuple[NDArray[Any], Array]
"""Planar offsets, x + iy [m], and turns [rad] of one shape."""


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Move and turn every target that finds room at the asked distance."""
    targets = targets_in(scenario, ctx.cell)
    if not targets:
        raise VariationFailed(NAME, level, "no_target", "no target lies in the feed")

    def ways(shape: tuple[int, int]) -> Ways:
        lengths = draws(OFFSET, level, shape, cell=ctx.cell, axis=NAME, rng=rng)
        offsets = lengths * np.exp(2j * np.pi * rng.random(shape))
        turns = draws(YAW, level, shape, cell=ctx.cell, axis=NAME, rng=rng)
        return offsets, np.radians(turns) * rng.choice([-1.0, 1.0], shape)

    return relaid(scenario, targets, ways, level=level, ctx=ctx, rng=rng)


def relaid(
    scenario: Scenario,
    targets: Sequence[Item],
    ways: Callable[[tuple[int, int]], Ways],
    *,
    level: int = 0,
    ctx: AxisContext,
    rng: np.random.Generator,
) -> Scenario:
    """Move and turn those of some targets that touch nothing and find room.

    Args:
        scenario: The scene.
        targets: Items in its feed.
        ways: From a shape [targets, candidates] to planar offsets (x + iy, in the feed's frame) [m] and turns [rad].
        level: The level that a failure names.
        ctx: The axis' context.
        rng: Source of randomness.

    Raises:
        VariationFailed: None of them found room.
    """
    options, items = PlaceOptions(), scenario.layout.items
    zone = zone_named(ctx.cell, "feed", scenario.layout.fixtures, wall_m=options.wall_m(ctx.cell))
    spots, board = spots_of(ctx.parts, zone, items), Board(zone.half_m, options.clearance_m)
    board.put([item.name for item in items], spots)
    touching, names = board.touching(TOUCHING_M), {target.name for target in targets}
    free = [row for row, item in enumerate(items) if item.name in names and item.name not in touching]
    rows = rng.permutation(np.array(free, np.intp))
    turns_rad, candidates = _candidates(spots.some(rows), ways)
    rejections = Counter(touching=len(targets) - len(rows))
    found = board.lay([items[row].name for row in rows], candidates, [rejections] * len(rows))
    laid = np.flatnonzero(found != NONE)
    if not len(laid):
        raise VariationFailed(NAME, level, "no_room", f"{len(targets)} targets tried, {dict(rejections)}")
    turned = [items[row] for row in rows[laid].tolist()]
    places = zone.to_world(candidates.places[laid, found[laid]])
    own = np.array([item.pose_to_world.quat_xyzw for item in turned])
    quats = quat_multiply(quat_yaw(turns_rad[laid, found[laid]]), own)
    quats /= np.linalg.norm(quats, axis=1, keepdims=True)
    poses = {
        item.name: Pose(position_m=(place.real, place.imag, item.pose_to_world.position_m[2]), quat_xyzw=tuple(quat))
        for item, place, quat in zip(turned, places.tolist(), quats.tolist(), strict=True)
    }
    return with_poses(scenario, poses, cause=Cause.JOSTLED)


def _candidates(spots: Spots, ways: Callable[[tuple[int, int]], Ways]) -> tuple[Array, Spots]:
    """Draw turns [rad] of targets and where they would lie then, shape [targets, CANDIDATES]."""
    offsets, turns_rad = ways((len(spots.kinds), CANDIDATES))
    kinds = np.repeat(spots.kinds[:, None], CANDIDATES, axis=1)
    return turns_rad, Spots(spots.stencils, kinds, spots.places[:, None] + offsets, spots.yaws_rad[:, None] + turns_rad)


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Measure displacement and turn of what was jostled, within the feed's own frame."""
    before = {item.name: item.pose_to_world for item in base.layout.items}
    moved = [item for item in targets_in(varied, ctx.cell) if item.cause is Cause.JOSTLED and item.name in before]
    offset, turn = 0.0, 0.0
    if moved:
        old, new = (_in_feed(layout, poses) for layout, poses in (
            (base.layout, [before[item.name] for item in moved]),
            (varied.layout, [item.pose_to_world for item in moved]),
        ))  # fmt: skip
        offset = float(np.linalg.norm(new[0] - old[0], axis=1).max())
        delta = quat_multiply(new[1], quat_conjugate(old[1]))
        turn = float(np.degrees(2 * np.arctan2(np.abs(delta[:, 2]), np.abs(delta[:, 3])).max()))
    return (
        Quantity(name=OFFSET.name, value=offset, unit=OFFSET.unit),
        Quantity(name=YAW.name, value=turn, unit=YAW.unit),
        Quantity(name=MOVED.name, value=len(moved), unit=MOVED.unit),
    )


def _in_feed(layout: Layout, poses: Sequence[Pose]) -> tuple[Array, Array]:
    """Planar positions [m], shape [n, 2], and quaternions, shape [n, 4], in the feed's frame."""
    feed = fixture_pose(layout, "feed")
    positions = (np.array([pose.position_m for pose in poses]) - feed.position) @ feed.rotation
    quats = quat_multiply(quat_conjugate(feed.quat), np.array([pose.quat_xyzw for pose in poses]))
    return positions[:, :2], quats


POSE = Axis(
    name=NAME,
    doc="Targets lie elsewhere in the feed and are turned, keeping their clearance.",
    touches=frozenset({Facet.LAYOUT}),
    severities=(OFFSET, YAW, MOVED),
    aliases=("LIBERO-Plus: Objects Layout", "LIBERO-PRO: position", "RoboLab: pose", "libero-infinity: position"),
    change=change,
    measure=measure,
)
