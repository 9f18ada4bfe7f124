"""Axis `vibration`: the table shakes."""

from __future__ import annotations

import numpy as np

from scenegen.axes.axis import Axis, AxisContext, Severity, draw
from scenegen.scenario import Facet, Scenario
from scenegen.units import Quantity, Unit

NAME = "vibration"

AMPLITUDE = Severity("amplitude", Unit.MILLIMETRE, 0.0, 0.0, 0.4, "amplitude of the table's shaking")
FREQUENCY = Severity("frequency", Unit.HERTZ, 0.0, 0.0, 25.0, "frequency of the table's shaking")


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Shake the table sinusoidally along a random horizontal direction."""
    amplitude_mm, frequency_hz = (draw(s, level, cell=ctx.cell, axis=NAME, rng=rng) for s in (AMPLITUDE, FREQUENCY))
    bearing = rng.uniform(0, np.pi)
    motion = scenario.motion.replaced(
        vibration_amplitude_m=amplitude_mm * 1e-3,
        vibration_frequency_hz=frequency_hz,
        vibration_direction=(float(np.cos(bearing)), float(np.sin(bearing)), 0.0),
    )
    return scenario.varied(motion=motion)


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Measure amplitude and frequency of the shaking."""
    return (
        Quantity(name=AMPLITUDE.name, value=varied.motion.vibration_amplitude_m * 1e3, unit=AMPLITUDE.unit),
        Quantity(name=FREQUENCY.name, value=varied.motion.vibration_frequency_hz, unit=FREQUENCY.unit),
    )


VIBRATION = Axis(
    name=NAME,
    doc="The table shakes sinusoidally along a horizontal direction.",
    touches=frozenset({Facet.MOTION}),
    severities=(AMPLITUDE, FREQUENCY),
    aliases=("no field term: table vibration",),
    change=change,
    measure=measure,
)
