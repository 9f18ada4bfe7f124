"""Poses of flanges on a device are those of the robot's kinematics."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra isaac")

from evaluator.isaac.flange import after, flange_pose, placed  # noqa: E402
from scenegen.geometry import Pose, angle_between  # noqa: E402
from scenegen.robot import Arm  # noqa: E402
from scenegen.streams import stream  # noqa: E402


def test_flanges_are_where_the_kinematics_have_them(cell, rings):
    for robot in (cell.robot, rings.robot):
        lower, upper = ([getattr(j, side) for j in robot.joints] for side in ("lower_rad", "upper_rad"))
        joints = stream("flange").uniform(lower, upper, (20, len(robot.joints)))
        position, quat = flange_pose(robot, torch.as_tensor(joints))
        for row, angles in enumerate(joints):
            wanted = Arm(robot).pose_flange_to_world(angles)
            assert position[row].numpy() == pytest.approx(wanted.position, abs=1e-6)
            assert float(angle_between(quat[row].numpy(), wanted.quat)) < 1e-6


def test_poses_compose_as_single_ones_do():
    rng = stream("flange", "compose")
    outer, inner = ([Pose.of(*np.split(row, [3])) for row in rng.normal(size=(6, 7))] for _ in range(2))
    like = torch.zeros(1, dtype=torch.float64)
    position, quat = after(placed(outer, like=like), placed(inner, like=like))
    for row, (a, b) in enumerate(zip(outer, inner, strict=True)):
        assert position[row].numpy() == pytest.approx(a.after(b).position, abs=1e-6)
        assert float(angle_between(quat[row].numpy(), a.after(b).quat)) < 1e-6
