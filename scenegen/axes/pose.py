"""Axis `pose`: targets lie elsewhere in the feed, and turned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from scenegen.axes.axis import Axis, AxisContext, Severity, draws
from scenegen.axes.items import fixture_pose, targets_in, with_poses
from scenegen.board import Candidates
from scenegen.errors import VariationFailed
from scenegen.footprint import Stencils, footprint_at
from scenegen.geometry import Array, Pose, quat_conjugate, quat_multiply, quat_yaw
from scenegen.place import PlaceOptions, Zone, board_of, zone_named
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


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Move and turn every target that finds room at the asked distance."""
    options = PlaceOptions()
    zone = zone_named(ctx.cell, "feed", scenario.layout.fixtures, wall_m=options.wall_m(ctx.cell))
    board = board_of(ctx.cell, ctx.parts, zone, scenario.layout, options=options)
    targets = targets_in(scenario, ctx.cell)
    if not targets:
        raise VariationFailed(NAME, level, "no_target", "no target lies in the feed")
    quats = np.array([item.pose_to_world.quat_xyzw for item in targets])
    turns_rad, candidates = _candidates(targets, quats, zone, level, ctx, rng)
    rejections: Counter[str] = Counter()
    chosen: dict[int, int] = {}
    for index in rng.permutation(len(targets)).tolist():
        name = targets[index].name
        if board.nearest_m(name) < TOUCHING_M:
            rejections["touching"] += 1
        elif (found := board.first_free(candidates.row(index), rejections, ignore=name)) is not None:
            board.put_candidate(name, candidates.row(index), found)
            chosen[index] = found
    if not chosen:
        raise VariationFailed(NAME, level, "no_room", f"{len(targets)} targets tried, {dict(rejections)}")
    rows, picks = list(chosen), list(chosen.values())
    places = zone.to_world(candidates.places[rows, picks])
    turned = quat_multiply(quat_yaw(turns_rad[rows, picks]), quats[rows])
    poses = {
        targets[row].name: Pose.of((place.real, place.imag, targets[row].pose_to_world.position_m[2]), quat)
        for row, place, quat in zip(rows, places.tolist(), turned, strict=True)
    }
    return with_poses(scenario, poses, cause=Cause.JOSTLED)


def _candidates(
    targets: Sequence[Item], quats: Array, zone: Zone, level: int, ctx: AxisContext, rng: np.random.Generator
) -> tuple[Array, Candidates]:
    """Draw turns [rad] and places for every target, shape [targets, CANDIDATES]."""
    shape = (len(targets), CANDIDATES)
    offsets = draws(OFFSET, level, shape, cell=ctx.cell, axis=NAME, rng=rng) * np.exp(2j * np.pi * rng.random(shape))
    turns_rad = np.radians(draws(YAW, level, shape, cell=ctx.cell, axis=NAME, rng=rng)) * rng.choice([-1.0, 1.0], shape)
    found = [footprint_at(ctx.parts[item.part], quat) for item, quat in zip(targets, quats, strict=True)]
    stencils = Stencils([footprint for footprint, _ in found])
    starts = np.array([zone.to_zone(item.pose_to_world.position_m) for item in targets])
    yaws = np.array([yaw_rad for _, yaw_rad in found]) - zone.yaw_rad
    kinds = np.repeat(np.arange(len(targets))[:, None], CANDIDATES, axis=1)
    places, yaws_rad = np.asarray(starts[:, None] + offsets, complex), yaws[:, None] + turns_rad
    return turns_rad, Candidates.of(stencils, kinds, places, yaws_rad, half_m=zone.half_m)


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
    feed = fixture_pose(layout, "feed").inverse()
    positions = feed.apply(np.array([pose.position_m for pose in poses]))
    return positions[:, :2], quat_multiply(feed.quat, np.array([pose.quat_xyzw for pose in poses]))


POSE = Axis(
    name=NAME,
    doc="Targets lie elsewhere in the feed and are turned, keeping their clearance.",
    touches=frozenset({Facet.LAYOUT}),
    severities=(OFFSET, YAW, MOVED),
    aliases=("LIBERO-Plus: Objects Layout", "LIBERO-PRO: position", "RoboLab: pose", "libero-infinity: position"),
    change=change,
    measure=measure,
)
