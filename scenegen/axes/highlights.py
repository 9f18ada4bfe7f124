"""Which pixels of the targets are saturated, and how bright a lamp must be for a share of them to become so.

Judged in the linear image of a fixed camera from which meters are read, before noise. Light is linear: a pixel
saturates at one luminance of the lamp, its threshold.
"""

from __future__ import annotations

import numpy as np

from scenegen.axes.aim import Aim
from scenegen.axes.axis import AxisContext
from scenegen.axes.shown import TargetPixels, judging_camera, target_pixels
from scenegen.facet import Facet
from scenegen.geometry import Array
from scenegen.imaging.coat import coats_of
from scenegen.imaging.exposure import nominal_gain
from scenegen.imaging.metered import sensor_of
from scenegen.imaging.photo import sensor_gain
from scenegen.imaging.renderer import SEEN
from scenegen.imaging.scene_lights import scene_lights
from scenegen.imaging.scene_surfaces import scene_surfaces
from scenegen.imaging.shading import AmbientResponse, Points, ambient_response, area_response, mixed, points_of
from scenegen.scenario import Lights, RectLight, Scenario

APART = 1e-6
"""Thresholds whose ratio differs from one by less than this count as equal: shading is computed in 32 bits."""
ROOM = 1.1
"""Most that a luminance may lie above the threshold that it exceeds, as a factor."""


def exposed(scenario: Scenario, shown: TargetPixels, ctx: AxisContext) -> Array:
    """Return the linear values of the pixels as the meters have them, shape [k, 3]; 1 saturates."""
    key = (scenario.key(*SEEN, Facet.SURFACES, Facet.LIGHTS, Facet.SENSOR), ctx.cell.content_id)
    return ctx.renderer.once("exposed", key, lambda: _exposed(scenario, shown, ctx))


def _exposed(scenario: Scenario, shown: TargetPixels, ctx: AxisContext) -> Array:
    seen = ctx.metered.exposed(scenario, judging_camera(ctx.cell))
    return seen[:, shown.places].T.astype(np.float64)


def added_by(lamp: RectLight, scenario: Scenario, shown: TargetPixels, ctx: AxisContext) -> Array:
    """Return what a lamp adds to the pixels for each cd/m² if nothing stands in its way, shape [k, 3].

    Much quicker than a picture of it, since no shadow is cast.

    Args:
        lamp: The lamp.
        scenario: The scene without it.
        shown: The pixels of the scene.
        ctx: The axis' context.
    """
    key = (scenario.key(*SEEN, Facet.SURFACES), ctx.cell.content_id)
    points, around = ctx.renderer.once("target points", key, lambda: _points(scenario, shown, ctx))
    lights = scene_lights(scenario.varied(lights=Lights(lights=(lamp,))))
    gain = np.array(sensor_gain(sensor_of(scenario, judging_camera(ctx.cell)), nominal_gain(ctx.cell)))
    seen = mixed([area_response(points, light, xp=np) for light in lights.areas], around, lights)
    return np.concatenate(seen).T / lamp.luminance_nit * gain


def _points(scenario: Scenario, shown: TargetPixels, ctx: AxisContext) -> tuple[Points, AmbientResponse]:
    """Prepare the pixels for shading, and say what they return of their surroundings."""
    index = {name: place for place, name in enumerate(shown.names)}
    coats = {index[name]: coat for name, coat in coats_of(scenario, ctx.cell).items() if name in index}
    points = points_of(shown.gbuffer, scene_surfaces(scenario, shown.names), xp=np, coats=coats)
    return points, ambient_response(points, xp=np)


def saturated_shares(scenario: Scenario, ctx: AxisContext) -> dict[str, float]:
    """Return the share of saturated pixels of each target in the feed that shows enough of itself."""
    shown = target_pixels(scenario, ctx)
    if not shown.names:
        return {}
    shares = shown.shares(np.asarray(exposed(scenario, shown, ctx).max(axis=1) >= 1.0))
    return dict(zip(shown.names, shares.tolist(), strict=True))


def luminance_for(
    lit: Array, added: Array, shown: TargetPixels, aim: Aim, *, range_nit: tuple[float, float]
) -> float | None:
    """Find how bright a lamp must be so that the saturated share of some target grows by so much, and of none by more.

    Args:
        lit: Values of the pixels without the lamp, shape [k, 3].
        added: What the lamp adds to them for each cd/m², shape [k, 3].
        shown: The pixels.
        aim: The growth that is asked for.
        range_nit: Least and greatest luminance of the lamp [cd/m²].

    Returns:
        The luminance [cd/m²] that comes nearest; None where that does not hit.
    """
    thresholds = np.min((1.0 - lit) / np.maximum(added, 1e-30), axis=1)
    rows = np.flatnonzero((thresholds > 0.0) & (thresholds < range_nit[1]))
    # By target, then by threshold: a pixel's place among those of its target says the share that saturates with it.
    rows = rows[np.lexsort((thresholds[rows], shown.owners[rows]))]
    owners, counts = shown.owners[rows], shown.counts
    place = np.arange(len(rows)) - np.searchsorted(owners, owners) + 1
    order = np.argsort(thresholds[rows], kind="stable")
    steps = thresholds[rows][order]
    shares = (place / counts[owners])[order]
    growth = np.maximum.accumulate(shares)
    following = np.append(steps[1:], range_nit[1])
    luminance = (steps + np.minimum(following, ROOM * steps)) / 2
    # Halfway to where the next pixel saturates: rounding changes nothing then.
    able = np.flatnonzero((following > (1 + APART) * steps) & (luminance >= range_nit[0]))
    if not len(able):
        return None
    best = able[np.argmin(np.abs(growth[able] - aim.asked))]
    worst = owners[order][: best + 1][np.argmax(shares[: best + 1])]
    return float(luminance[best]) if aim.hit(float(growth[best]), pixels=int(counts[worst])) else None
