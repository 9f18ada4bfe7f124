"""Retaining rings for shafts (DIN 471) and for bores (DIN 472), in their relaxed state."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from scenegen.geometry import Array
from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.material import SPRING_STEEL
from scenegen.parts.pieces import prism_piece
from scenegen.parts.solid import circle, flat

SEGMENTS = 40
BAND_PIECES = 7
SLIM = 0.6
"""Width of the band beside the lugs, as a share of its width opposite to them."""


def draw_shaft_ring(size: Size) -> Drawing:
    """Draw a ring with lugs outside, between z = 0 and its thickness; the gap is at +X."""
    return _draw(size, inner=size["free_diameter"] / 2, outwards=True)


def draw_bore_ring(size: Size) -> Drawing:
    """Draw a ring with lugs inside, between z = 0 and its thickness; the gap is at +X."""
    return _draw(size, inner=size["free_diameter"] / 2, outwards=False)


def _draw(size: Size, *, inner: float, outwards: bool) -> Drawing:
    """Draw the band between a centred and an eccentric circle, the two lugs at the gap and their plier holes.

    Args:
        size: The row of the size table.
        inner: Radius of the circle that touches shaft or bore [mm].
        outwards: Lugs and band lie outside of that circle (else inside).
    """
    side, band, lug, height = (1 if outwards else -1), size["band"], size["lug"], size["thickness"]
    lean = band * (1 - SLIM) / 2
    other, shift = inner + side * band * (1 + SLIM) / 2, -side * lean
    center = inner + side * lug / 2
    turn = (0.5 * size["gap"] + lug / 2) / center
    lugs = [(center * np.cos(turn), s * center * np.sin(turn)) for s in (1, -1)]
    fixed, moved = circle(inner, segments=SEGMENTS), circle(other, center_mm=(shift, 0), segments=SEGMENTS)
    outline = flat(moved if outwards else fixed) - flat(fixed if outwards else moved)
    opening = np.array([(0, 0), (4 * inner, -4 * inner * np.tan(turn)), (4 * inner, 4 * inner * np.tan(turn))])
    outline = outline - flat(opening)
    for x, y in lugs:
        eye = flat(circle(lug / 2, center_mm=(x, y), segments=16))
        outline = outline + eye
    for x, y in lugs:
        outline = outline - flat(circle(size["plier_hole"] / 2, center_mm=(x, y), segments=12))
    pieces = [prism_piece(outline_of, 0, height) for outline_of in _band(inner, (other, shift), turn, outwards)]
    pieces += [prism_piece(circle(lug / 2 * 1.04, center_mm=xy, segments=8), 0, height) for xy in lugs]
    return Drawing(solid=outline.extrude(height), pieces=tuple(pieces))


def _band(inner: float, eccentric: tuple[float, float], start_rad: float, outwards: bool) -> list[Array]:
    """Cut the band into convex outlines, shape [5, 2] each, from one lug round to the other."""
    radius, shift = eccentric
    edges = np.linspace(start_rad, 2 * np.pi - start_rad, BAND_PIECES + 1)
    half = (edges[1] - edges[0]) / 2
    outlines = []
    for first, last in pairwise(edges):
        three = np.array([first, (first + last) / 2, last])
        rays = np.column_stack([np.cos(three), np.sin(three)])
        along = shift * rays[:, 0] + np.sqrt(radius**2 - (shift * rays[:, 1]) ** 2)
        outer, hole = (along, inner) if outwards else (np.full(3, inner), along[[0, 2]].min())
        rim = rays * (outer / np.cos(half / 2))[:, None]
        outlines.append(np.concatenate([rim, rays[[2, 0]] * hole / np.cos(half)]))
    return outlines


def _row(for_diameter: float, free_diameter: float, thickness: float, lug: float, band: float) -> Size:
    return {
        "for_diameter": for_diameter,
        "free_diameter": free_diameter,
        "thickness": thickness,
        "lug": lug,
        "band": band,
        "plier_hole": 1.7 if for_diameter > 10 else 1.5,
        "gap": 1.6,
    }


SHAFT_RING = Family(
    name="retaining_ring",
    label="retaining_ring",
    standard="DIN 471",
    material=SPRING_STEEL,
    sizes={
        "retaining_ring_10": _row(10, 9.3, 1, 3.3, 1.8),
        "retaining_ring_12": _row(12, 11, 1, 3.3, 1.8),
        "retaining_ring_15": _row(15, 13.8, 1, 3.6, 2.2),
        "retaining_ring_20": {**_row(20, 18.5, 1.2, 4.0, 2.6), "plier_hole": 2.0},
    },
    draw=draw_shaft_ring,
)

BORE_RING = Family(
    name="retaining_ring_bore",
    label="retaining_ring",
    standard="DIN 472",
    material=SPRING_STEEL,
    sizes={"retaining_ring_bore_22": {**_row(22, 23.5, 1, 4.2, 2.5), "plier_hole": 2.0, "gap": 5}},
    draw=draw_bore_ring,
)
