"""A cut piece of cable: a curved tube that lies across parts."""

from __future__ import annotations

import numpy as np

from scenegen.geometry import Array
from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.material import RUBBER
from scenegen.parts.solid import circle, polygon, swept

PIECES = 9
"""Straight collider pieces along the curve."""


def draw_cable(size: Size) -> Drawing:
    """Draw a cable in the plane z = 0, bent like one wave of a sine."""
    radius, half, wave = size["diameter"] / 2, size["span"] / 2, size["wave"]

    def path(t: Array) -> tuple[Array, Array, Array]:
        x = half * (2 * t - 1)
        center = np.column_stack([x, wave * np.sin(np.pi * x / half), np.zeros_like(x)])
        slope = wave * np.pi / half * np.cos(np.pi * x / half)
        along = np.column_stack([np.ones_like(x), slope, np.zeros_like(x)])
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        up = np.tile([0.0, 0.0, 1.0], (len(x), 1))
        return center, np.cross(up, along), up

    hexagon = polygon(6, radius)[:, ::-1]  # a flat below, on which the cable lies
    center, side, up = path(np.arange(PIECES + 1) / PIECES)
    rings = center[:, None] + hexagon[None, :, :1] * side[:, None] + hexagon[None, :, 1:] * up[:, None]
    pieces = tuple(np.concatenate([rings[i], rings[i + 1]]) for i in range(PIECES))
    return Drawing(solid=swept(circle(radius, segments=12), path, steps=28), pieces=pieces)


CABLE = Family(
    name="cable",
    label="cable",
    standard="own drawing",
    material=RUBBER,
    sizes={"cable": {"diameter": 5, "span": 90, "wave": 14}},
    draw=draw_cable,
)
