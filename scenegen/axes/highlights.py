"""Which pixels of the targets are saturated, and how bright a lamp must be for a share of them to become so.

Judged in the linear image of a fixed camera, at its exposure and white balance; blur, veil and noise are left out, so
that each pixel stands for itself. Light is linear: a pixel saturates at one luminance of the lamp, its threshold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scenegen.axes.axis import AxisContext
from scenegen.axes.items import targets_in
from scenegen.cell import Cell
from scenegen.geometry import Array
from scenegen.imaging.exposure import nominal_gain
from scenegen.imaging.photo import sensor_gain
from scenegen.scenario import CameraSensor, Scenario

FEWEST_PX = 16
"""Targets of which fewer pixels are visible are left out: a pixel would be too large a share [px]."""


def judging_camera(cell: Cell) -> str:
    """Name the camera whose image is judged: the first fixed one, or the first."""
    return next((camera.name for camera in cell.cameras if camera.mount == "world"), cell.cameras[0].name)


@dataclass(frozen=True, eq=False)
class TargetPixels:
    """The visible pixels of the targets in the feed."""

    names: tuple[str, ...]
    """Targets, shape [n]."""
    pixels: NDArray[np.int64]
    """Places in the row of all pixels, shape [k]."""
    owners: NDArray[np.int64]
    """Index of the target that each pixel shows, shape [k]."""
    positions: Array
    """What the pixels show [m], world frame, shape [k, 3]."""
    normals: Array
    """Unit normals there, shape [k, 3]."""
    eye: Array
    """Centre of the camera [m], shape [3]."""

    def shares(self, chosen: NDArray[np.bool_]) -> Array:
        """Return the share of each target's pixels that are chosen, shape [n], from a mask of shape [k]."""
        counts = np.bincount(self.owners, minlength=len(self.names))
        return np.bincount(self.owners[chosen], minlength=len(self.names)) / counts

    def mirrored(self) -> Array:
        """Return the unit directions in which a flat mirror at each pixel would show a lamp, shape [k, 3]."""
        view = self.eye - self.positions
        view = view / np.linalg.norm(view, axis=1, keepdims=True)
        return 2 * np.sum(self.normals * view, axis=1, keepdims=True) * self.normals - view


def target_pixels(scenario: Scenario, ctx: AxisContext) -> TargetPixels:
    """Find the visible pixels of the targets in the feed; without a target that shows enough of itself, none."""
    gbuffer = ctx.renderer.gbuffer(scenario, judging_camera(ctx.cell))
    index = {name: place for place, name in enumerate(gbuffer.names)}
    shown = gbuffer.instance[0]
    counts = np.bincount(shown[shown >= 0], minlength=len(index))
    names = tuple(item.name for item in targets_in(scenario, ctx.cell) if counts[index.get(item.name, -1)] >= FEWEST_PX)
    owner = np.full(len(index) + 1, -1)
    owner[[index[name] for name in names]] = np.arange(len(names))
    owners = owner[shown]
    pixels = np.flatnonzero(owners >= 0)
    return TargetPixels(
        names=names,
        pixels=pixels,
        owners=owners[pixels],
        positions=_rows(gbuffer.position, pixels),
        normals=_rows(gbuffer.normal, pixels),
        eye=_rows(gbuffer.eye, np.zeros(1, np.int64))[0],
    )


def _rows(vector: tuple[Array, Array, Array], pixels: NDArray[np.int64]) -> Array:
    return np.stack([plane[0, pixels] for plane in vector], axis=-1).astype(np.float64)


def exposed(scenario: Scenario, shown: TargetPixels, ctx: AxisContext) -> Array:
    """Return the linear values of the pixels, shape [k, 3]; 1 saturates."""
    camera = judging_camera(ctx.cell)
    sensor = next((one for one in scenario.sensor.sensors if one.camera == camera), CameraSensor(camera=camera))
    gain = np.array(sensor_gain(sensor, nominal_gain(ctx.cell)))
    return ctx.renderer.radiance_at(scenario, camera, shown.pixels).astype(np.float64) * gain


def saturated_shares(scenario: Scenario, ctx: AxisContext) -> dict[str, float]:
    """Return the share of saturated pixels of each target in the feed that shows enough of itself."""
    shown = target_pixels(scenario, ctx)
    if not shown.names:
        return {}
    shares = shown.shares(np.asarray(exposed(scenario, shown, ctx).max(axis=1) >= 1.0))
    return dict(zip(shown.names, shares.tolist(), strict=True))


def luminance_for(
    lit: Array, added: Array, shown: TargetPixels, *, least: float, most: float, range_nit: tuple[float, float]
) -> float | None:
    """Find how bright a lamp must be so that the saturated share of some target grows by so much, and of none by more.

    Args:
        lit: Values of the pixels without the lamp, shape [k, 3].
        added: What the lamp adds to them for each cd/m², shape [k, 3].
        shown: The pixels.
        least: Growth that is asked for.
        most: Growth that no target may exceed.
        range_nit: Least and greatest luminance of the lamp [cd/m²].

    Returns:
        The luminance [cd/m²]; None where there is none.
    """
    thresholds = np.min((1.0 - lit) / np.maximum(added, 1e-30), axis=1)
    before = shown.shares(thresholds <= 0.0)
    steps = np.unique(thresholds[(thresholds > 0.0) & (thresholds < range_nit[1])])

    def growth(step: int) -> float:
        return float((shown.shares(thresholds <= steps[step]) - before).max())

    low, high = 0, len(steps)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if growth(middle) >= least else (middle + 1, high)
    if low == len(steps) or growth(low) > most:
        return None
    # Halfway to where the next pixel saturates: rounding changes nothing then.
    following = steps[low + 1] if low + 1 < len(steps) else range_nit[1]
    luminance = float((steps[low] + min(following, 1.1 * steps[low])) / 2)
    return luminance if luminance >= range_nit[0] else None
