"""openpi's keys and units: conversions back and forth, the families' values, images as its client scales them."""

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.policies.layout import LAYOUTS
from evaluator.policies.resize import resize_with_pad
from evaluator.policies.rotations import quat_from_rot6d, quat_from_rotvec, rot6d_from_quat, rotvec_from_quat
from scenegen.geometry import angle_between, quat_about

quats = (
    st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1).map(lambda q: q / np.linalg.norm(q))
)


@given(quats)
def test_rotations_come_back_from_vectors_and_from_six_numbers(quat):
    back = np.stack([quat_from_rotvec(rotvec_from_quat(quat)), quat_from_rot6d(rot6d_from_quat(quat))])
    np.testing.assert_allclose(np.linalg.norm(back, axis=-1), 1, atol=1e-9)
    assert angle_between(back, quat).max() < 1e-6


def test_a_rotation_vector_is_axis_times_angle():
    axis = np.array([0.0, 0.6, 0.8])
    np.testing.assert_allclose(rotvec_from_quat(quat_about(axis, 0.5)), 0.5 * axis)
    np.testing.assert_allclose(rotvec_from_quat(-quat_about(axis, 0.5)), 0.5 * axis)
    np.testing.assert_array_equal(rotvec_from_quat([0.0, 0, 0, 1]), [0, 0, 0])


def test_six_numbers_need_not_be_orthonormal():
    quat = quat_about([0.0, 0, 1], 0.7)
    rows = rot6d_from_quat(quat) * 3
    rows[3:] += 0.2 * rows[:3]
    assert angle_between(quat_from_rot6d(rows), quat) < 1e-6


@pytest.mark.parametrize("name", LAYOUTS)
def test_actions_come_back_from_the_wire(name):
    layout = LAYOUTS[name]
    rng = np.random.default_rng(0)
    actions = rng.uniform(-0.04, 0.04, (5, 6, layout.numbers))
    actions[..., -1] = rng.integers(0, 2, (5, 6))
    np.testing.assert_allclose(layout.actions(layout.wire(actions)), actions, atol=1e-6)


@pytest.mark.parametrize("name", LAYOUTS)
def test_states_come_back_from_the_wire(name, observe):
    layout, policy = LAYOUTS[name], observe().policy
    for key, array in layout.observed(layout.state(policy)).items():
        there = policy[key]
        if key == "tcp_pose":
            assert angle_between(array[:, 3:], there[:, 3:]).max() < 1e-3
            array, there = array[:, :3], there[:, :3]
        np.testing.assert_allclose(array, there, atol=1e-6)


@pytest.mark.parametrize("name", LAYOUTS)
def test_what_is_not_finite_stays_so(name):
    layout = LAYOUTS[name]
    assert np.isnan(layout.actions(np.full((1, layout.numbers), np.nan))).all()


@pytest.mark.parametrize(
    ("name", "wire", "ours"),
    [
        ("droid", [1, -1, 2, 0.5, 0, 0, 0, 0.6], [3, -3, 3, 1.5, 0, 0, 0, 0]),
        ("droid", [0, 0, 0, 0, 0, 0, 0, 0.4], [0, 0, 0, 0, 0, 0, 0, 1]),
        ("droid_joint_position", [1, -1, 2, 0.5, 0, 0, 0, 1], [1, -1, 2, 0.5, 0, 0, 0, 0]),
        ("libero", [1, -1, 2, 1, 0, -0.5, -1], [0.05, -0.05, 0.05, 0.5, 0, -0.25, 1]),
        ("libero", [0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0]),
    ],
)
def test_units_are_those_of_the_families(name, wire, ours):
    np.testing.assert_allclose(LAYOUTS[name].actions(np.array(wire, float)), ours, atol=1e-7)


def test_keys_are_those_of_the_families():
    policy = {
        "joint_pos": np.arange(7.0)[None],
        "gripper_pos": np.array([[0.25]]),
        "tcp_pose": np.array([[0.1, 0.2, 0.3, 1, 0, 0, 0]]),
    }
    droid = LAYOUTS["droid"].state(policy)
    assert {key: value.tolist() for key, value in droid.items()} == {
        "observation/joint_position": [[0, 1, 2, 3, 4, 5, 6]],
        "observation/gripper_position": [[0.75]],
    }
    (state,) = LAYOUTS["libero"].state(policy)["observation/state"]
    np.testing.assert_allclose(state, [0.1, 0.2, 0.3, np.pi, 0, 0, 0.01, -0.01], atol=1e-6)


def test_images_are_scaled_as_openpis_client_does_it():
    ramp = (np.add.outer(np.arange(48) * 5, np.arange(64) * 3)[None, ..., None] + np.array([0, 40, 80])).astype(
        np.uint8
    )
    assert zlib.crc32(resize_with_pad(ramp, 224, 224).tobytes()) == 794579941  # of openpi_client 0.1.2


@given(st.integers(1, 60), st.integers(1, 60))
def test_a_white_image_is_centred_on_black(height, width):
    padded = resize_with_pad(np.full((1, height, width, 3), 255, np.uint8), 32, 32)[0, ..., 0]
    rows, columns = np.flatnonzero(padded.any(axis=1)), np.flatnonzero(padded.any(axis=0))
    assert set(np.unique(padded)) <= {0, 255}
    assert max(len(rows), len(columns)) >= 31
    for line in (rows, columns):
        assert abs((31 - line[-1]) - line[0]) <= 1
        assert len(line) == line[-1] - line[0] + 1


def test_an_image_of_the_right_size_is_left_alone():
    images = np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3), np.uint8)
    assert resize_with_pad(images, 32, 32) is images
