"""Deep groove ball bearings, open, with their rings and balls in sight (boundary dimensions of ISO 15).

Number and diameter of balls agree with the static load ratings of catalogues (ISO 76: C0 = f0 Z Dw²).
"""

from __future__ import annotations

import numpy as np
from manifold3d import Manifold, OpType

from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.material import CHROME_STEEL
from scenegen.parts.pieces import ring_pieces
from scenegen.parts.solid import turned

SHOULDER = 0.34
"""Distance of a ring's shoulder from the pitch circle, as a share of the ball diameter."""
WEB = 0.12
"""Half height of the cage between the rings, as a share of the ball diameter; it makes one body of the bearing."""


def draw_ball_bearing(size: Size) -> Drawing:
    """Draw a bearing, centred, its axis along Z."""
    bore, outer, half = size["bore"] / 2, size["outer_diameter"] / 2, size["width"] / 2
    ball, edge = size["ball_diameter"], size["chamfer"]
    pitch = (bore + outer) / 2
    low, high, web = pitch - SHOULDER * ball, pitch + SHOULDER * ball, WEB * ball
    upper = [
        (outer, half - edge),
        (outer - edge, half),
        (high, half),
        (high, web),
        (low, web),
        (low, half),
        (bore + edge, half),
        (bore, half - edge),
    ]
    rings = turned([*((r, -z) for r, z in reversed(upper)), *upper])
    angles = np.arange(round(size["balls_count"])) * 2 * np.pi / size["balls_count"]
    sphere = Manifold.sphere(ball / 2, 12)
    balls = [sphere.translate([pitch * np.cos(a), pitch * np.sin(a), 0.0]) for a in angles]
    solid = Manifold.batch_boolean([rings, *balls], OpType.Add)
    return Drawing(solid=solid, pieces=ring_pieces(bore, outer, -half, half))


def _row(bore: float, outer_diameter: float, width: float, ball: tuple[float, int], chamfer: float) -> Size:
    return {
        "bore": bore,
        "outer_diameter": outer_diameter,
        "width": width,
        "ball_diameter": ball[0],
        "balls_count": ball[1],
        "chamfer": chamfer,
    }


BALL_BEARING = Family(
    name="ball_bearing",
    label="ball_bearing",
    standard="ISO 15",
    material=CHROME_STEEL,
    sizes={
        "ball_bearing_608": _row(8, 22, 7, (3.969, 7), 0.3),
        "ball_bearing_6000": _row(10, 26, 8, (4.763, 7), 0.3),
        "ball_bearing_6001": _row(12, 28, 8, (4.763, 8), 0.3),
    },
    draw=draw_ball_bearing,
)
