"""Could a person sort the targets by the pictures: are they neither washed out, nor too dark, nor lost in noise?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from scenegen.axes.items import fixture_pose
from scenegen.cell import Cell
from scenegen.cell import Limits as CellLimits
from scenegen.imaging.exposure import nominal_gain
from scenegen.imaging.lamps import level_illuminance
from scenegen.imaging.measure import Readings
from scenegen.imaging.photo import sensor_gain
from scenegen.scenario import CameraSensor, Facet, Scenario
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding
from validators.seen import shown_targets


def _check_exposed(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    read, bounds = ctx.metered.read(scenario), ctx.cell.limits
    shown = np.stack(list(shown_targets(read).values()))
    washed_out = {camera: _washed_out(readings, camera, scenario, ctx) for camera, readings in read.items()}
    # What is unknown keeps no bound: comparisons with NaN are false.
    sound = np.stack(
        [
            (one.luminance[0] >= bounds.luminance) & (one.snr_db[0] >= bounds.snr_db) & ~washed_out[camera]
            for camera, one in read.items()
        ]
    )
    for index in np.flatnonzero(shown.any(axis=0) & ~(shown & sound).any(axis=0)).tolist():
        camera, readings = max(read.items(), key=lambda pair: float(pair[1].visible_px[0, index]))
        yield from _faults(readings, index, camera, bounds, washed_out=bool(washed_out[camera][index]))


def _washed_out(readings: Readings, camera: str, scenario: Scenario, ctx: CheckContext) -> NDArray[np.bool_]:
    """Say which targets are saturated on a ground that is, shape [n]."""
    saturated = readings.saturated_share[0] > ctx.cell.limits.saturated_share
    if saturated.any() and ground_level(scenario, camera, ctx.cell) < 1.0:
        return np.zeros_like(saturated)
    return saturated


def ground_level(scenario: Scenario, camera: str, cell: Cell) -> float:
    """Return the level of the feed in a camera's image: of its darkest colour, in the channel that has least light.

    As a matt surface (Lambert) that nothing shades, in the corner of the image that loses most to vignetting; it is
    brighter where it shines. 1 saturates.

    Args:
        scenario: A scene of the cell.
        camera: Name of a camera.
        cell: The cell.
    """
    sensor = next((one for one in scenario.sensor.sensors if one.camera == camera), CameraSensor(camera=camera))
    feed = next(one for one in scenario.surfaces.surfaces if one.subject == "feed")
    light = level_illuminance(scenario.lights.lights, fixture_pose(scenario.layout, "feed").position)
    white = light / np.pi * np.array(sensor_gain(sensor, nominal_gain(cell))) * (1.0 - sensor.vignetting)
    colors = [feed.look.color, *([feed.pattern.color] if feed.pattern else [])]
    return float((np.array(colors) * white).min())


def _faults(readings: Readings, index: int, camera: str, bounds: CellLimits, *, washed_out: bool) -> Iterator[Finding]:
    """Say what is wrong with a target in the camera that shows most of it."""
    check, name = EXPOSED.name, readings.names[index]
    share, luminance, snr = (
        float(one[0, index]) for one in (readings.saturated_share, readings.luminance, readings.snr_db)
    )
    if washed_out:
        limit = bounds.saturated_share
        sentence = (
            f"{share:.0%} of {name!r} is saturated in camera {camera!r}, and so is the feed - accepted: at most "
            f"{limit:.0%}, or a feed that is not"
        )
        yield finding(check, "saturated", [name], sentence, value=share, limit=limit, unit=Unit.SHARE)
    if luminance < bounds.luminance:
        limit = bounds.luminance
        sentence = (
            f"the mean luminance of {name!r} in camera {camera!r} is {luminance:.2g} of saturated white - accepted: at "
            f"least {limit:g}"
        )
        yield finding(check, "dark", [name], sentence, value=luminance, limit=limit, unit=Unit.NONE)
    if snr < bounds.snr_db:
        limit = bounds.snr_db
        sentence = (
            f"the signal-to-noise ratio of {name!r} in camera {camera!r} is {snr:.2g} dB - accepted: at least "
            f"{limit:g} dB"
        )
        yield finding(check, "noisy", [name], sentence, value=snr, limit=limit, unit=Unit.DECIBEL)


EXPOSED = Check(
    name="exposure",
    version=1,
    tier=Tier.OPTICS,
    depends=frozenset({Facet.LAYOUT, Facet.SURFACES, Facet.LIGHTS, Facet.CAMERAS, Facet.SENSOR}),
    doc=(
        "Of the cameras that show a target in the feed at least one keeps the bounds of the cell's `limits`: it is not "
        "saturated together with the feed (`saturated_share`), not too dark (`luminance`) and not lost in noise "
        "(`snr_db`)."
    ),
    run=_check_exposed,
)
