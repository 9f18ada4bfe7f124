"""A cell's robot, ready to be drawn on the processor."""

from __future__ import annotations

import importlib
from pathlib import Path

from scenegen.cell import Cell
from scenegen.imaging.robot_shape import RobotShape
from scenegen.usd.robot_links import robot_body


def robot_picture(cell: Cell, own: Path | None = None) -> RobotShape | None:
    """Return what the robot looks like; None where the extra `isaac`, which brings robots, is not installed.

    Args:
        cell: The cell.
        own: The robot's own USD file, if the cell names one.

    Raises:
        UnknownName: The robot is not known, and it names no USD file of its own.
        UnreadableStage: Its file is none, or moves otherwise than the cell's robot.
    """
    try:
        assets = importlib.import_module("evaluator.isaac.robot_asset")
    except ModuleNotFoundError:
        return None
    asset = assets.robot_asset(cell.robot, own)
    return RobotShape(
        robot_body(asset.usd),
        arm=asset.joints.arm,
        fingers=asset.joints.fingers,
        travel_m=cell.robot.gripper.opening_m / 2,
        root=asset.pose_root_to_world,
    )
