"""Draw a scenario as a person would see it: rays, the scenario's own lights and surfaces, a tone curve.

These are pictures for people: direct light with shadows, occluded light from all around, one mirror bounce on metal.
The same scenario and camera give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from scenegen.cell import Cell
from scenegen.geometry import Array, look_at
from scenegen.imaging.coat import coats_of
from scenegen.imaging.lamps import LUMINANCE, Floats, level_illuminance, planckian_color
from scenegen.imaging.mask import container_boxes
from scenegen.imaging.pinhole import camera_rays, project
from scenegen.imaging.props import Props
from scenegen.imaging.stage import Stage, single
from scenegen.nominal import nominal_fixtures
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Camera, Scenario

CHUNK = 1 << 15
"""Rays that are followed at once: their arrays stay in the processor's cache."""
EXPOSURE = 1.4
"""What a white sheet under the cell's nominal light sends into the tone curve."""
WHITE = 5.0
"""What the tone curve maps to white."""

Image = NDArray[np.uint8]


class Painter:
    """Draws scenes of one cell.

    Example:
        >>> painter = Painter(cell, parts)  # doctest: +SKIP
        >>> image = painter.picture(scenario, overview(cell))  # doctest: +SKIP
    """

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self._cell = cell
        self._props = Props(cell, parts)
        self._gain = viewing_gain(cell)

    def picture(self, scenario: Scenario, camera: Camera, *, oversampling: int = 2) -> Image:
        """Draw what a camera sees, with the exposure that suits the cell's nominal light.

        Args:
            scenario: The scene.
            camera: One of its cameras or a free view. A sensor of that name adds its exposure and white balance.
            oversampling: Rays a pixel along each direction.

        Returns:
            sRGB, shape [h, w, 3].
        """
        gain = single(self._gain * camera_gain(scenario, camera.name))
        # Each ray passes the tone curve before it is averaged, so that a mirrored lamp leaves no holes in edges.
        toned = np.concatenate([tone(seen * gain) for seen in self._seen(scenario, camera, oversampling)])
        return to_srgb(toned.reshape(camera.height_px, camera.width_px, oversampling**2, 3).mean(axis=2))

    def radiance(self, scenario: Scenario, camera: Camera, *, oversampling: int = 2) -> Floats:
        """Say what light reaches a camera, before any exposure.

        Args:
            scenario: The scene.
            camera: One of its cameras or a free view.
            oversampling: Rays a pixel along each direction.

        Returns:
            Luminance by linear colour [cd/m²], shape [h, w, 3].
        """
        seen = np.concatenate(list(self._seen(scenario, camera, oversampling)))
        return seen.reshape(camera.height_px, camera.width_px, oversampling**2, 3).mean(axis=2)

    def _seen(self, scenario: Scenario, camera: Camera, oversampling: int) -> Iterator[Floats]:
        """Luminance that rays see, pixel by pixel and row by row, some rays at a time, each of shape [n, 3]."""
        looks = {surface.subject: surface.look for surface in scenario.surfaces.surfaces}
        stage = Stage(self._props.placed(scenario), scenario.lights, looks, coats_of(scenario, self._cell))
        rays = single(_pixel_rays(camera, oversampling) @ camera.pose_to_world.rotation.T)
        draws = _draws(camera, oversampling)
        origin = single(camera.pose_to_world.position)
        for start in range(0, len(rays), CHUNK):
            yield stage.radiance(origin, rays[start : start + CHUNK], draws[start : start + CHUNK])


