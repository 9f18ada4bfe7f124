"""Items as arrays agree with their records, one by one."""

import numpy as np
import pytest

from scenegen.geometry import Pose, quat_about, quat_multiply
from scenegen.posed import Posed, hull_corners, leans_rad, stable_heights, stable_ups
from scenegen.scenario import Item


@pytest.fixture(scope="module")
def posed(base_scenario, catalogue):
    return Posed.of(base_scenario.layout.items, catalogue)


def test_corners_are_the_hull_where_the_item_lies(posed, catalogue):
    for index, item in enumerate(posed.items):
        mine = posed.corners[posed.owner == index]
        expected = item.pose_to_world.apply(hull_corners(catalogue[item.part]))
        np.testing.assert_allclose(mine, expected, atol=1e-12)


def test_extremes_are_those_of_all_colliders(posed, catalogue):
    for index, item in enumerate(posed.items):
        every = item.pose_to_world.apply(catalogue[item.part].collision_vertices)
        np.testing.assert_allclose(posed.most(posed.corners)[index], every.max(axis=0), atol=1e-12)
        np.testing.assert_allclose(posed.least(posed.corners)[index], every.min(axis=0), atol=1e-12)


def test_mass_centers(posed, catalogue):
    for item, center in zip(posed.items, posed.mass_centers, strict=True):
        np.testing.assert_allclose(center, item.pose_to_world.apply(catalogue[item.part].mass.center_of_mass_m))


def test_lean_is_the_angle_from_the_nearest_stable_pose(posed, catalogue):
    assert leans_rad(posed).max() < 1e-3
    item = posed.items[0]
    for angle in (0.02, 0.1, 0.2):
        turn = quat_about(np.array([1.0, 0.0, 0.0]), angle)
        pose = Pose.of(item.pose_to_world.position, quat_multiply(turn, item.pose_to_world.quat))
        leaning = Item(name=item.name, part=item.part, zone=item.zone, pose_to_world=pose)
        assert leans_rad(Posed.of([leaning], catalogue))[0] == pytest.approx(angle, abs=2e-3)


def test_stable_poses_as_arrays(catalogue):
    part = catalogue["hex_nut_m8"]
    np.testing.assert_allclose(np.linalg.norm(stable_ups(part), axis=1), 1, atol=1e-9)
    assert stable_heights(part).tolist() == [rest.height_m for rest in part.stable_poses]
