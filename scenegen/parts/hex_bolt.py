"""Hexagon head bolts, thread up to the head (ISO 4017)."""

from __future__ import annotations

from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.material import ZINC
from scenegen.parts.pieces import prism_piece, round_piece
from scenegen.parts.solid import polygon, prism, turned
from scenegen.parts.thread import threaded_rod


def draw_hex_bolt(size: Size) -> Drawing:
    """Draw a bolt: the head's underside lies in z = 0, the head points up."""
    height, apothem, length = size["head_height"], size["across_flats"] / 2, size["length"]
    corner = apothem * 1.1547
    drop = (corner - 0.95 * apothem) * 0.5774  # a 30 degree chamfer from a circle of 0.95 s
    crown = turned(
        [(0, -0.1), (corner + 0.1, -0.1), (corner + 0.1, height - drop - 0.0577), (0.95 * apothem, height), (0, height)]
    )
    head = prism(polygon(6, apothem), 0, height) ^ crown
    rod = threaded_rod(size["thread"], size["pitch"], -length, 0.01)
    pieces = (
        prism_piece(polygon(6, apothem), 0, height),
        round_piece(size["thread"] / 2, -length, 0),
    )
    return Drawing(solid=head + rod, pieces=pieces)


def _row(thread: float, pitch: float, length: float, across_flats: float, head_height: float) -> Size:
    return {
        "thread": thread,
        "pitch": pitch,
        "length": length,
        "across_flats": across_flats,
        "head_height": head_height,
    }


HEX_BOLT = Family(
    name="hex_bolt",
    label="hex_bolt",
    standard="ISO 4017",
    material=ZINC,
    sizes={
        "hex_bolt_m5x16": _row(5, 0.8, 16, 8, 3.5),
        "hex_bolt_m6x16": _row(6, 1.0, 16, 10, 4),
        "hex_bolt_m6x20": _row(6, 1.0, 20, 10, 4),
        "hex_bolt_m8x20": _row(8, 1.25, 20, 13, 5.3),
        "hex_bolt_m8x25": _row(8, 1.25, 25, 13, 5.3),
    },
    draw=draw_hex_bolt,
)
