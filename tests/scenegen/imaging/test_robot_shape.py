"""A robot in a posture is seen, hides what lies behind it and casts shadows; without a posture it is not there."""

import numpy as np
import pytest

from scenegen.geometry import Pose
from scenegen.imaging.renderer import Renderer
from scenegen.imaging.robot_body import Link, RobotBody
from scenegen.imaging.robot_shape import Posture, RobotShape

SIDE_M = 0.06
OVER_FEED = Posture((0.0,))
ASIDE = Posture((1.0,))
LINK = "robot/arm"


def _box():
    """Twelve triangles of a cube, with flat normals that point out, shapes [12, 3, 3]."""
    triangles, normals = [], []
    for axis in range(3):
        first, second = (axis + 1) % 3, (axis + 2) % 3
        for sign in (-1.0, 1.0):
            for half in (((-1, -1), (1, -1), (1, 1)), ((-1, -1), (1, 1), (-1, 1))):
                corners = np.zeros((3, 3))
                corners[:, axis] = sign
                corners[:, [first, second]] = half
                triangles.append(corners * SIDE_M / 2)
                normals.append(np.tile(sign * np.eye(3)[axis], (3, 1)))
    return np.array(triangles), np.array(normals)


@pytest.fixture(scope="module")
def renderer(cell, catalogue):
    """Its robot is a cube over the feed that slides sideways."""
    triangles, normals = _box()
    over = Pose.of(cell.feed.pose_to_world.apply((0.0, 0.0, 0.15)))
    link = Link("arm", triangles, normals, None, Pose.of((0, 0, 0)), Pose.of((0, 0, 0)), "slide", np.eye(3)[1], True)
    robot = RobotShape(RobotBody((link,)), arm=["slide"], fingers=[], travel_m=0.0, root=over)
    return Renderer(cell, catalogue, robot=robot)


def test_a_robot_is_seen_and_hides_what_lies_behind_it(renderer, base_scenario):
    bare = renderer.gbuffer(base_scenario, "overhead")
    found = renderer.gbuffer(base_scenario, "overhead", OVER_FEED)
    items = len(base_scenario.layout.items)
    assert found.names == (*bare.names[:items], LINK, *bare.names[items:])
    robot = found.instance[0] == items
    assert robot.sum() == found.alone[0, items] > 100
    np.testing.assert_array_equal(np.delete(found.alone, items, axis=1), bare.alone)
    assert (found.depth[0, robot] < bare.depth[0, robot]).all()
    assert (found.self_open[0, robot] == 1).all()
    names = [np.array([*one.names, "nothing"])[one.instance[0]] for one in (found, bare)]
    np.testing.assert_array_equal(names[0][~robot], names[1][~robot])
    for ours, theirs in zip((*found.normal, *found.position), (*bare.normal, *bare.position), strict=True):
        np.testing.assert_array_equal(ours[0, ~robot], theirs[0, ~robot])


def test_a_robot_casts_shadows_where_it_stands_now(renderer, base_scenario):
    bare = renderer.radiance(base_scenario, "overhead")
    found = renderer.radiance(base_scenario, "overhead", OVER_FEED)
    shown = renderer.gbuffer(base_scenario, "overhead", OVER_FEED).instance[0].reshape(bare.shape[:2])
    share = (found / bare).sum(axis=2)[shown != len(base_scenario.layout.items)] / 3
    assert (share < 0.9).mean() > 0.2
    assert np.median(share) < 1
    aside = renderer.radiance(base_scenario, "overhead", ASIDE)
    np.testing.assert_allclose(aside, bare, rtol=1e-5)


def test_without_a_posture_pictures_are_those_without_a_robot(cell, catalogue, renderer, base_scenario):
    renderer.radiance(base_scenario, "overhead", OVER_FEED)
    bare = renderer.radiance(base_scenario, "overhead")
    assert bare.tobytes() == Renderer(cell, catalogue).radiance(base_scenario, "overhead").tobytes()
