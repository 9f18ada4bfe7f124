"""Laws of rotations and poses, checked against SciPy."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from scenegen.geometry import (
    Pose,
    angle_between,
    look_at,
    quat_about,
    quat_between,
    quat_conjugate,
    quat_from_matrix,
    quat_multiply,
    quat_to_matrix,
    quat_yaw,
)

unit = st.floats(-1, 1, allow_nan=False)


@st.composite
def quats(draw):
    quat = np.array([draw(unit) for _ in range(4)])
    assume(np.linalg.norm(quat) > 0.1)
    return quat / np.linalg.norm(quat)


points = st.tuples(unit, unit, unit).map(np.array)
poses = st.builds(Pose.of, points, quats())


@given(quats(), quats())
def test_products_and_matrices_agree_with_scipy(a, b):
    expected = Rotation.from_quat(a) * Rotation.from_quat(b)
    np.testing.assert_allclose(quat_to_matrix(quat_multiply(a, b)), expected.as_matrix(), atol=1e-12)


@given(quats())
def test_matrix_and_quaternion_are_inverse(quat):
    np.testing.assert_allclose(quat_to_matrix(quat_from_matrix(quat_to_matrix(quat))), quat_to_matrix(quat), atol=1e-9)


@given(quats(), quats())
def test_angle_is_symmetric_and_ignores_the_sign(a, b):
    angle = angle_between(a, b)
    np.testing.assert_allclose(angle, angle_between(b, -a), atol=1e-7)
    np.testing.assert_allclose(angle, (Rotation.from_quat(a).inv() * Rotation.from_quat(b)).magnitude(), atol=1e-6)


@given(poses, points)
def test_a_pose_undoes_its_inverse(pose, point):
    np.testing.assert_allclose(pose.inverse().apply(pose.apply(point)), point, atol=1e-5)


@given(poses, poses, points)
def test_composition_applies_the_inner_pose_first(outer, inner, point):
    np.testing.assert_allclose(outer.after(inner).apply(point), outer.apply(inner.apply(point)), atol=1e-5)


@given(quats())
def test_of_q_and_minus_q_one_is_kept(quat):
    assert Pose.of((0, 0, 0), quat) == Pose.of((0, 0, 0), -quat)


@given(points, points)
def test_between_turns_one_direction_into_the_other(a, b):
    assume(np.linalg.norm(a) > 0.1 and np.linalg.norm(b) > 0.1)
    turned = quat_to_matrix(quat_between(a, b)) @ (a / np.linalg.norm(a))
    np.testing.assert_allclose(turned, b / np.linalg.norm(b), atol=1e-6)


def test_opposite_directions_have_a_rotation():
    np.testing.assert_allclose(quat_to_matrix(quat_between((0, 0, 1), (0, 0, -1))) @ [0, 0, 1], [0, 0, -1], atol=1e-12)


def test_yaw_turns_x_into_y():
    np.testing.assert_allclose(quat_to_matrix(quat_yaw(np.pi / 2)) @ [1, 0, 0], [0, 1, 0], atol=1e-12)
    np.testing.assert_allclose(quat_about((0, 0, 1), 0.3), quat_yaw(0.3))
    np.testing.assert_allclose(quat_multiply(quat_yaw(0.3), quat_conjugate(quat_yaw(0.3))), [0, 0, 0, 1], atol=1e-15)


def test_a_camera_looks_along_its_minus_z():
    pose = look_at((1, 2, 3), (0, 0, 0))
    np.testing.assert_allclose(-pose.rotation[:, 2], -np.array([1, 2, 3]) / np.sqrt(14), atol=1e-6)
    assert pose.rotation[2, 1] > 0
    np.testing.assert_allclose(look_at((0, 0, 1), (0, 0, 0)).rotation, np.eye(3), atol=1e-6)
