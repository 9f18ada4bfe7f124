"""A view for people of a robot at work: hand, feed and bins, from the side and above."""

from __future__ import annotations

import numpy as np

from scenegen.cell import Cell
from scenegen.geometry import Array, look_at
from scenegen.imaging.pinhole import project
from scenegen.imaging.ray_shape import container_boxes
from scenegen.nominal import nominal_fixtures
from scenegen.robot import Arm
from scenegen.scenario import Camera

SIZE_PX = (640, 480)
"""Width and height."""
_FROM = np.array([1.0, -0.75, 0.7])
"""Direction to the eye, as seen from the robot: from before it and a little from its right."""
_AWAY = 1.6
"""How far the eye is, in sizes of what it sees."""
_FILLED = 0.94
"""Share of the image that it takes up."""


def presentation(cell: Cell) -> Camera:
    """Return a camera that just holds feed, bins, the robot's base and its tool at the start.

    Args:
        cell: The cell.
    """
    points = _points(cell)
    low, high = points.min(axis=0), points.max(axis=0)
    middle, size = (low + high) / 2, float(np.linalg.norm(high - low))
    width, height = SIZE_PX
    toward = cell.robot.pose_base_to_world.rotation @ _FROM / np.linalg.norm(_FROM)
    camera = Camera(
        name="presentation",
        pose_to_world=look_at(middle + _AWAY * size * toward, middle),
        width_px=width,
        height_px=height,
        focal_px=(1.0, 1.0),
        principal_px=(0.0, 0.0),
        distortion=(0.0, 0.0, 0.0, 0.0, 0.0),
    )
    seen = project(camera, points)
    first, last = seen.min(axis=0), seen.max(axis=0)
    focal = _FILLED * float((np.array(SIZE_PX) / (last - first)).min())
    column, row = (np.array(SIZE_PX) / 2 - focal * (first + last) / 2).tolist()
    return camera.replaced(focal_px=(focal, focal), principal_px=(column, row))


def _points(cell: Cell) -> Array:
    """Corners of feed and bins, the base, and the tool at its start, world frame, shape [n, 3]."""
    corners = [
        fixture.pose_to_world.apply(container_boxes(cell.containers[fixture.name])).reshape(-1, 3)
        for fixture in nominal_fixtures(cell)
    ]
    tool, _ = Arm(cell.robot).tcp([cell.robot.start_joints_rad])
    return np.concatenate([*corners, cell.robot.pose_base_to_world.position[None], tool])
