"""Axis `contact`: slippery parts, lighter or heavier ones, or a centre of mass that lies elsewhere."""

from __future__ import annotations

import numpy as np

from scenegen.axes.axis import Axis, AxisContext, Severity, directions, draw
from scenegen.axes.items import targets_in
from scenegen.errors import VariationFailed
from scenegen.parts.part import Part
from scenegen.scenario import Facet, ItemMatter, Matter, Scenario
from scenegen.units import Quantity, Unit

NAME = "contact"

FRICTION = Severity(
    "friction_factor", Unit.FACTOR, 1.0, 0.3, 1.0, "sliding friction of the targets, relative to the base's"
)
MASS = Severity("mass_factor", Unit.FACTOR, 1.0, 0.5, 2.0, "mass of the targets, relative to the base's")
SHIFT = Severity(
    "com_shift", Unit.MILLIMETRE, 0.0, 0.0, 2.0, "shift of the targets' centre of mass along their longest side"
)


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Change one property of all targets in the feed: their friction, their mass or their centre of mass."""
    able = [(s, up) for s in (FRICTION, MASS, SHIFT) for up in directions(s, cell=ctx.cell, axis=NAME)]
    severity, upward = able[int(rng.integers(len(able)))]
    value = draw(severity, level, cell=ctx.cell, axis=NAME, rng=rng, upward=upward)
    sign = float(rng.choice([-1.0, 1.0]))
    chosen = {item.name: item.part for item in targets_in(scenario, ctx.cell)}
    if not chosen:
        raise VariationFailed(NAME, level, "no_target", "no target lies in the feed")
    entries = tuple(
        _changed(entry, severity, value, sign, ctx.parts[chosen[entry.name]]) if entry.name in chosen else entry
        for entry in scenario.matter.items
    )
    return scenario.varied(matter=Matter(items=entries))


def _changed(entry: ItemMatter, severity: Severity, value: float, sign: float, part: Part) -> ItemMatter:
    if severity is FRICTION:
        return entry.replaced(friction=entry.friction * value)
    if severity is MASS:
        inertia = tuple(moment * value for moment in entry.diagonal_inertia_kg_m2)
        return entry.replaced(mass_kg=entry.mass_kg * value, diagonal_inertia_kg_m2=inertia)
    longest = int(np.argmax(np.ptp(part.collision_vertices, axis=0)))
    shift = sign * value * 1e-3 * np.eye(3)[longest]
    return entry.replaced(center_of_mass_m=tuple((np.array(entry.center_of_mass_m) + shift).tolist()))


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Measure the greatest change of friction, mass and centre of mass of any item that both scenes have."""
    before = {entry.name: entry for entry in base.matter.items}
    pairs = [(before[entry.name], entry) for entry in varied.matter.items if entry.name in before]
    friction = [new.friction / old.friction for old, new in pairs if old.friction > 0]
    mass = [new.mass_kg / old.mass_kg for old, new in pairs]
    shift = [1e3 * float(np.linalg.norm(np.subtract(new.center_of_mass_m, old.center_of_mass_m))) for old, new in pairs]
    return (
        Quantity(name=FRICTION.name, value=_farthest(friction), unit=FRICTION.unit),
        Quantity(name=MASS.name, value=_farthest(mass), unit=MASS.unit),
        Quantity(name=SHIFT.name, value=max(shift, default=0.0), unit=SHIFT.unit),
    )


def _farthest(factors: list[float]) -> float:
    return max(factors, key=lambda factor: abs(factor - 1.0), default=1.0)


CONTACT = Axis(
    name=NAME,
    doc="Targets are more slippery, lighter, heavier, or their centre of mass lies elsewhere.",
    touches=frozenset({Facet.MATTER}),
    severities=(FRICTION, MASS, SHIFT),
    aliases=("Colosseum: object friction", "Colosseum: object mass"),
    change=change,
    measure=measure,
)
