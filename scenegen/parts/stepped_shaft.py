"""Short stepped shafts: a shaft end (DIN 748-1, short series), a collar and a seat with a keyway (DIN 6885-1)."""

from __future__ import annotations

import numpy as np
from manifold3d import Manifold
from shapely import LineString

from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.material import STEEL
from scenegen.parts.pieces import round_piece
from scenegen.parts.solid import prism, turned

EDGE_MM = 0.5


def draw_stepped_shaft(size: Size) -> Drawing:
    """Draw a shaft along Z: the end below z = 0, the collar above it, then the seat; the keyway faces +X."""
    end, collar, seat = size["end_diameter"] / 2, size["collar_diameter"] / 2, size["seat_diameter"] / 2
    bottom, shoulder = -size["end_length"], size["collar_length"]
    top = shoulder + size["seat_length"]
    profile = [
        (0, bottom),
        (end - EDGE_MM, bottom),
        (end, bottom + EDGE_MM),
        (end, 0),
        (collar - EDGE_MM, 0),
        (collar, EDGE_MM),
        (collar, shoulder - EDGE_MM),
        (collar - EDGE_MM, shoulder),
        (seat, shoulder),
        (seat, top - EDGE_MM),
        (seat - EDGE_MM, top),
        (0, top),
    ]
    solid = turned(profile) - _keyway(size, seat, (shoulder + top) / 2)
    pieces = (round_piece(end, bottom, 0), round_piece(collar, 0, shoulder), round_piece(seat, shoulder, top))
    return Drawing(solid=solid, pieces=pieces)


def _keyway(size: Size, seat_mm: float, middle_mm: float) -> Manifold:
    half = (size["keyway_length"] - size["keyway_width"]) / 2
    slot = LineString([(-half, 0), (half, 0)]).buffer(size["keyway_width"] / 2, quad_segs=4)
    outline = np.array(slot.exterior.coords)[:-1][::-1]
    floor = seat_mm - size["keyway_depth"]
    return prism(outline, floor, seat_mm + 1).rotate([0, 90, 0]).translate([0, 0, middle_mm])


def _row(end: tuple[float, float], collar: tuple[float, float], seat: tuple[float, float], keyway: Size) -> Size:
    return {
        "end_diameter": end[0],
        "end_length": end[1],
        "collar_diameter": collar[0],
        "collar_length": collar[1],
        "seat_diameter": seat[0],
        "seat_length": seat[1],
        **keyway,
    }


STEPPED_SHAFT = Family(
    name="stepped_shaft",
    label="stepped_shaft",
    standard="DIN 748-1, DIN 6885-1",
    material=STEEL,
    sizes={
        "stepped_shaft_d10": _row(
            (10, 15), (16, 4), (12, 20), {"keyway_width": 4, "keyway_depth": 2.5, "keyway_length": 14}
        ),
        "stepped_shaft_d12": _row(
            (12, 18), (18, 4), (14, 20), {"keyway_width": 5, "keyway_depth": 3, "keyway_length": 14}
        ),
    },
    draw=draw_stepped_shaft,
)
