"""Axis `pose`: targets lie elsewhere in the feed, and turned."""

from __future__ import annotations

from collections import Counter

import numpy as np

from scenegen.axes.axis import Axis, AxisContext, Severity, draw
from scenegen.axes.items import displacement, targets_in, with_poses
from scenegen.board import Candidates
from scenegen.errors import VariationFailed
from scenegen.footprint import Stencils, footprint_at
from scenegen.geometry import Pose, quat_multiply, quat_yaw
from scenegen.place import PlaceOptions, board_of, zone_named
from scenegen.scenario import Cause, Facet, Scenario
from scenegen.units import Quantity, Unit

NAME = "pose"
CANDIDATES = 24
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
    rejections: Counter[str] = Counter()
    poses: dict[str, Pose] = {}
    for index in rng.permutation(len(targets)).tolist():
        item = targets[index]
        offsets, turns = (_signed(severity, level, ctx, rng) for severity in (OFFSET, YAW))
        bearings = rng.uniform(0.0, 2 * np.pi, CANDIDATES)
        if board.nearest_m(item.name) < TOUCHING_M:
            rejections["touching"] += 1
            continue
        footprint, yaw_rad = footprint_at(ctx.parts[item.part], item.pose_to_world.quat)
        places = zone.to_zone(item.pose_to_world.position_m) + offsets * np.exp(1j * bearings)
        kinds, yaws = np.zeros(CANDIDATES, np.intp), yaw_rad - zone.yaw_rad + np.radians(turns)
        candidates = Candidates.of(Stencils([footprint]), kinds, places, yaws, half_m=zone.half_m)
        chosen = board.first_free(candidates, rejections, ignore=item.name)
        if chosen is None:
            continue
        board.put_candidate(item.name, candidates, chosen)
        quat = quat_multiply(quat_yaw(np.radians(turns[chosen])), item.pose_to_world.quat)
        world = zone.to_world(places[chosen])
        poses[item.name] = Pose.of([world.real, world.imag, item.pose_to_world.position_m[2]], quat)
    if not poses:
        raise VariationFailed(NAME, level, "no_room", f"{len(targets)} targets tried, {dict(rejections)}")
    return with_poses(scenario, poses, cause=Cause.JOSTLED)


def _signed(severity: Severity, level: int, ctx: AxisContext, rng: np.random.Generator) -> np.ndarray:
    sizes = np.array([draw(severity, level, cell=ctx.cell, axis=NAME, rng=rng) for _ in range(CANDIDATES)])
    return sizes * rng.choice([-1.0, 1.0], CANDIDATES)


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Measure displacement and turn of what was jostled, within the feed's own frame."""
    known = {item.name for item in base.layout.items}
    moved = [item for item in targets_in(varied, ctx.cell) if item.cause is Cause.JOSTLED and item.name in known]
    pairs = [displacement(base.layout, varied.layout, item) for item in moved]
    return (
        Quantity(name=OFFSET.name, value=max((offset for offset, _ in pairs), default=0.0), unit=OFFSET.unit),
        Quantity(name=YAW.name, value=np.degrees(max((yaw for _, yaw in pairs), default=0.0)), unit=YAW.unit),
        Quantity(name=MOVED.name, value=len(moved), unit=MOVED.unit),
    )


POSE = Axis(
    name=NAME,
    doc="Targets lie elsewhere in the feed and are turned, keeping their clearance.",
    touches=frozenset({Facet.LAYOUT}),
    severities=(OFFSET, YAW, MOVED),
    aliases=("LIBERO-Plus: Objects Layout", "LIBERO-PRO: position", "RoboLab: pose", "libero-infinity: position"),
    change=change,
    measure=measure,
)
