"""Resting poses against an independent implementation, and against drops."""

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from scenegen.parts.builtin import builtin_part
from scenegen.parts.mesh import convex_hull
from scenegen.parts.rest import resting_faces, solid_angles, stable_poses


def box(size):
    return np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.asarray(size) / 2


@pytest.mark.parametrize("part_id", ["hex_bolt_m6x20", "l_bracket_left", "stepped_shaft_d10", "chip"])
def test_probabilities_agree_with_trimesh(part_id):
    part = builtin_part(part_id)
    hull = trimesh.Trimesh(*convex_hull(part.collision_vertices), process=False)
    center = np.array(part.mass.center_of_mass_m)
    turns, shares = trimesh.poses.compute_stable_poses(hull, center_mass=center, sigma=0.0, n_samples=1)
    for rest in resting_faces(part.collision_vertices, center):
        if rest.probability < 0.01:
            continue
        same = [share for turn, share in zip(turns, shares, strict=True) if -turn[2, :3] @ rest.normal > 0.99999]
        assert sum(same) == pytest.approx(rest.probability, abs=2e-3)


@given(st.tuples(*[st.floats(0.004, 0.1)] * 3))
def test_a_box_rests_on_opposite_faces_alike(size):
    rests = resting_faces(box(size), np.zeros(3))
    assert sum(rest.probability for rest in rests) == pytest.approx(1)
    assert len(rests) == 6
    shares = {tuple(np.round(rest.normal).astype(int).tolist()): rest.probability for rest in rests}
    for normal, share in shares.items():
        assert shares[tuple(-n for n in normal)] == pytest.approx(share, abs=1e-6)


def test_a_cube_rests_on_each_face_with_the_same_chance():
    poses = stable_poses(box([0.02, 0.02, 0.02]), np.zeros(3))
    assert [pose.probability for pose in poses] == pytest.approx([1 / 6] * 6, abs=1e-6)
    assert [pose.height_m for pose in poses] == pytest.approx([0.01] * 6)


def test_a_face_that_does_not_carry_the_centre_of_mass_is_toppled_off():
    leaning = np.concatenate([box([0.02, 0.02, 0.02]), box([0.02, 0.02, 0.02]) + np.array([0.03, 0.0, 0.02])])
    center = np.array([0.03, 0.0, 0.02])
    normals = [rest.normal for rest in resting_faces(leaning, center)]
    assert not any(np.allclose(normal, [0, 0, -1], atol=1e-3) for normal in normals)


def test_solid_angles_of_a_closed_hull_fill_the_sphere():
    vertices, faces = convex_hull(box([0.01, 0.02, 0.03]))
    assert solid_angles(vertices - [0.001, 0.002, 0.003], faces).sum() == pytest.approx(4 * np.pi)
