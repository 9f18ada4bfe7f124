"""Where the tool must be for the overhead camera to see the feed past the arm."""

from __future__ import annotations

import numpy as np

from evaluator.policies.path import ToolPoint
from evaluator.vision.subject import Subject
from scenegen.cell import Cell
from scenegen.geometry import Array
from scenegen.imaging.pinhole import project
from scenegen.nominal import nominal_cameras, nominal_motion
from scenegen.robot import Arm
from scenegen.scenario import Camera

HAND_M = 0.12
"""How far a hand reaches about the tool's axis [m]."""
TALL_M = 0.25
"""How far a hand reaches above its finger tips [m]."""
ABOVE_BIN_M = 0.1
"""How high above a bin's walls the tool waits [m]."""


def vantage(cell: Cell, subject: Subject) -> ToolPoint:
    """Return where the tool waits while the camera looks: at the robot's start, or else over a bin.

    Args:
        cell: The cell.
        subject: Its view.
    """
    cameras = nominal_cameras(cell, nominal_motion(cell)).cameras
    camera = next(one for one in cameras if one.name == subject.camera.name)
    position, rotation = Arm(cell.robot).tcp(np.array(cell.robot.start_joints_rad)[None])
    home = ToolPoint.open_at(position[0], np.arctan2(rotation[0, 1, 1], rotation[0, 0, 1]))
    if _unseen(camera, position[0]):
        return home
    points = []
    for box in cell.bins:
        pose = box.pose_to_world
        above = pose.position + np.array([0, 0, box.wall_height_m + ABOVE_BIN_M])
        points.append(ToolPoint.open_at(above, np.arctan2(pose.rotation[1, 1], pose.rotation[0, 1])))
    clear = [point for point in points if _unseen(camera, point.numbers[:3])]
    return min(clear or [home], key=lambda point: float(np.linalg.norm(point.numbers[:3] - home.numbers[:3])))


def _unseen(camera: Camera, tool_m: Array) -> bool:
    """Tell whether a hand with its tips at a point, shape [3], is outside the picture."""
    angles = np.arange(16) * np.pi / 8
    ring = HAND_M * np.stack([np.cos(angles), np.sin(angles), np.zeros(16)], axis=1)
    hand = np.concatenate(
        [tool_m + share * ring + np.array([0, 0, rise]) for share in (0, 0.5, 1) for rise in (0, TALL_M)]
    )
    column, row = project(camera, hand).T
    inside = (column >= 0) & (column < camera.width_px) & (row >= 0) & (row < camera.height_px)
    return not inside.any()
