"""Sheet-metal angle brackets in a left and a right hand: mirror images that a glance does not tell apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from manifold3d import Manifold
from shapely import LineString

from scenegen.geometry import Array
from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.material import ALUMINIUM
from scenegen.parts.pieces import block_piece
from scenegen.parts.solid import circle, prism


def draw_l_bracket(size: Size) -> Drawing:
    """Draw a bracket: the bend along X, the foot along +Y, the wall along +Z.

    The right hand has the wall's hole and its cut corner at +X; the left hand is its mirror image.
    """
    foot, wall, half, sheet = size["foot_length"], size["wall_height"], size["width"] / 2, size["sheet"]
    hole, offset, cut, sign = size["hole"] / 2, size["hole_offset"], size["corner_cut"], size["hand_sign"]
    mid = sheet / 2
    bend = LineString([(foot, mid), (mid, mid), (mid, wall)]).buffer(mid, cap_style="flat", join_style="round")
    outline = np.array(bend.exterior.coords)[:-1]
    # The outline is drawn in (Y, Z); extruded along Z it is turned so that its height runs along X.
    body = prism(outline[::-1], -half, half).transform(_UPRIGHT)
    slot_y, hole_z = (foot + sheet) / 2, (wall + sheet) * 0.55
    slot = LineString([(0, slot_y - hole), (0, slot_y + hole)]).buffer(hole, quad_segs=5)
    body = body - prism(np.array(slot.exterior.coords)[:-1][::-1], -1, sheet + 1)
    body = body - _through_wall(circle(hole, center_mm=(offset, hole_z), segments=20), sheet)
    body = body - _through_wall(np.array([(half - cut, wall), (half + 1, wall - cut - 1), (half + 1, wall + 1)]), sheet)
    pieces = [*_frame((-half, 0), (half, foot), (-hole, slot_y - 2 * hole), (hole, slot_y + 2 * hole))]
    flat = [np.column_stack([p[:, 0], p[:, 1], p[:, 2] * sheet]) for p in pieces]
    upright = _frame((-half, sheet), (half, wall), (offset - hole, hole_z - hole), (offset + hole, hole_z + hole))
    flat += [np.column_stack([p[:, 0], p[:, 2] * sheet, p[:, 1]]) for p in upright]
    mirror = np.array([sign, 1.0, 1.0])
    return Drawing(solid=body if sign > 0 else body.mirror([1, 0, 0]), pieces=tuple(piece * mirror for piece in flat))


_UPRIGHT: Any = np.array([[0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
"""Turns (Y, Z, X) into (X, Y, Z), as a 3 x 4 matrix."""


def _through_wall(outline_xz_mm: Array, sheet_mm: float) -> Manifold:
    """Return the solid to take out of the wall for an outline in (X, Z)."""
    return prism(outline_xz_mm, -1, sheet_mm + 1).rotate([90, 0, 0]).translate([0, sheet_mm, 0])


def _frame(
    low: tuple[float, float], high: tuple[float, float], hole_low: tuple[float, float], hole_high: tuple[float, float]
) -> tuple[Array, ...]:
    """Cut a rectangle with a rectangular hole into four blocks of height one."""
    (x0, y0), (x1, y1), (a0, b0), (a1, b1) = low, high, hole_low, hole_high
    return (
        block_piece((x0, y0, 0), (a0, y1, 1)),
        block_piece((a1, y0, 0), (x1, y1, 1)),
        block_piece((a0, y0, 0), (a1, b0, 1)),
        block_piece((a0, b1, 0), (a1, y1, 1)),
    )


def _row(hand: float) -> Size:
    return {
        "foot_length": 30,
        "wall_height": 24,
        "width": 20,
        "sheet": 2.5,
        "hole": 5.5,
        "hole_offset": 3.5,
        "corner_cut": 5,
        "hand_sign": hand,
    }


L_BRACKET = Family(
    name="l_bracket",
    label="l_bracket",
    standard="own drawing, holes ISO 273",
    material=ALUMINIUM,
    sizes={"l_bracket_left": _row(-1), "l_bracket_right": _row(1)},
    draw=draw_l_bracket,
)
