"""The view for people holds what matters of both cells."""

import numpy as np

from scenegen.imaging.pinhole import project
from scenegen.imaging.presentation import presentation
from scenegen.imaging.ray_shape import container_boxes
from scenegen.nominal import nominal_fixtures
from scenegen.robot import Arm


def test_feed_bins_base_and_tool_are_in_view(cell, rings):
    for one in (cell, rings):
        camera = presentation(one)
        tool, _ = Arm(one.robot).tcp([one.robot.start_joints_rad])
        points = [one.robot.pose_base_to_world.position[None], tool]
        points += [
            fixture.pose_to_world.apply(container_boxes(one.containers[fixture.name])).reshape(-1, 3)
            for fixture in nominal_fixtures(one)
        ]
        seen = project(camera, np.concatenate(points))
        assert (seen >= 0).all()
        assert (seen <= [camera.width_px, camera.height_px]).all()
        span = (seen.max(axis=0) - seen.min(axis=0)) / [camera.width_px, camera.height_px]
        assert span.max() > 0.9
