"""A chip from turning: a curl of thin swarf."""

from __future__ import annotations

import numpy as np

from scenegen.geometry import Array
from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.material import SWARF
from scenegen.parts.solid import polygon, swept

COLLIDER_SIDES = 8


def draw_chip(size: Size) -> Drawing:
    """Draw a ribbon wound about Z on a widening helix; its collider is a solid cone: curls do not interlock."""
    turns, pitch = size["turns_count"], size["pitch"]
    start, end = size["start_radius"], size["end_radius"]
    width, thickness = size["width"] / 2, size["thickness"] / 2

    def path(t: Array) -> tuple[Array, Array, Array]:
        angle, radius = 2 * np.pi * turns * t, start + (end - start) * t
        radial = np.column_stack([np.cos(angle), np.sin(angle), np.zeros_like(t)])
        center = radius[:, None] * radial + np.outer(pitch * turns * t, [0.0, 0.0, 1.0])
        axial = np.tile([0.0, 0.0, 1.0], (len(t), 1))
        return center, -radial, axial

    section = [(-thickness, -width), (thickness, -width), (thickness, width), (-thickness, width)]
    solid = swept(section, path, steps=round(24 * turns))
    ends = ((start + thickness, -width), (end + thickness, pitch * turns + width))
    collider = np.concatenate([[(x, y, z) for x, y in polygon(COLLIDER_SIDES, radius)] for radius, z in ends])
    return Drawing(solid=solid, pieces=(collider,))


CHIP = Family(
    name="chip",
    label="chip",
    standard="own drawing",
    material=SWARF,
    sizes={
        "chip": {"turns_count": 2.5, "pitch": 4, "start_radius": 3, "end_radius": 4.5, "width": 3, "thickness": 0.4}
    },
    draw=draw_chip,
)
