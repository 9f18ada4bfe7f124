"""Plain washers, normal series (ISO 7089)."""

from __future__ import annotations

from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.material import ZINC
from scenegen.parts.pieces import ring_pieces
from scenegen.parts.solid import turned


def draw_flat_washer(size: Size) -> Drawing:
    """Draw a washer between z = 0 and its thickness."""
    bore, outer, height = size["bore"] / 2, size["outer_diameter"] / 2, size["thickness"]
    edge = 0.1 * height
    profile = [
        (bore, 0),
        (outer - edge, 0),
        (outer, edge),
        (outer, height - edge),
        (outer - edge, height),
        (bore, height),
    ]
    return Drawing(solid=turned(profile), pieces=ring_pieces(bore, outer, 0, height))


def _row(bore: float, outer_diameter: float, thickness: float) -> Size:
    return {"bore": bore, "outer_diameter": outer_diameter, "thickness": thickness}


FLAT_WASHER = Family(
    name="flat_washer",
    label="flat_washer",
    standard="ISO 7089",
    material=ZINC,
    sizes={
        "flat_washer_m5": _row(5.3, 10, 1),
        "flat_washer_m6": _row(6.4, 12, 1.6),
        "flat_washer_m8": _row(8.4, 16, 1.6),
        "flat_washer_m10": _row(10.5, 20, 2),
    },
    draw=draw_flat_washer,
)
