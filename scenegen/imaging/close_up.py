"""Close-ups of what a change does: a scene and its twin -> the place that changed most, seen from near in both."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter

from scenegen.geometry import Array
from scenegen.imaging.render import Image
from scenegen.scenario import Camera

SHARE = 0.22
"""Height of what a close-up shows, as a share of the whole image's: a few parts in a tray that the camera frames."""
PREFERRED = 0.35
"""How much of the greatest change a part must show to be chosen."""


def changed_spot(before: Image, after: Image, parts: Array) -> tuple[float, float]:
    """Return column and row, in heights of the image, of the middle of the close-up that shows most change.

    What changes everywhere alike, such as the brightness of the ground, does not count. A part is preferred to a place
    without parts, unless that changed far more.

    Args:
        before: A picture of the twin, sRGB, shape [h, w, 3].
        after: The same view of the scene.
        parts: Column and row of the parts' middles, in heights of the image, shape [n, 2].
    """
    change = after.astype(float) - before
    height, width = change.shape[:2]
    apart = gaussian_filter(np.abs(change - np.median(change, axis=(0, 1))).sum(axis=-1), SHARE * height / 4)
    half = int(SHARE * height / 2)
    inner = apart[half : height - half, half : max(width - half, half + 1)]
    row, column = np.unravel_index(np.argmax(inner), inner.shape)
    spot = ((int(column) + half + 0.5) / height, (int(row) + half + 0.5) / height)
    shown = parts[((parts > 0) & (parts < (width / height, 1.0))).all(axis=1)]
    if len(shown):
        changes = apart[(shown[:, 1] * height).astype(int), (shown[:, 0] * height).astype(int)]
        if changes.max() > PREFERRED * inner.max():
            spot = (float(shown[np.argmax(changes), 0]), float(shown[np.argmax(changes), 1]))
    return spot


def close_up(camera: Camera, spot: tuple[float, float], *, size_px: int) -> Camera:
    """Return the camera with the part of its view around a spot alone, enlarged.

    Args:
        camera: The camera.
        spot: Column and row of the middle, in heights of its image.
        size_px: Width and height of the close-up [px].
    """
    factor = size_px / (SHARE * camera.height_px)
    (x, y), (middle_x, middle_y) = camera.principal_px, (value * camera.height_px for value in spot)
    return camera.replaced(
        width_px=size_px,
        height_px=size_px,
        focal_px=(camera.focal_px[0] * factor, camera.focal_px[1] * factor),
        principal_px=(size_px / 2 + factor * (x - middle_x), size_px / 2 + factor * (y - middle_y)),
    )
