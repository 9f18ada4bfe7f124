"""A work glove left behind: flat, five fingers and a cuff."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from manifold3d import Manifold, OpType

from scenegen.geometry import Array
from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.material import FABRIC
from scenegen.parts.pieces import prism_piece
from scenegen.parts.solid import circle, convex_outline

FLATNESS = 0.38
"""Height of the glove over the width of what fills it."""
LOBES = (
    ((-18, -20, 11), (18, -20, 11), (20, 14, 11), (-20, 14, 11)),  # palm
    ((-20, 22, 8), (-28, 56, 6.5)),  # little finger
    ((-7, 26, 8), (-10, 68, 7)),
    ((7, 26, 8), (8, 72, 7)),
    ((19, 22, 8), (26, 62, 7)),  # index finger
    ((22, -14, 9), (46, 14, 7.5)),  # thumb
    ((-24, -42, 6), (24, -42, 6), (20, -28, 7), (-20, -28, 7)),  # cuff
)
"""Round lobes by the points they span: (x, y, radius) for a glove 125 mm long [mm]."""
DRAWN_LENGTH = 127.0


def draw_glove(size: Size) -> Drawing:
    """Draw a glove in the plane z = 0, fingers along +Y."""
    scale = size["length"] / DRAWN_LENGTH
    lobes = [[(x * scale, y * scale, r * scale) for x, y, r in lobe] for lobe in LOBES]
    solid = Manifold.batch_boolean([_lobe(lobe) for lobe in lobes], OpType.Add)
    return Drawing(solid=solid, pieces=tuple(_piece(lobe) for lobe in lobes))


def _lobe(balls: Sequence[tuple[float, float, float]]) -> Manifold:
    spheres = [Manifold.sphere(r, 12).translate([x, y, 0.0]) for x, y, r in balls]
    return Manifold.batch_hull(spheres).scale([1.0, 1.0, FLATNESS])


def _piece(balls: Sequence[tuple[float, float, float]]) -> Array:
    rims = np.concatenate([circle(r, center_mm=(x, y), segments=8) for x, y, r in balls])
    height = FLATNESS * max(r for _, _, r in balls)
    return prism_piece(convex_outline(rims), -height, height)


GLOVE = Family(
    name="glove",
    label="glove",
    standard="own drawing",
    material=FABRIC,
    sizes={"glove": {"length": 120}},
    draw=draw_glove,
)
