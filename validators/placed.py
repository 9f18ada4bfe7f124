"""Geometry by zones: each item lies inside the fixture that it belongs to, and the robot reaches what it must sort."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

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
        name: _Place(frames[name], np.array(box.size_m), box.wall_height_m) for name, box in ctx.cell.containers.items()
    }
    places["table"] = _Place(frames["table"], np.array(ctx.cell.table.size_m[:2]), 0.0)
    placed = [places[item.zone] for item in items]
    yield from _in_fixtures(scenario, ctx)
    measures = _measure(ctx.posed(scenario.layout), placed, limits["slack_m"])
    slots = ctx.cell.slots
    for item, center, through, over, below in zip(items, *(m.tolist() for m in measures), strict=True):
        on_table, loose = item.zone == "table", slots[item.name].role is Role.OCCLUDER
        asked = [("outside", center, limits["slack_m"], "lies with its centre of mass outside")]
        if not loose:
            asked += [
                ("outside", through, limits["slack_m"], "lies outside"),
                ("overhang", over, limits["slack_m" if on_table else "overhang_m"], "hangs over the edge of"),
                ("below", below, limits["slack_m"], "lies below the floor of"),
            ]
        for code, value, limit, what in asked:
            if value > limit:
                sentence = f"{item.name!r} {what} {item.zone!r} by {value:.4g} m - accepted: at most {limit:g} m"
                yield finding(OUTSIDE.name, code, [item.name], sentence, value=value, limit=limit, unit=Unit.METRE)
                break


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


@dataclass(frozen=True, eq=False)
class _Place:
    """A rectangle between walls: where a zone's items lie."""

    pose_to_world: Pose
    size_m: Array
    wall_height_m: float

    @cached_property
    def frame(self) -> Array:
        """From the world to the place, shape [3, 3]."""
        return self.pose_to_world.rotation.T


def _measure(posed: Posed, places: list[_Place], slack_m: float) -> tuple[Array, Array, Array, Array]:
    """Say how far items leave their places.

    Returns:
        How far an item is outside the walls with its centre of mass; below their upper edge; at any height; how far it
        is below the floor; each [m], shape [n], negative where it is inside.
    """
    frames = np.stack([place.frame for place in places])
    origins = np.stack([place.pose_to_world.position for place in places])
    halves = np.stack([place.size_m / 2 for place in places])
    walls = np.array([place.wall_height_m for place in places])
    own = posed.owner
    local = np.einsum("kij,kj->ki", frames[own], posed.corners - origins[own])
    beyond = (np.abs(local[:, :2]) - halves[own]).max(axis=1)
    low = local[:, 2] < walls[own] - slack_m
    centers = np.einsum("nij,nj->ni", frames, posed.mass_centers() - origins)
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
    points: list[Array] = [item.pose_to_world.position for item in targets]
    for fixture in bins:
        height = ctx.cell.containers[fixture.name].wall_height_m + limits["release_m"]
        points.append(fixture.pose_to_world.apply((0.0, 0.0, height)))
    names = [item.name for item in targets] + [fixture.name for fixture in bins]
    reached = ctx.reach.reaches(np.array(points).reshape(-1, 3))
    for name, point, ok in zip(names, points, reached, strict=True):
        if not ok:
            distance = float(np.linalg.norm(point - ctx.cell.robot.pose_base_to_world.position))
            sentence = (
                f"the robot does not reach {name!r} from above, {distance:.3g} m from its base - accepted: a place "
                "that its tool reaches pointing straight down"
            )
            yield finding(REACH.name, "unreachable", [name], sentence, value=distance, unit=Unit.METRE)


REACH = Check(
    name="reach",
    version=1,
    tier=Tier.GEOMETRY,
    depends=frozenset({Facet.LAYOUT}),
    doc="The tool reaches each target in the feed, and a point `release_m` above the walls of each bin, from above.",
    run=_check_reach,
    limits={"release_m": 0.03},
)
