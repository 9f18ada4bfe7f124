"""Specification of matter and motion: masses, friction, the robot's start, what shakes and what runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache

from scenegen.axes import contact, robot_start, vibration
from scenegen.cell import Cell
from scenegen.nominal import matter_of
from scenegen.parts.part import Part
from scenegen.scenario import Facet, ItemMatter, Scenario
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding
from validators.coverage import coverage
from validators.envelope import Envelope

MASS_ENVELOPE = Envelope(contact.NAME, contact.MASS)
FRICTION_ENVELOPE = Envelope(contact.NAME, contact.FRICTION)
BALANCE_ENVELOPE = Envelope(contact.NAME, contact.SHIFT)
AMPLITUDE_ENVELOPE = Envelope(vibration.NAME, vibration.AMPLITUDE)
FREQUENCY_ENVELOPE = Envelope(vibration.NAME, vibration.FREQUENCY)
START_ENVELOPE = Envelope(robot_start.NAME, robot_start.OFFSET)


def _check_matter(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    entries, items = scenario.matter.items, {item.name: item for item in scenario.layout.items}
    yield from coverage(SPEC_MATTER.name, "mass entry", [entry.name for entry in entries], list(items))
    for entry in entries:
        item = items.get(entry.name)
        if item is not None and item.part in ctx.parts and not _is_nominal(entry, ctx.parts[item.part]):
            yield from _ranges(entry, ctx.parts[item.part], ctx.cell)


def _ranges(entry: ItemMatter, part: Part, cell: Cell) -> Iterator[Finding]:
    name, subject, own = SPEC_MATTER.name, [entry.name], part.mass
    shift = 1e3 * math.dist(entry.center_of_mass_m, own.center_of_mass_m)
    for envelope, code, value, what in (
        (MASS_ENVELOPE, "mass", entry.mass_kg / own.mass_kg, f"the mass of {entry.name!r} is its part's times"),
        (
            FRICTION_ENVELOPE,
            "friction",
            entry.friction / part.friction,
            f"the friction of {entry.name!r} is its part's times",
        ),
        (BALANCE_ENVELOPE, "center_of_mass", shift, f"the centre of mass of {entry.name!r} is off its part's by"),
    ):
        yield from envelope.outside(name, code, subject, what, value, cell)
    low, high = _bounds(part)
    beyond = max(max(a - c, c - b) for a, c, b in zip(low, entry.center_of_mass_m, high, strict=True))
    if beyond > 1e-6:
        sentence = f"{entry.name!r} has its centre of mass {beyond:.4g} m outside its own bounds - accepted: inside"
        yield finding(name, "unbalanced", subject, sentence, value=beyond, limit=0, unit=Unit.METRE)
    yield from _inertia(entry, part)


def _is_nominal(entry: ItemMatter, part: Part) -> bool:
    """Tell whether an item has its part's own mass and friction: the most frequent case, and the quickest."""
    return all(getattr(entry, name) == value for name, value in _nominal(part))


@lru_cache(maxsize=1024)
def _nominal(part: Part) -> tuple[tuple[str, object], ...]:
    entry = matter_of(part, name="part")
    return tuple((name, getattr(entry, name)) for name in ItemMatter.model_fields if name != "name")


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
            f"{entry.name!r} has principal moments {shown} kg m2, which no body of its size has - accepted: each at "
            f"most the sum of the other two and {most:.3g} kg m2"
        )
        yield finding(SPEC_MATTER.name, "inertia", [entry.name], sentence, value=moments[2], limit=most)


SPEC_MATTER = Check(
    name="spec_matter",
    version=1,
    tier=Tier.SPECIFICATION,
    depends=frozenset({Facet.LAYOUT, Facet.MATTER}),
    doc=(
        "Each item has one mass entry; mass, friction and centre of mass are within the envelope of axis `contact` "
        "about the part's own, and inertia is such as the part can have."
    ),
    run=_check_matter,
)


def _check_motion(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    name, motion, joints = SPEC_MOTION.name, scenario.motion, ctx.cell.robot.joints
    if len(motion.robot_start_rad) != len(joints):
        sentence = f"robot_start_rad has {len(motion.robot_start_rad)} values - accepted: one a joint ({len(joints)})"
        yield finding(name, "joint_count", [], sentence, value=len(motion.robot_start_rad), limit=len(joints))
    for index, (angle, joint) in enumerate(zip(motion.robot_start_rad, joints, strict=False)):
        if not joint.lower_rad <= angle <= joint.upper_rad:
            limit = joint.lower_rad if angle < joint.lower_rad else joint.upper_rad
            allowed = f"{joint.lower_rad:.4g} to {joint.upper_rad:.4g} rad"
            sentence = f"joint {index + 1} starts at {angle:.4g} rad - accepted: {allowed}"
            yield finding(
                name, "joint_limit", [f"joint_{index + 1}"], sentence, value=angle, limit=limit, unit=Unit.RADIAN
            )
    if len(motion.robot_start_rad) == len(joints):
        offset = math.dist(motion.robot_start_rad, ctx.cell.robot.start_joints_rad)
        what = "the robot starts off its nominal joint angles by"
        yield from START_ENVELOPE.outside(name, "start_offset", ["robot"], what, offset, ctx.cell)
    yield from _shaking(scenario, ctx.cell)
    kind, speed = ctx.cell.feed.kind, motion.belt_speed_m_s
    most = limits["belt_speed_m_s"] if kind == "belt" else 0.0
    if abs(speed) > most:
        sentence = f"the feed runs at {speed:.4g} m/s - accepted: at most {most:g} m/s for a {kind}"
        yield finding(name, "belt_speed", ["feed"], sentence, value=speed, limit=most, unit=Unit.METRE_PER_SECOND)


def _shaking(scenario: Scenario, cell: Cell) -> Iterator[Finding]:
    name, motion, subject = SPEC_MOTION.name, scenario.motion, ["table"]
    amplitude_mm, frequency = motion.vibration_amplitude_m * 1e3, motion.vibration_frequency_hz
    yield from AMPLITUDE_ENVELOPE.outside(name, "amplitude", subject, "the table shakes by", amplitude_mm, cell)
    yield from FREQUENCY_ENVELOPE.outside(name, "frequency", subject, "the table shakes at", frequency, cell)
    norm = math.hypot(*motion.vibration_direction)
    if abs(norm - 1) > 1e-3:
        sentence = f"vibration_direction has length {norm:.4g} - accepted: a unit vector"
        yield finding(name, "direction", subject, sentence, value=norm, limit=1)


SPEC_MOTION = Check(
    name="spec_motion",
    version=1,
    tier=Tier.SPECIFICATION,
    depends=frozenset({Facet.MOTION}),
    doc=(
        "The robot starts within its joint limits and the envelope of axis `robot_start`, the table shakes within that "
        "of axis `vibration`, and only a belt runs, at `belt_speed_m_s` at most."
    ),
    run=_check_motion,
    limits={"belt_speed_m_s": 1.0},
)