def overview(cell: Cell, *, width_px: int = 400, height_px: int = 250) -> Camera:
    """Return a view from above the robot that just holds feed and bins.

    Args:
        cell: The cell.
        width_px: Width of the image [px].
        height_px: Height of the image [px].
    """
    corners = np.concatenate(
        [
            fixture.pose_to_world.apply(container_boxes(cell.containers[fixture.name])).reshape(-1, 3)
            for fixture in nominal_fixtures(cell)
        ]
    )
    low, high = corners.min(axis=0), corners.max(axis=0)
    middle = (low + high) / 2
    eye = middle + np.array([-0.7, 0.0, 1.35]) * float(np.linalg.norm(high - low))
    camera = Camera(
        name="overview",
        pose_to_world=look_at(eye, middle),
        width_px=width_px,
        height_px=height_px,
        focal_px=(1.0, 1.0),
        principal_px=(0.0, 0.0),
        distortion=(0.0, 0.0, 0.0, 0.0, 0.0),
    )
    seen = project(camera, corners)
    first, last = seen.min(axis=0), seen.max(axis=0)
    size = np.array([width_px, height_px])
    focal = 0.94 * float((size / (last - first)).min())
    principal = size / 2 - focal * (first + last) / 2
    return camera.model_copy(update={"focal_px": (focal, focal), "principal_px": tuple(principal.tolist())})


def enlarged(camera: Camera, factor: float) -> Camera:
    """Return the same camera with more pixels across the same view."""
    return Camera(
        name=camera.name,
        pose_to_world=camera.pose_to_world,
        width_px=round(camera.width_px * factor),
        height_px=round(camera.height_px * factor),
        focal_px=(camera.focal_px[0] * factor, camera.focal_px[1] * factor),
        principal_px=(camera.principal_px[0] * factor, camera.principal_px[1] * factor),
        distortion=camera.distortion,
    )


def tone(color: Floats) -> Floats:
    """Compress linear light to [0, 1] by its luminance, keeping its hue (Reinhard et al. 2002, eq. 4)."""
    luminance = (color @ single(LUMINANCE))[:, None]
    return np.clip(color * (1 + luminance / WHITE**2) / (1 + luminance), 0, 1)


def to_srgb(linear: Array | Floats) -> Image:
    """Encode linear light in [0, 1] as sRGB (IEC 61966-2-1)."""
    bent = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055)
    return np.round(bent * 255).astype(np.uint8)


def viewing_gain(cell: Cell) -> Array:
    """Return the exposure and white balance that a cell's nominal light asks for, by linear colour [m²/cd], shape [3].

    A white sheet in the middle of the feed then sends `EXPOSURE` into the tone curve.
    """
    sheet = level_illuminance(cell.lights, cell.feed.pose_to_world.position) / np.pi
    return EXPOSURE / np.maximum(sheet, 1e-6)


def camera_gain(scenario: Scenario, camera: str) -> Array:
    """Return exposure and white balance of a camera's sensor, by linear colour, shape [3]; ones if it has no sensor."""
    for sensor in scenario.sensor.sensors:
        if sensor.camera == camera:
            balance = np.array(planckian_color(6500.0)) / np.array(planckian_color(sensor.white_balance_k))
            return 2.0**sensor.exposure_ev * balance
    return np.ones(3)


def _pixel_rays(camera: Camera, fine: int) -> Array:
    """Rays in the camera's frame, those of one pixel together, shape [h * w * fine², 3]."""
    rays = camera_rays(
        camera.width_px * fine,
        camera.height_px * fine,
        (camera.focal_px[0] * fine, camera.focal_px[1] * fine),
        (camera.principal_px[0] * fine, camera.principal_px[1] * fine),
        camera.distortion,
    )
    return rays.reshape(camera.height_px, fine, camera.width_px, fine, 3).swapaxes(1, 2).reshape(-1, 3)


def _draws(camera: Camera, fine: int) -> Floats:
    """Two numbers in [0, 1) a ray: evenly spread within a pixel, shifted from pixel to pixel, shape [h * w * fine², 2].

    Within a pixel the R2 sequence (Roberts 2018), over pixels interleaved gradient noise (Jimenez 2014).
    """
    within = np.modf(np.arange(1, fine**2 + 1)[:, None] * np.array([0.7548776662, 0.5698402910]))[0]
    x, y = np.meshgrid(np.arange(camera.width_px), np.arange(camera.height_px))
    shift = np.stack([_gradient_noise(x, y), _gradient_noise(x + 47, y + 17)], axis=-1).reshape(-1, 1, 2)
    return single(np.modf(within + shift)[0].reshape(-1, 2))


def _gradient_noise(x: NDArray, y: NDArray) -> Array:
    return np.modf(52.9829189 * np.modf(0.06711056 * x + 0.00583715 * y)[0])[0]
