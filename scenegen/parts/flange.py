"""Round flanges with a centring bore and four bolt holes.

Bolt circle, outer and centring diameter are those of ISO 9409-1, the holes of ISO 273 (medium); the thickness is ours.
"""

from __future__ import annotations

import numpy as np

from scenegen.geometry import Array
from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.material import ALUMINIUM
from scenegen.parts.pieces import sector_piece
from scenegen.parts.solid import circle, countersunk_bore, prism, turned

SEGMENTS = 48
EDGE_MM = 0.5


def draw_flange(size: Size) -> Drawing:
    """Draw a flange between z = 0 and its thickness; the first bolt hole lies on +X."""
    outer, bore, height = size["outer_diameter"] / 2, size["bore"] / 2, size["thickness"]
    pitch, hole, count = size["bolt_circle"] / 2, size["bolt_hole"] / 2, round(size["bolts_count"])
    profile = [
        (0, 0),
        (outer - EDGE_MM, 0),
        (outer, EDGE_MM),
        (outer, height - EDGE_MM),
        (outer - EDGE_MM, height),
        (0, height),
    ]
    solid = turned(profile, segments=SEGMENTS) - countersunk_bore(bore, 0, height, EDGE_MM)
    for angle in np.arange(count) * 2 * np.pi / count:
        center = (pitch * np.cos(angle), pitch * np.sin(angle))
        solid = solid - prism(circle(hole, center_mm=center, segments=16), -1, height + 1)
    pieces = [piece for index in range(count) for piece in _pieces_at(size, index * 2 * np.pi / count)]
    return Drawing(solid=solid, pieces=tuple(pieces))


def _pieces_at(size: Size, angle_rad: float) -> tuple[Array, ...]:
    """Two pieces inside and outside of the bolt hole at that angle, and two up to the next hole."""
    outer, bore, heights = size["outer_diameter"] / 2, size["bore"] / 2, (0.0, size["thickness"])
    pitch, hole = size["bolt_circle"] / 2, size["bolt_hole"] / 2
    half = float(np.arcsin(hole / pitch))
    start, end = angle_rad - half, angle_rad + half
    following = angle_rad + 2 * np.pi / size["bolts_count"] - half
    middle = (end + following) / 2
    return (
        sector_piece(bore, (pitch - hole) * np.cos(half / 2), start, end, heights),
        sector_piece(pitch + hole, outer, start, end, heights),
        sector_piece(bore, outer, end, middle, heights),
        sector_piece(bore, outer, middle, following, heights),
    )


def _row(bolt_circle: float, outer_diameter: float, bore: float, bolt_hole: float, thickness: float) -> Size:
    return {
        "bolt_circle": bolt_circle,
        "outer_diameter": outer_diameter,
        "bore": bore,
        "bolt_hole": bolt_hole,
        "thickness": thickness,
        "bolts_count": 4,
    }


FLANGE = Family(
    name="flange",
    label="flange",
    standard="ISO 9409-1",
    material=ALUMINIUM,
    sizes={
        "flange_31_5_4_m5": _row(31.5, 40, 20, 5.5, 6),
        "flange_40_4_m6": _row(40, 50, 25, 6.6, 6),
        "flange_50_4_m6": _row(50, 63, 31.5, 6.6, 6),
    },
    draw=draw_flange,
)
