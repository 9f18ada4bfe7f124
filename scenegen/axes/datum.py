"""Axis `datum`: a reference stands elsewhere than the cell's drawing says, and what lies in it with it."""

from __future__ import annotations

import numpy as np

from scenegen.axes.axis import Axis, AxisContext, Severity, draw
from scenegen.axes.items import fixture_pose, yaw_between
from scenegen.cell import Cell
from scenegen.errors import VariationFailed
from scenegen.footprint import Outline, footprint_at, gaps, rectangle
from scenegen.geometry import Pose, quat_multiply, quat_yaw
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Facet, FixturePose, Item, Layout, Scenario
from scenegen.units import Quantity, Unit

NAME = "datum"
TRIES = 24
CLEARANCE_M = 0.002
"""How far a fixture must stay from the next one and from what lies on the table [m]."""

SHIFT = Severity("shift", Unit.METRE, 0.0, 0.0, 0.015, "largest planar shift of a reference")
ROTATION = Severity("rotation", Unit.DEGREE, 0.0, 0.0, 8.0, "largest turn of a reference about the vertical")


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Shift and turn the fixture of one datum, and what lies in it, clear of everything else."""
    names = [datum.fixture for datum in ctx.cell.datums]
    if not names:
        raise VariationFailed(NAME, level, "no_datum", "the cell names no datum")
    for _ in range(TRIES):
        name = names[int(rng.integers(len(names)))]
        shift, angle = (draw(s, level, cell=ctx.cell, axis=NAME, rng=rng) for s in (SHIFT, ROTATION))
        bearing, sign = rng.uniform(0, 2 * np.pi), rng.choice([-1.0, 1.0])
        moved = shifted(scenario, name, np.exp(1j * bearing) * shift, sign * np.radians(angle), ctx=ctx)
        if moved is not None:
            return moved
    raise VariationFailed(
        NAME, level, "no_room", f"{TRIES} places of {', '.join(sorted(set(names)))} meet something else"
    )


def shifted(scenario: Scenario, name: str, step: complex, turn_rad: float, *, ctx: AxisContext) -> Scenario | None:
    """Shift a fixture by a planar step, x + iy [m], and turn it; None where it meets something else."""
    before = fixture_pose(scenario.layout, name)
    quat = quat_multiply(quat_yaw(turn_rad), before.quat)
    layout = moved_fixture(
        scenario.layout, name, Pose.of(before.position + np.array([step.real, step.imag, 0.0]), quat)
    )
    return scenario.varied(layout=layout) if _is_clear(layout, name, ctx.cell, ctx.parts) else None


def moved_fixture(layout: Layout, name: str, pose: Pose) -> Layout:
    """Return the layout with one fixture elsewhere, and what lies in it moved along."""
    carried = pose.after(fixture_pose(layout, name).inverse())
    items = tuple(
        item.replaced(pose_to_world=carried.after(item.pose_to_world)) if item.zone == name else item
        for item in layout.items
    )
    fixtures = tuple(FixturePose(name=name, pose_to_world=pose) if f.name == name else f for f in layout.fixtures)
    return Layout(fixtures=fixtures, items=items)


def _is_clear(layout: Layout, name: str, cell: Cell, parts: Catalogue) -> bool:
    """Tell whether a fixture keeps clear of the others and of what lies on the table."""
    outlines = {fixture.name: _outer(fixture, cell) for fixture in layout.fixtures}
    own = outlines.pop(name)
    lying = [item for item in layout.items if item.zone == "table"]
    others = [*outlines.values(), *(_lying(item, parts) for item in lying)]
    return bool(np.all(gaps(own, others) >= CLEARANCE_M))


def _outer(fixture: FixturePose, cell: Cell) -> Outline:
    box, pose = cell.containers[fixture.name], fixture.pose_to_world
    size = np.array(box.size_m) + 2 * box.wall_thickness_m
    return rectangle(complex(*pose.position_m[:2]), size, yaw_between((0, 0, 0, 1), pose.quat))


def _lying(item: Item, parts: Catalogue) -> Outline:
    footprint, yaw_rad = footprint_at(parts[item.part], item.pose_to_world.quat)
    return footprint.at(complex(*item.pose_to_world.position_m[:2]), yaw_rad)


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Measure the largest shift and turn of any fixture."""
    before = {fixture.name: fixture.pose_to_world for fixture in base.layout.fixtures}
    pairs = [(before[f.name], f.pose_to_world) for f in varied.layout.fixtures]
    shifts = [float(np.linalg.norm(b.position - a.position)) for a, b in pairs]
    turns = [abs(float(np.degrees(yaw_between(a.quat, b.quat)))) for a, b in pairs]
    return (
        Quantity(name=SHIFT.name, value=max(shifts), unit=SHIFT.unit),
        Quantity(name=ROTATION.name, value=max(turns), unit=ROTATION.unit),
    )


DATUM = Axis(
    name=NAME,
    doc="A tray or bin stands shifted and turned from where the cell's drawing has it, its contents with it.",
    touches=frozenset({Facet.LAYOUT}),
    severities=(SHIFT, ROTATION),
    aliases=("no field term: reference error", "RoboTwin: table height (nearest)"),
    change=change,
    measure=measure,
)
