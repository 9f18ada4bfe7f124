"""Geometry by zones: each item lies inside the fixture that it belongs to, and the robot reaches what it must sort."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from scenegen.cell import Role
from scenegen.geometry import Array, Pose
from scenegen.posed import Posed
from scenegen.scenario import Facet, Scenario
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding


def _check_outside(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    items = scenario.layout.items
    if not items:
        return
    frames = {fixture.name: fixture.pose_to_world for fixture in scenario.layout.fixtures}
    frames["table"] = ctx.cell.table.pose_top_to_world
    places = {
        name: _Place(frames[name], box.size_m[:2], box.wall_height_m) for name, box in ctx.cell.containers.items()
    }
    places["table"] = _Place(frames["table"], ctx.cell.table.size_m[:2], 0.0)
    yield from _in_fixtures(scenario, ctx)
    measures = np.stack(_measure(ctx.posed(scenario.layout), places, limits["slack_m"]), axis=1)
    allowed = np.full(measures.shape, limits["slack_m"])
    allowed[[item.zone != "table" for item in items], 2] = limits["overhang_m"]
    allowed[[ctx.cell.slots[item.name].role is Role.OCCLUDER for item in items], 1:] = np.inf
    beyond = measures > allowed
    for row in np.flatnonzero(beyond.any(axis=1)).tolist():
        item, first = items[row], int(beyond[row].argmax())
        value, limit, (code, what) = float(measures[row, first]), float(allowed[row, first]), _LEAVES[first]
        sentence = f"{item.name!r} {what} {item.zone!r} by {value:.4g} m - accepted: at most {limit:g} m"
        yield finding(OUTSIDE.name, code, [item.name], sentence, value=value, limit=limit, unit=Unit.METRE)


_LEAVES = (
    ("outside", "lies with its centre of mass outside"),
    ("outside", "lies outside"),
    ("overhang", "hangs over the edge of"),
    ("below", "lies below the floor of"),
)
"""Code and words for each way in which an item leaves its place, in the order of `_measure`."""


def _in_fixtures(scenario: Scenario, ctx: CheckContext) -> Iterator[Finding]:
    """What is said to lie on the table does not lie in a fixture."""
    for item in scenario.layout.items:
        if item.zone != "table":
            continue
        for fixture in scenario.layout.fixtures:
            local = fixture.pose_to_world.inverse().apply(item.pose_to_world.position)
            deep = float((np.array(ctx.cell.containers[fixture.name].size_m) / 2 - np.abs(local[:2])).min())
            if deep > 0:
                sentence = f"{item.name!r} lies in {fixture.name!r} - accepted: on the table, as its zone says"
                yield finding(OUTSIDE.name, "outside", [item.name], sentence, value=deep, limit=0, unit=Unit.METRE)


@dataclass(frozen=True)
class _Place:
    """A rectangle between walls: where a zone's items lie."""

    pose_to_world: Pose
    size_m: tuple[float, float]
    wall_height_m: float


def _measure(posed: Posed, places: Mapping[str, _Place], slack_m: float) -> tuple[Array, Array, Array, Array]:
    """Say how far items leave their places.

    Returns:
        How far an item is outside the walls with its centre of mass; below their upper edge; at any height; how far it
        is below the floor; each [m], shape [n], negative where it is inside.
    """
    zones = {item.zone: None for item in posed.items}
    used = [places[zone] for zone in zones]
    row = [list(zones).index(item.zone) for item in posed.items]
    frames = np.stack([place.pose_to_world.rotation.T for place in used])[row]
    origins = np.array([place.pose_to_world.position_m for place in used])[row]
    halves = np.array([place.size_m for place in used])[row] / 2
    walls = np.array([place.wall_height_m for place in used])[row]
    own = posed.owner
    local = np.einsum("kij,kj->ki", frames[own], posed.corners - origins[own])
    beyond = (np.abs(local[:, :2]) - halves[own]).max(axis=1)
    low = local[:, 2] < walls[own] - slack_m
    centers = np.einsum("nij,nj->ni", frames, posed.mass_centers - origins)
    off_center = (np.abs(centers[:, :2]) - halves).max(axis=1)
    through = posed.most(np.where(low, beyond, -1.0))
    return off_center, through, posed.most(beyond), -posed.least(local[:, 2])


OUTSIDE = Check(
    name="outside",
    version=1,
    tier=Tier.GEOMETRY,
    depends=frozenset({Facet.LAYOUT}),
    doc=(
        "Each item lies in the zone that it names: between the walls (to `slack_m`), its centre of mass inside, "
        "hanging over them by `overhang_m` at most, above the floor; an occluder with its centre of mass."
    ),
    run=_check_outside,
    limits={"slack_m": 0.001, "overhang_m": 0.03},
)


def _check_reach(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    slots = ctx.cell.slots
    targets = [i for i in scenario.layout.items if i.zone == "feed" and slots[i.name].role is Role.TARGET]
    used = {rule.bin for rule in ctx.cell.rules}
    bins = [f for f in scenario.layout.fixtures if f.name in used]
    above = [ctx.cell.containers[fixture.name].wall_height_m + limits["release_m"] for fixture in bins]
    points = np.array(
        [item.pose_to_world.position_m for item in targets]
        + [fixture.pose_to_world.apply((0.0, 0.0, height)) for fixture, height in zip(bins, above, strict=True)]
    ).reshape(-1, 3)
    names = [item.name for item in targets] + [fixture.name for fixture in bins]
    for row in np.flatnonzero(~ctx.reach.reaches(points)).tolist():
        distance = float(np.linalg.norm(points[row] - ctx.cell.robot.pose_base_to_world.position))
        sentence = (
            f"the robot does not reach {names[row]!r} from above, {distance:.3g} m from its base - accepted: a place "
            "that its tool reaches pointing straight down"
        )
        yield finding(REACH.name, "unreachable", [names[row]], sentence, value=distance, unit=Unit.METRE)


REACH = Check(
    name="reach",
    version=1,
    tier=Tier.GEOMETRY,
    depends=frozenset({Facet.LAYOUT}),
    doc="The tool reaches each target in the feed, and a point `release_m` above the walls of each bin, from above.",
    run=_check_reach,
    limits={"release_m": 0.03},
)
