"""Specification of matter and motion: masses, friction, the robot's start, what shakes and what runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np

from scenegen.parts.part import Part
from scenegen.scenario import Facet, ItemMatter, Scenario
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding
from validators.coverage import coverage


def _check_matter(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    entries, items = scenario.matter.items, {item.name: item for item in scenario.layout.items}
    yield from coverage(SPEC_MATTER.name, "mass entry", [entry.name for entry in entries], list(items))
    for entry in entries:
        item = items.get(entry.name)
        if item is not None and item.part in ctx.parts:
            yield from _ranges(entry, ctx.parts[item.part], limits)


def _ranges(entry: ItemMatter, part: Part, limits: Limits) -> Iterator[Finding]:
    name, subject = SPEC_MATTER.name, [entry.name]
    factor = entry.mass_kg / part.mass.mass_kg
    if not limits["mass_factor_low"] <= factor <= limits["mass_factor_high"]:
        limit = limits["mass_factor_low"] if factor < 1 else limits["mass_factor_high"]
        sentence = (
            f"{entry.name!r} weighs {entry.mass_kg:.4g} kg, {factor:.3g} times the part's mass - accepted: "
            f"{limits['mass_factor_low']:g} to {limits['mass_factor_high']:g} times {part.mass.mass_kg:.4g} kg"
        )
        yield finding(name, "mass", subject, sentence, value=factor, limit=limit, unit=Unit.FACTOR)
    if not limits["friction_low"] <= entry.friction <= limits["friction_high"]:
        limit = limits["friction_low"] if entry.friction < limits["friction_low"] else limits["friction_high"]
        sentence = (
            f"{entry.name!r} has friction {entry.friction:.4g} - accepted: {limits['friction_low']:g} to "
            f"{limits['friction_high']:g}"
        )
        yield finding(name, "friction", subject, sentence, value=entry.friction, limit=limit)
    low, high = _bounds(part)
    beyond = max(max(a - c, c - b) for a, c, b in zip(low, entry.center_of_mass_m, high, strict=True))
    if beyond > 1e-6:
        sentence = f"{entry.name!r} has its centre of mass {beyond:.4g} m outside its own bounds - accepted: inside"
        yield finding(name, "center_of_mass", subject, sentence, value=beyond, limit=0, unit=Unit.METRE)
    yield from _inertia(entry, part)


@lru_cache(maxsize=1024)
def _bounds(part: Part) -> tuple[list[float], list[float]]:
    """Lowest and highest collider coordinates in the part's frame [m]."""
    return part.collision_vertices.min(axis=0).tolist(), part.collision_vertices.max(axis=0).tolist()


def _inertia(entry: ItemMatter, part: Part) -> Iterator[Finding]:
    """Principal moments obey the triangle inequality, and none exceeds that of the mass at the part's rim."""
    moments = sorted(entry.diagonal_inertia_kg_m2)
    most = entry.mass_kg * (2 * part.radius_m) ** 2
    if moments[2] > (moments[0] + moments[1]) * (1 + 1e-4) or moments[2] > most:
        shown = ", ".join(f"{m:.3g}" for m in moments)
        sentence = (
            f"{entry.name!r} has principal moments {shown} kg m2, which no body of its size has - accepted: each at most "
            f"the sum of the other two and {most:.3g} kg m2"
        )
        yield finding(SPEC_MATTER.name, "inertia", [entry.name], sentence, value=moments[2], limit=most)


SPEC_MATTER = Check(
    name="spec_matter",
    version=1,
    tier=Tier.SPECIFICATION,
    depends=frozenset({Facet.LAYOUT, Facet.MATTER}),
    doc=(
        "Each item has one mass entry; mass (factor of the part's own), friction, centre of mass and inertia are such as "
        "the part can have."
    ),
    run=_check_matter,
    limits={"mass_factor_low": 0.2, "mass_factor_high": 5.0, "friction_low": 0.02, "friction_high": 1.5},
)


def _check_motion(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    name, motion, joints = SPEC_MOTION.name, scenario.motion, ctx.cell.robot.joints
    if len(motion.robot_start_rad) != len(joints):
        sentence = f"robot_start_rad has {len(motion.robot_start_rad)} values - accepted: one a joint ({len(joints)})"
        yield finding(name, "joint_count", [], sentence, value=len(motion.robot_start_rad), limit=len(joints))
    for index, (angle, joint) in enumerate(zip(motion.robot_start_rad, joints, strict=False)):
        if not joint.lower_rad <= angle <= joint.upper_rad:
            limit = joint.lower_rad if angle < joint.lower_rad else joint.upper_rad
            sentence = (
                f"joint {index + 1} starts at {angle:.4g} rad - accepted: {joint.lower_rad:.4g} to {joint.upper_rad:.4g} rad"
            )
            yield finding(
                name, "joint_limit", [f"joint_{index + 1}"], sentence, value=angle, limit=limit, unit=Unit.RADIAN
            )
    yield from _shaking(scenario, limits)
    belt = ctx.cell.feed.kind == "belt"
    most = limits["belt_speed_m_s"] if belt else 0.0
    if abs(motion.belt_speed_m_s) > most:
        sentence = f"the feed runs at {motion.belt_speed_m_s:.4g} m/s - accepted: at most {most:g} m/s for a {ctx.cell.feed.kind}"
        yield finding(
            name, "belt_speed", ["feed"], sentence, value=motion.belt_speed_m_s, limit=most, unit=Unit.METRE_PER_SECOND
        )


def _shaking(scenario: Scenario, limits: Limits) -> Iterator[Finding]:
    name, motion = SPEC_MOTION.name, scenario.motion
    amplitude, frequency = motion.vibration_amplitude_m, motion.vibration_frequency_hz
    if amplitude > limits["amplitude_m"]:
        sentence = f"the table shakes by {amplitude:.4g} m - accepted: at most {limits['amplitude_m']:g} m"
        yield finding(
            name, "amplitude", ["table"], sentence, value=amplitude, limit=limits["amplitude_m"], unit=Unit.METRE
        )
    if frequency > limits["frequency_hz"]:
        sentence = f"the table shakes at {frequency:.4g} Hz - accepted: at most {limits['frequency_hz']:g} Hz"
        yield finding(
            name, "frequency", ["table"], sentence, value=frequency, limit=limits["frequency_hz"], unit=Unit.HERTZ
        )
    norm = float(np.linalg.norm(motion.vibration_direction))
    if abs(norm - 1) > 1e-3:
        sentence = f"vibration_direction has length {norm:.4g} - accepted: a unit vector"
        yield finding(name, "direction", ["table"], sentence, value=norm, limit=1)


SPEC_MOTION = Check(
    name="spec_motion",
    version=1,
    tier=Tier.SPECIFICATION,
    depends=frozenset({Facet.MOTION}),
    doc="The robot starts within its joint limits, the table shakes as tables can, only a belt runs.",
    run=_check_motion,
    limits={"amplitude_m": 0.01, "frequency_hz": 200.0, "belt_speed_m_s": 1.0},
)
