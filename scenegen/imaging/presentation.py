"""A view for people of a robot at work: hand, feed and bins, from the side and above."""

from __future__ import annotations

import numpy as np

from scenegen.cell import Cell
from scenegen.geometry import Array, look_at
from scenegen.imaging.pinhole import project
from scenegen.imaging.ray_shape import container_boxes
from scenegen.nominal import nominal_fixtures
from scenegen.robot import Arm, Robot
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
    """Return a camera that just holds feed, bins, the robot's base and its whole hand at the start.

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
    """Corners of feed and bins, the base, and of a box about the hand at its start, world frame, shape [n, 3]."""
    corners = [
        fixture.pose_to_world.apply(container_boxes(cell.containers[fixture.name])).reshape(-1, 3)
        for fixture in nominal_fixtures(cell)
    ]
    return np.concatenate([*corners, cell.robot.pose_base_to_world.position[None], _hand(cell.robot)])


def _hand(robot: Robot) -> Array:
    """Corners of a box from the flange to the finger tips, as wide as the open gripper, world frame, shape [8, 3]."""
    gripper, (x, y, tool) = robot.gripper, robot.pose_tcp_to_flange.position.tolist()
    side = gripper.opening_m / 2 + gripper.finger_thickness_m
    sides = [[x + along, y + across] for along in (-side, side) for across in (-side, side)]
    corners = [[*one, height] for one in sides for height in (0.0, tool + gripper.tip_beyond_tcp_m)]
    return Arm(robot).pose_flange_to_world(robot.start_joints_rad).apply(np.array(corners))
