"""Veiling glare: part of the light that a lens receives ends up spread over the whole image."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from scenegen.geometry import Array
from scenegen.imaging.gbuffer import Vector

SPREAD = 0.1
"""Distance that sets the width of the glare, as a share of the image's shorter side.

Half of the stray light lands within 1.7 times this distance. An assumption: how glare falls off differs between lenses
and with the dust on them (Talvala et al. 2007, Veiling glare in high dynamic range imaging); how much there is, is the
sensor's to say.
"""
_CUT = 10.0
"""Frequencies of which the glare passes less than exp(-10) are left out."""


class Veil(NamedTuple):
    """Veiling glare that is ready for any number of batches of images of one size."""

    rows: Any
    """Cosine transform along columns, shape [m, h]."""
    columns: Any
    """Cosine transform along rows, shape [n, w]."""
    passed: Any
    """What the glare passes of each pair of frequencies, shape [m, n]."""
    share: Any
    """Share of the light that is spread, of each image or one for all, shape [b, 1, 1]."""


def veil_of(share: Sequence[float], *, like: Any, xp: Any) -> Veil | None:
    """Return the veiling glare of lenses; None if no light is spread.

    Args:
        share: Share of the light that is spread, of each image or one for all.
        like: An array of shape [b, h, w]: type, device and size of the images.
        xp: The array library.
    """
    if not any(share):
        return None
    parts = (*_transforms(*like.shape[1:]), np.reshape(share, (-1, 1, 1)))
    return Veil(*(xp.asarray(part, dtype=like.dtype, device=like.device) for part in parts))


def veiled(image: Vector, veil: Veil | None, *, xp: Any) -> Vector:
    """Move a share of each pixel's light to the pixels around it.

    The glare spread function is the Poisson kernel r0 / (2 pi (r² + r0²)^1.5), a peak with the long tail that veiling
    glare has; its Fourier transform is exp(-2 pi r0 f) (Stein and Weiss 1971, theorem 1.14). It is applied to the
    cosine transform, which is the Fourier transform of the image mirrored at its borders: light is moved, none is lost.

    Args:
        image: Linear colours, each of shape [b, h, w].
        veil: The glare (`veil_of`).
        xp: The array library.
    """
    if veil is None:
        return image
    rows, columns, passed, part = veil

    def spread(plane: Any) -> Any:
        # numpy's einsum starts no threads, which cost more than they give where every core has its own process.
        cosines = xp.einsum("bmw,nw->bmn", xp.einsum("mh,bhw->bmw", rows, plane), columns) * passed
        moved = xp.einsum("hm,bmw->bhw", rows.T, xp.einsum("bmn,nw->bmw", cosines, columns))
        return (1.0 - part) * plane + part * moved

    return spread(image[0]), spread(image[1]), spread(image[2])


@lru_cache(maxsize=16)
def _transforms(height: int, width: int) -> tuple[Array, Array, Array]:
    """Cosine transforms of columns and rows, and what the glare passes of each pair of frequencies."""
    radius = SPREAD * min(height, width)
    rows, down = _cosines(height, radius)
    columns, right = _cosines(width, radius)
    return rows, columns, np.exp(-2 * np.pi * radius * np.hypot(down[:, None], right[None, :]))


def _cosines(size: int, radius_px: float) -> tuple[Array, Array]:
    """Rows of the orthonormal cosine transform (DCT-II) that the glare passes, and their frequencies [1/px]."""
    count = min(size, ceil(_CUT * 2 * size / (2 * np.pi * radius_px)) + 1)
    frequency = np.arange(count) / (2 * size)
    waves = np.cos(2 * np.pi * frequency[:, None] * (np.arange(size) + 0.5)) * np.sqrt(2 / size)
    waves[0] = np.sqrt(1 / size)
    return waves, frequency
