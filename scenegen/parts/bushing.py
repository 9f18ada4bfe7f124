"""Plain cylindrical bushings of copper alloy (ISO 4379, form C; formerly DIN 1850-1), one with a thin wall (8 x 11)."""

from __future__ import annotations

from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.material import BRONZE
from scenegen.parts.pieces import ring_pieces
from scenegen.parts.solid import turned


def draw_bushing(size: Size) -> Drawing:
    """Draw a bushing, centred, its axis along Z; the ends are chamfered by 45 degrees."""
    bore, outer, half, edge = size["bore"] / 2, size["outer_diameter"] / 2, size["length"] / 2, size["chamfer"]
    upper = [(outer, half - edge), (outer - edge, half), (bore + edge, half), (bore, half - edge)]
    solid = turned([*((r, -z) for r, z in reversed(upper)), *upper])
    return Drawing(solid=solid, pieces=ring_pieces(bore, outer, -half, half))


def _row(bore: float, outer_diameter: float, length: float, chamfer: float) -> Size:
    return {"bore": bore, "outer_diameter": outer_diameter, "length": length, "chamfer": chamfer}


BUSHING = Family(
    name="bushing",
    label="bushing",
    standard="ISO 4379, wall of 8 x 11 by own drawing",
    material=BRONZE,
    sizes={
        "bushing_8x11x10": _row(8, 11, 10, 0.3),
        "bushing_8x12x10": _row(8, 12, 10, 0.5),
        "bushing_10x14x10": _row(10, 14, 10, 0.5),
    },
    draw=draw_bushing,
)
