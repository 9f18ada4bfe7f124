"""Axis `sensor`: every camera is wrongly exposed or balanced, blurred, noisy, or its lens is dirty."""

from __future__ import annotations

import numpy as np

from scenegen.axes.axis import Axis, AxisContext, Severity, directions, draw
from scenegen.scenario import CameraSensor, Facet, Scenario, Sensor
from scenegen.units import Quantity, Unit

NAME = "sensor"

EXPOSURE = Severity("exposure", Unit.EXPOSURE_VALUE, 0.0, -2.5, 2.0, "change of the exposure")
BLUR = Severity("blur", Unit.PIXEL, 0.0, 0.0, 4.0, "added standard deviation of the lens blur", least=0.3)
"""Below the least a pixel gives its neighbours less than a hundredth of its light: no picture shows it."""
NOISE = Severity("noise", Unit.DECIBEL, 0.0, -26.0, 0.0, "change of the signal-to-noise ratio at mid grey")
BALANCE = Severity("white_balance", Unit.KELVIN, 0.0, -3000.0, 5000.0, "change of the white balance")
VEIL = Severity("veil", Unit.SHARE, 0.0, 0.0, 0.4, "added share of the light that is spread over the image")
VIGNETTING = Severity("vignetting", Unit.SHARE, 0.0, 0.0, 0.9, "added share of the light that the corners lose")
MOTION = Severity("motion_blur", Unit.PIXEL, 0.0, 0.0, 15.0, "added length of the motion blur")

FIELDS: tuple[tuple[Severity, str], ...] = (
    (EXPOSURE, "exposure_ev"),
    (BLUR, "blur_px"),
    (NOISE, "snr_db"),
    (BALANCE, "white_balance_k"),
    (VEIL, "veil_share"),
    (VIGNETTING, "vignetting"),
    (MOTION, "motion_px"),
)
"""What changes, and the field of a sensor that holds it: the quantity is the field's distance from the base's."""


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Change one thing about every camera, those on the flange included; each camera by an amount of its own."""
    able = [(s, field, up) for s, field in FIELDS for up in directions(s, cell=ctx.cell, axis=NAME)]
    severity, field, upward = able[int(rng.integers(len(able)))]
    direction = float(rng.uniform(0.0, np.pi))
    sensors = []
    for sensor in scenario.sensor.sensors:
        value = draw(severity, level, cell=ctx.cell, axis=NAME, rng=rng, upward=upward)
        fields = {field: getattr(sensor, field) + value}
        if severity is MOTION:
            fields["motion_rad"] = direction
        sensors.append(sensor.replaced(**fields))
    return scenario.varied(sensor=Sensor(sensors=tuple(sensors)))


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Measure for each thing the greatest change over all cameras."""
    before = {sensor.camera: sensor for sensor in base.sensor.sensors}
    pairs = [(before[sensor.camera], sensor) for sensor in varied.sensor.sensors if sensor.camera in before]
    return tuple(
        Quantity(name=severity.name, value=_greatest(pairs, field), unit=severity.unit) for severity, field in FIELDS
    )


def _greatest(pairs: list[tuple[CameraSensor, CameraSensor]], field: str) -> float:
    return max((getattr(new, field) - getattr(old, field) for old, new in pairs), key=abs, default=0.0)


SENSOR = Axis(
    name=NAME,
    doc="Every camera is wrongly exposed or balanced, out of focus, noisy, moving, or has a dirty or vignetting lens.",
    touches=frozenset({Facet.SENSOR}),
    severities=tuple(severity for severity, _ in FIELDS),
    aliases=("LIBERO-Plus: Sensor Noise",),
    change=change,
    measure=measure,
)
