"""What a camera can see: projection, and whether something stays out of its view."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scenegen.geometry import Array
from scenegen.scenario import Camera


def project(camera: Camera, points: Array) -> tuple[Array, Array]:
    """Project points with the pinhole model, without distortion.

    Args:
        camera: The camera.
        points: World positions [m], shape [n, 3].

    Returns:
        Pixels, shape [n, 2], from the upper left corner, and depths along the optical axis [m], shape [n].
    """
    local = camera.pose_to_world.inverse().apply(points)
    depth = -local[:, 2]
    scale = np.array([camera.focal_px[0], -camera.focal_px[1]])
    safe = np.where(np.abs(depth) > 1e-9, depth, 1e-9)
    return np.array(camera.principal_px) + scale * local[:, :2] / safe[:, None], depth


def in_view(camera: Camera, points: Array, *, margin_px: float = 0.0) -> NDArray[np.bool_]:
    """Tell which points lie in front of a camera and inside its image, at least a margin [px] from its border."""
    pixels, depth = project(camera, points)
    size = np.array([camera.width_px, camera.height_px])
    return (depth > 0) & np.all((pixels >= margin_px) & (pixels <= size - margin_px), axis=1)


def out_of_view(camera: Camera, corners: Array, *, margin_px: float) -> bool:
    """Tell whether a convex thing surely stays out of a camera's view.

    Args:
        camera: The camera.
        corners: Its corners [m], world frame, shape [n, 3].
        margin_px: How far beyond the image's border it must stay, which also covers the lens distortion [px].

    Returns:
        True if one plane of the widened view pyramid has all corners on its outer side.
    """
    local = camera.pose_to_world.inverse().apply(corners).tolist()
    left, top = (camera.principal_px[i] + margin_px for i in (0, 1))
    right = camera.width_px - camera.principal_px[0] + margin_px
    low = camera.height_px - camera.principal_px[1] + margin_px
    fx, fy = camera.focal_px
    return (
        all(x * fx < z * left for x, _, z in local)
        or all(-x * fx < z * right for x, _, z in local)
        or all(-y * fy < z * top for _, y, z in local)
        or all(y * fy < z * low for _, y, z in local)
        or all(z > 0 for _, _, z in local)
    )
