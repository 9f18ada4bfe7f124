"""Kinematics of the two built-in arms, against poses that their makers publish."""

import numpy as np
import pytest

from scenegen.cells.loader import load_cell
from scenegen.robot import Arm


def joint_frame(arm, joints):
    return arm.pose_flange_to_world(joints)


def test_panda_stretched_up_stands_as_its_link_lengths_say():
    cell = load_cell("fasteners")
    pose = joint_frame(Arm(cell.robot), np.zeros(7))
    # All joints at zero: 0.333 + 0.316 + 0.384 m up the column, the wrist 0.088 m forward; the base stands 5 mm high.
    np.testing.assert_allclose(pose.position_m, (0.088, 0.0, 0.333 + 0.316 + 0.384 + 0.005), atol=1e-6)
    np.testing.assert_allclose(pose.rotation[:, 2], (0, 0, -1), atol=1e-6)


def test_ur5_stretched_out_stands_as_its_link_lengths_say():
    cell = load_cell("rings")
    pose = joint_frame(Arm(cell.robot), np.zeros(6))
    # All joints at zero: the arm lies along -X of its base, which is turned by half a turn here.
    np.testing.assert_allclose(pose.position_m, (0.81725, 0.10915 + 0.0823, 0.089159 - 0.09465), atol=1e-5)


@pytest.mark.parametrize("name", ["fasteners", "rings"])
def test_the_start_pose_points_down_above_the_feed(name):
    cell = load_cell(name)
    arm = Arm(cell.robot)
    tcp = arm.pose_flange_to_world(cell.robot.start_joints_rad).after(cell.robot.pose_tcp_to_flange)
    np.testing.assert_allclose(tcp.rotation[:, 2], (0, 0, -1), atol=1e-3)
    assert tcp.position_m[2] > 0.2


@pytest.mark.parametrize("name", ["fasteners", "rings"])
def test_feed_and_bins_are_within_reach_and_far_points_are_not(name):
    cell = load_cell(name)
    arm = Arm(cell.robot)
    centres = [box.pose_to_world.position + np.array([0, 0, 0.02]) for box in cell.containers.values()]
    assert arm.reaches_top_down(centres).all()
    assert not arm.reaches_top_down([(1.5, 0, 0.1), (0.0, 0.02, 0.02), (0.5, 0, -0.9)]).any()
