"""Helical compression springs with closed ends (wire and coil diameters of DIN 2098-1; length and coils of our own)."""

from __future__ import annotations

import numpy as np

from scenegen.geometry import Array
from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.material import SPRING_STEEL
from scenegen.parts.pieces import ring_pieces
from scenegen.parts.solid import circle, swept

END_PITCH = 1.15
"""Pitch of the closed end coils, in wire diameters: they nearly touch."""
STEPS_PER_COIL = 18


def draw_compression_spring(size: Size) -> Drawing:
    """Draw a spring along Z from z = 0; its collider is a tube, so that springs do not hook into each other."""
    wire, radius, length = size["wire_diameter"] / 2, size["coil_diameter"] / 2, size["free_length"]
    coils = size["active_coils_count"] + 2
    end = 2 * wire * END_PITCH
    rise = (length - 2 * wire - 2 * end) / (coils - 2)

    def path(t: Array) -> tuple[Array, Array, Array]:
        turn = coils * t
        height = wire + np.interp(turn, [0, 1, coils - 1, coils], [0, end, end + rise * (coils - 2), length - 2 * wire])
        angle = 2 * np.pi * turn
        radial = np.column_stack([np.cos(angle), np.sin(angle), np.zeros_like(t)])
        center = radius * radial + np.outer(height, [0.0, 0.0, 1.0])
        return center, -radial, np.tile([0.0, 0.0, 1.0], (len(t), 1))

    solid = swept(circle(wire, segments=6), path, steps=round(coils * STEPS_PER_COIL))
    return Drawing(solid=solid, pieces=ring_pieces(radius - wire, radius + wire, 0, length))


def _row(wire_diameter: float, coil_diameter: float, free_length: float, active_coils: float) -> Size:
    return {
        "wire_diameter": wire_diameter,
        "coil_diameter": coil_diameter,
        "free_length": free_length,
        "active_coils_count": active_coils,
    }


COMPRESSION_SPRING = Family(
    name="compression_spring",
    label="compression_spring",
    standard="DIN 2098-1, free length and coils by own drawing",
    material=SPRING_STEEL,
    sizes={
        "compression_spring_1x8x20": _row(1, 8, 20, 4.5),
        "compression_spring_1x10x20": _row(1, 10, 20, 4.5),
    },
    draw=draw_compression_spring,
)
