"""What the prims of a world are called, and where absent parts float."""

from __future__ import annotations

from scenegen.cell import Cell
from scenegen.geometry import Pose

PARKING = (0.3, -5.0)
"""Absent parts float this far apart along X [m] at this height [m], each at its own place: two at one place explode."""
CAMERA = "camera_"
"""How prims of cameras begin."""
FIXED = "Fixed_"
"""How prims of fixtures begin."""
SLOT = "Slot_"
"""How prims of slots begin."""

Box = tuple[str, tuple[float, float, float]]
"""Fixture that a box belongs to, and the box's centre in the fixture's frame [m]."""


def fixed_boxes(cell: Cell) -> dict[str, Box]:
    """Return the boxes that move with a fixture, by prim name."""
    return {
        f"{FIXED}{fixture}_{box}": (fixture, center)
        for fixture, container in cell.containers.items()
        for box, (_, center) in container.boxes().items()
    }


def slot_prim(index: int) -> str:
    """Return the prim name of a slot, by its place in the inventory."""
    return f"{SLOT}{index:02d}"


def parking_pose(index: int) -> Pose:
    """Return where an absent part of a slot floats."""
    return Pose.of((PARKING[0] * index, 0.0, PARKING[1]))
