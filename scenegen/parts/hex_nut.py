"""Hexagon nuts, style 1 (ISO 4032)."""

from __future__ import annotations

from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.material import ZINC
from scenegen.parts.pieces import hexagon_ring_pieces
from scenegen.parts.solid import countersunk_bore, polygon, prism, turned
from scenegen.parts.thread import minor_radius


def draw_hex_nut(size: Size) -> Drawing:
    """Draw a nut between z = 0 and its height."""
    height, apothem = size["height"], size["across_flats"] / 2
    bore, corner = minor_radius(size["thread"], size["pitch"]), apothem * 1.1547
    drop = (corner - 0.95 * apothem) * 0.5774  # a 30 degree chamfer from a circle of 0.95 s
    crown = turned(
        [(0, 0), (0.95 * apothem, 0), (corner, drop), (corner, height - drop), (0.95 * apothem, height), (0, height)]
    )
    chamfer = size["thread"] / 2 - bore
    solid = (prism(polygon(6, apothem), 0, height) ^ crown) - countersunk_bore(bore, 0, height, chamfer)
    return Drawing(solid=solid, pieces=hexagon_ring_pieces(bore, apothem, 0, height))


def _row(thread: float, pitch: float, across_flats: float, height: float) -> Size:
    return {"thread": thread, "pitch": pitch, "across_flats": across_flats, "height": height}


HEX_NUT = Family(
    name="hex_nut",
    label="hex_nut",
    standard="ISO 4032",
    material=ZINC,
    sizes={
        "hex_nut_m5": _row(5, 0.8, 8, 4.7),
        "hex_nut_m6": _row(6, 1.0, 10, 5.2),
        "hex_nut_m8": _row(8, 1.25, 13, 6.8),
        "hex_nut_m10": _row(10, 1.5, 16, 8.4),
    },
    draw=draw_hex_nut,
)
