"""The view for people holds what matters of both cells."""

import numpy as np

from scenegen.imaging.pinhole import project
from scenegen.imaging.presentation import presentation
from scenegen.imaging.ray_shape import container_boxes
from scenegen.nominal import nominal_fixtures
from scenegen.robot import Arm


def test_feed_bins_base_and_hand_are_in_view(cell, rings):
    for one in (cell, rings):
        camera = presentation(one)
        arm, joints = Arm(one.robot), one.robot.start_joints_rad
        tool, _ = arm.tcp([joints])
        palm = [[sign * one.robot.gripper.opening_m / 2, 0.0, 0.0] for sign in (-1, 1)]
        points = [one.robot.pose_base_to_world.position[None], tool]
        points.append(arm.pose_flange_to_world(joints).apply(np.array(palm)))
        points += [
            fixture.pose_to_world.apply(container_boxes(one.containers[fixture.name])).reshape(-1, 3)
            for fixture in nominal_fixtures(one)
        ]
        seen = project(camera, np.concatenate(points))
        assert (seen >= 0).all()
        assert (seen <= [camera.width_px, camera.height_px]).all()
        span = (seen.max(axis=0) - seen.min(axis=0)) / [camera.width_px, camera.height_px]
        assert span.max() > 0.9
