"""Where the flanges of many robots are, on the simulator's device: cameras on them are placed by it."""

from __future__ import annotations

import torch

from scenegen.cell import Robot
from scenegen.geometry import Pose

Placement = tuple[torch.Tensor, torch.Tensor]
"""Positions [m], shape [n, 3], and unit quaternions xyzw, shape [n, 4]."""


def flange_pose(robot: Robot, joints_rad: torch.Tensor) -> Placement:
    """Return the pose of the frame after the last joint, world frame; see `Arm.pose_flange_to_world`.

    Args:
        robot: The cell's robot.
        joints_rad: Joint angles, shape [n, joints].
    """
    count, like = len(joints_rad), joints_rad
    found = placed([robot.pose_base_to_world] * count, like=like)
    for index, row in enumerate(robot.joints):
        turn = _about((0.0, 0.0, 1.0), joints_rad[:, index] + row.theta_rad)
        lean = _about((1.0, 0.0, 0.0), torch.full((count,), row.alpha_rad, dtype=like.dtype, device=like.device))
        along = (like.new_tensor([[0.0, 0.0, row.d_m]]).expand(count, 3), turn)
        across = (like.new_tensor([[row.a_m, 0.0, 0.0]]).expand(count, 3), lean)
        # Craig 2005, eq. 3.6, leans first and then turns (modified); Denavit and Hartenberg the other way about.
        first, second = (across, along) if robot.convention == "modified" else (along, across)
        found = after(after(found, first), second)
    return found


def placed(poses: list[Pose], *, like: torch.Tensor) -> Placement:
    """Bring poses to a device."""
    rows = like.new_tensor([(*pose.position_m, *pose.quat_xyzw) for pose in poses])
    return rows[:, :3], rows[:, 3:]


def after(outer: Placement, inner: Placement) -> Placement:
    """Compose: the poses that apply `inner` first, then `outer`."""
    return outer[0] + _rotated(outer[1], inner[0]), _product(outer[1], inner[1])


def _about(axis: tuple[float, float, float], angle: torch.Tensor) -> torch.Tensor:
    half = angle / 2
    return torch.cat([torch.sin(half)[:, None] * half.new_tensor([axis]), torch.cos(half)[:, None]], dim=1)


def _product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    vector = a[:, 3:] * b[:, :3] + b[:, 3:] * a[:, :3] + torch.linalg.cross(a[:, :3], b[:, :3])
    return torch.cat([vector, a[:, 3:] * b[:, 3:] - (a[:, :3] * b[:, :3]).sum(dim=1, keepdim=True)], dim=1)


def _rotated(quat: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
    twice = 2 * torch.linalg.cross(quat[:, :3], vector)
    return vector + quat[:, 3:] * twice + torch.linalg.cross(quat[:, :3], twice)
