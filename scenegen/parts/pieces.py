"""Convex collider pieces in millimetres, as corner sets: few corners, few pieces, holes left open.

Round shapes become polygons: a true cylinder rolls for ever in a simulator, a polygonal prism comes to rest. Sides
touch the true circle from outside, so that a part rests at its true height; the sides of a hole touch the hole from
outside too, so that what fits through the hole fits through the collider.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from scenegen.geometry import Array
from scenegen.parts.solid import polygon

SHANK_SIDES = 12
"""Sides of a solid round collider."""
RING_PIECES = 8
"""Wedges of a round ring."""


def prism_piece(outline_mm: ArrayLike, bottom_mm: float, top_mm: float) -> Array:
    """Corners [mm], shape [2 n, 3], of an upright prism over a convex outline [mm], shape [n, 2]."""
    outline = np.asarray(outline_mm, float)
    ends = [np.column_stack([outline, np.full(len(outline), z)]) for z in (bottom_mm, top_mm)]
    return np.concatenate(ends)


def round_piece(radius_mm: float, bottom_mm: float, top_mm: float, *, sides: int = SHANK_SIDES) -> Array:
    """Corners [mm] of a polygonal prism about Z around a cylinder."""
    return prism_piece(polygon(sides, radius_mm), bottom_mm, top_mm)


def block_piece(low_mm: Sequence[float], high_mm: Sequence[float]) -> Array:
    """The eight corners [mm], shape [8, 3], of a box between two opposite corners."""
    (x0, y0, z0), (x1, y1, z1) = low_mm, high_mm
    return prism_piece([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], z0, z1)


def ring_pieces(
    bore_mm: float, outer_mm: float, bottom_mm: float, top_mm: float, *, count: int = RING_PIECES
) -> tuple[Array, ...]:
    """Cut a round ring about Z into wedges; the outside has two chords a wedge.

    Args:
        bore_mm: Radius of the hole [mm].
        outer_mm: Outer radius [mm].
        bottom_mm: Lower height [mm].
        top_mm: Upper height [mm].
        count: Number of wedges.
    """
    return tuple(
        sector_piece(
            bore_mm, outer_mm, (index - 0.5) * 2 * np.pi / count, (index + 0.5) * 2 * np.pi / count, (bottom_mm, top_mm)
        )
        for index in range(count)
    )


def sector_piece(
    inner_mm: float, outer_mm: float, start_rad: float, end_rad: float, heights_mm: tuple[float, float]
) -> Array:
    """One wedge of a ring: one chord inside, two outside, each touching its circle from outside."""
    half = (end_rad - start_rad) / 2
    angles = np.array([start_rad, start_rad + half, end_rad])
    rim = outer_mm / np.cos(half / 2) * np.column_stack([np.cos(angles), np.sin(angles)])
    ends = angles[[2, 0]]
    inside = inner_mm / np.cos(half) * np.column_stack([np.cos(ends), np.sin(ends)])
    return prism_piece(np.concatenate([rim, inside]), *heights_mm)


def hexagon_ring_pieces(bore_mm: float, apothem_mm: float, bottom_mm: float, top_mm: float) -> tuple[Array, ...]:
    """Cut a hexagon with a round hole into six wedges, one a side."""
    outside, inside = polygon(6, apothem_mm), polygon(6, bore_mm)
    return tuple(
        prism_piece([outside[i - 1], outside[i], inside[i], inside[i - 1]], bottom_mm, top_mm) for i in range(6)
    )
