"""The pinhole camera with Brown-Conrady distortion: rays of its pixels, pixels of points, windows of boxes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from scenegen.geometry import Array
from scenegen.scenario import Camera

_UNDISTORT_STEPS = 20


@lru_cache(maxsize=16)
def camera_rays(
    width_px: int,
    height_px: int,
    focal_px: tuple[float, float],
    principal_px: tuple[float, float],
    distortion: tuple[float, float, float, float, float],
) -> Array:
    """Return the ray through each pixel's centre, camera frame (-Z ahead, +Y up), with z = -1, shape [h, w, 3].

    The Brown-Conrady distortion is undone.
    """
    x = (np.arange(width_px) + 0.5 - principal_px[0]) / focal_px[0]
    y = (np.arange(height_px) + 0.5 - principal_px[1]) / focal_px[1]
    bent_x, bent_y = np.meshgrid(x, y)
    flat_x, flat_y = _unbent(bent_x, bent_y, distortion)
    rays = np.stack([flat_x, -flat_y, -np.ones_like(flat_x)], axis=-1)
    rays.setflags(write=False)
    return rays


def pixel_rays(camera: Camera, pixels: Array) -> Array:
    """Return rays through points of the image, camera frame (-Z ahead, +Y up), with z = -1; the inverse of `project`.

    Args:
        camera: The camera.
        pixels: Column and row [px] from the image's upper left corner, shape [n, 2].

    Returns:
        Shape [n, 3].
    """
    bent = (np.asarray(pixels, float) - np.array(camera.principal_px)) / np.array(camera.focal_px)
    x, y = _unbent(bent[:, 0], bent[:, 1], camera.distortion)
    return np.stack([x, -y, -np.ones_like(x)], axis=1)


def window_rays(camera: Camera, windows: Sequence[tuple[slice, slice]]) -> list[Array]:
    """Return the rays of parts of the image, as `camera_rays` has them, which only a lens that bends them needs.

    Args:
        camera: The camera.
        windows: Rows and columns of each part.
    """
    if any(camera.distortion):
        rays = camera_rays(camera.width_px, camera.height_px, camera.focal_px, camera.principal_px, camera.distortion)
        return [rays[window] for window in windows]
    x = (np.arange(camera.width_px) + 0.5 - camera.principal_px[0]) / camera.focal_px[0]
    y = -((np.arange(camera.height_px) + 0.5 - camera.principal_px[1]) / camera.focal_px[1])
    made = []
    for rows, columns in windows:
        across, down = x[columns], y[rows]
        rays = np.empty((len(down), len(across), 3))
        rays[..., 0], rays[..., 1], rays[..., 2] = across, down[:, None], -1.0
        made.append(rays)
    return made


@lru_cache(maxsize=16)
def pixel_places(height_px: int, width_px: int) -> NDArray[np.int64]:
    """Return the place of each pixel in the row of all pixels, `row * width + column`, shape [h, w]."""
    places = np.arange(height_px * width_px).reshape(height_px, width_px)
    places.setflags(write=False)
    return places


def project(camera: Camera, points_m: Array) -> Array:
    """Project points before a camera to pixels.

    Args:
        camera: The camera with its pose.
        points_m: Points [m], world frame, shape [n, 3].

    Returns:
        Column and row [px] from the image's upper left corner, shape [n, 2]; NaN for points behind the camera.
    """
    pose = camera.pose_to_world
    points = (np.asarray(points_m, float) - pose.position) @ pose.rotation
    return _to_pixels(camera, np.where(points[:, 2:] < -1e-6, points, np.nan))


def _to_pixels(camera: Camera, points: Array) -> Array:
    """Project points ahead, in the camera's frame, shape [n, 3], to pixels, shape [n, 2]."""
    x, y = points[:, 0] / -points[:, 2], -points[:, 1] / -points[:, 2]
    if any(camera.distortion):
        radial, shift_x, shift_y = _brown_conrady(x, y, camera.distortion)
        x, y = x * radial + shift_x, y * radial + shift_y
    return np.stack([x, y], axis=1) * np.array(camera.focal_px) + np.array(camera.principal_px)


def _unbent(bent_x: Array, bent_y: Array, coefficients: tuple[float, ...]) -> tuple[Array, Array]:
    """Undo the distortion by fixed-point iteration, as OpenCV's `undistortPoints` does."""
    x, y = bent_x, bent_y
    if any(coefficients):
        for _ in range(_UNDISTORT_STEPS):
            radial, shift_x, shift_y = _brown_conrady(x, y, coefficients)
            x, y = (bent_x - shift_x) / radial, (bent_y - shift_y) / radial
    return x, y


def _brown_conrady(x: Array, y: Array, coefficients: tuple[float, ...]) -> tuple[Array, Array, Array]:
    """Radial factor and tangential shifts at undistorted image coordinates (OpenCV's camera model)."""
    k1, k2, p1, p2, k3 = coefficients
    r2 = x * x + y * y
    radial = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
    return radial, 2 * p1 * x * y + p2 * (r2 + 2 * x * x), p1 * (r2 + 2 * y * y) + 2 * p2 * x * y


def windows(camera: Camera, corners: Array) -> list[tuple[slice, slice]]:
    """Rows and columns that projected corners, shape [n, 8, 3], span; widened where the lens bends straight edges."""
    size = np.array([camera.width_px, camera.height_px])
    ahead = corners[..., 2] < -1e-6
    pixels = _to_pixels(camera, np.where(ahead[..., None], corners, -1.0).reshape(-1, 3)).reshape(len(corners), -1, 2)
    low, high = pixels.min(axis=1), pixels.max(axis=1)
    margin = 1.0 + (0.1 * (high - low) if any(camera.distortion) else 0.0)
    first, last = np.clip(low - margin, 0, size), np.clip(high + margin + 1, 0, size)
    first[~ahead.all(axis=1)], last[~ahead.all(axis=1)] = 0, size
    last[~ahead.any(axis=1)] = 0
    bounds = np.concatenate([first, last], axis=1).astype(int).tolist()
    return [(slice(top, bottom), slice(left, right)) for left, top, right, bottom in bounds]
