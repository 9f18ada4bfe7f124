"""Parallel pins (ISO 2338)."""

from __future__ import annotations

from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.material import STEEL
from scenegen.parts.pieces import round_piece
from scenegen.parts.solid import turned

CHAMFER_SLOPE = 0.2679
"""The end chamfer is 15 degrees: it takes this much off the radius a millimetre of length."""


def draw_dowel_pin(size: Size) -> Drawing:
    """Draw a pin along Z, centred, with chamfered ends."""
    radius, half, chamfer = size["diameter"] / 2, size["length"] / 2, size["chamfer"]
    tip = radius - CHAMFER_SLOPE * chamfer
    profile = [(0, -half), (tip, -half), (radius, chamfer - half), (radius, half - chamfer), (tip, half), (0, half)]
    return Drawing(solid=turned(profile), pieces=(round_piece(radius, -half, half),))


def _row(diameter: float, length: float, chamfer: float) -> Size:
    return {"diameter": diameter, "length": length, "chamfer": chamfer}


DOWEL_PIN = Family(
    name="dowel_pin",
    label="dowel_pin",
    standard="ISO 2338",
    material=STEEL,
    sizes={
        "dowel_pin_5x20": _row(5, 20, 0.8),
        "dowel_pin_6x20": _row(6, 20, 1.2),
        "dowel_pin_8x20": _row(8, 20, 1.6),
    },
    draw=draw_dowel_pin,
)
