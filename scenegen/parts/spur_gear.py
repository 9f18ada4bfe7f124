"""Spur gears with involute teeth of the basic rack of ISO 53 (20 degrees, addendum 1 m, dedendum 1.25 m)."""

from __future__ import annotations

import numpy as np

from scenegen.geometry import Array
from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.material import STEEL
from scenegen.parts.pieces import ring_pieces
from scenegen.parts.solid import countersunk_bore, prism, turned

FLANK_POINTS = 4


def draw_spur_gear(size: Size) -> Drawing:
    """Draw a gear between z = 0 and its width, a recess in each face between hub and rim."""
    module, teeth, width, bore = size["module"], size["teeth_count"], size["width"], size["bore"] / 2
    root, hub, depth = module * (teeth / 2 - 1.25), bore + 2.2 * module, 0.15 * width
    rim = root - 1.3 * module
    over = 1.0
    recess = turned([(hub, 0), (rim, 0), (rim, depth + over), (hub, depth + over)])
    solid = prism(tooth_outline(module, round(teeth), size["pressure_angle_deg"]), 0, width)
    solid = solid - countersunk_bore(bore, 0, width, 0.4)
    solid = solid - recess.translate([0, 0, width - depth]) - recess.translate([0, 0, -over])
    return Drawing(solid=solid, pieces=ring_pieces(bore, module * (teeth / 2 + 1), 0, width))


def tooth_outline(module_mm: float, teeth: int, pressure_angle_deg: float) -> Array:
    """Outline of an involute gear [mm], counter-clockwise, shape [n, 2]; one tooth points along +X.

    A flank at radius r is seen from the tooth's middle under the angle π / 2z + inv α - inv α(r), where cos α(r) is the
    base radius over r and inv α = tan α - α (ISO 21771).
    """
    alpha = np.deg2rad(pressure_angle_deg)
    pitch = module_mm * teeth / 2
    base, tip, root = pitch * np.cos(alpha), pitch + module_mm, pitch - 1.25 * module_mm
    radii = np.linspace(max(base, root), tip, FLANK_POINTS)
    local = np.arccos(base / radii)
    flank = np.pi / (2 * teeth) + (np.tan(alpha) - alpha) - (np.tan(local) - local)
    radii, flank = np.concatenate([[root], radii]), np.concatenate([flank[:1], flank])
    angles, distances = np.concatenate([-flank, flank[::-1]]), np.concatenate([radii, radii[::-1]])
    turns = np.arange(teeth)[:, None] * 2 * np.pi / teeth + angles
    return np.column_stack([(distances * np.cos(turns)).ravel(), (distances * np.sin(turns)).ravel()])


def _row(teeth: float, module: float, width: float, bore: float) -> Size:
    return {"teeth_count": teeth, "module": module, "width": width, "bore": bore, "pressure_angle_deg": 20}


SPUR_GEAR = Family(
    name="spur_gear",
    label="spur_gear",
    standard="ISO 53",
    material=STEEL,
    sizes={"spur_gear_z20_m1": _row(20, 1, 8, 6), "spur_gear_z24_m1": _row(24, 1, 8, 6)},
    draw=draw_spur_gear,
)
