"""What may shade worlds: lists of the triangles that are there, and bodies at their places."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scenegen.geometry import Pose
from scenegen.imaging.blockers import Micropolygons, Trays, blockers_of, placed
from scenegen.imaging.scatter import scatter_max

NOWHERE = Trays(*[(np.empty(0, np.float32),) * 3] * 4)
LIKE = np.zeros(1, np.float32)
THREE = Micropolygons(
    corners=((np.zeros(6, np.float32),) * 3,) * 3, starts=(0, 2, 3, 6), edge_m=1e-3, reach_m=(0.1, 0.2, 0.3)
)
"""Bodies of two, one and three triangles."""


def _listed(bodies, present, xp=np, like=LIKE):
    return blockers_of(THREE, NOWHERE, np.array(bodies), np.array(present), like=like, xp=xp)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=5), st.integers(1, 4), st.randoms())
def test_the_triangles_of_what_is_there_are_listed_world_by_world(bodies, worlds, random):
    present = [[random.random() < 0.6 for _ in bodies] for _ in range(worlds)]
    expected = [
        (triangle, world * len(bodies) + item)
        for world in range(worlds)
        for item, body in enumerate(bodies)
        if present[world][item]
        for triangle in range(THREE.starts[body], THREE.starts[body + 1])
    ]
    for found in (_listed(bodies, present), _listed(bodies, present, torch, torch.zeros(1))):
        assert list(zip(found.triangle.tolist(), found.body.tolist(), strict=True)) == expected


def test_what_is_not_there_reaches_nowhere():
    found = _listed([2, 0], [[True, False], [False, True]])
    assert found.reach_m.dtype == np.float32
    assert found.reach_m.tolist() == [[pytest.approx(0.3), -np.inf], [-np.inf, pytest.approx(0.1)]]


@given(arrays(np.float64, 3, elements=st.floats(-2, 2)), arrays(np.float64, 4, elements=st.floats(0.1, 1)))
def test_bodies_stand_where_their_poses_say(position, quat):
    pose = Pose.of(position, quat)
    found = placed(pose.position[None, None], pose.quat[None, None])
    point = np.array([0.3, -0.2, 0.1])
    there = [
        found.position[axis] + sum(point[k] * found.axes[k][axis] for k in range(3))  # one row of the pose
        for axis in range(3)
    ]
    assert np.concatenate(there).ravel() == pytest.approx(pose.apply(point))


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0, 9, width=32)), max_size=30))
def test_the_greatest_value_of_each_place_is_kept(pairs):
    expected = [max([0.0, *(value for place, value in pairs if place == wanted)]) for wanted in range(5)]
    values = np.array([value for _, value in pairs], np.float32)
    places = np.array([place for place, _ in pairs], np.int64)
    assert scatter_max(values, places, 5, xp=np).tolist() == expected
    assert scatter_max(torch.from_numpy(values), torch.from_numpy(places), 5, xp=torch).tolist() == expected
