"""The oracle: paths are smooth and end where they shall, joints follow them, parts are taken one after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.policies.oracle import CHUNK, Oracle
from evaluator.policies.path import ToolPoint, held, moved, near_yaw
from evaluator.policies.picker import Picker, spots
from evaluator.policies.tool_paths import downward
from evaluator.policies.truth_sight import TruthSight
from evaluator.policy import Observation, Truth
from scenegen.errors import PolicyError
from scenegen.robot import Arm

points = st.builds(
    ToolPoint,
    st.floats(0.3, 0.7), st.floats(-0.3, 0.3), st.floats(0.0, 0.4), st.floats(-3.0, 3.0), st.floats(0.0, 1.0),
)  # fmt: skip


def truth_of(scenario, **moved_to):
    poses = {i.name: np.array([*i.pose_to_world.position_m, *i.pose_to_world.quat_xyzw]) for i in scenario.layout.items}
    return Truth(scenario, {**poses, **moved_to})


@given(points, points)
def test_a_movement_ends_at_its_end_and_keeps_its_speed(start, end):
    path = moved(start, end, rate_hz=50.0, speed_m_s=0.5, turn_rad_s=2.5)
    assert path[-1] == pytest.approx(end.numbers)
    steps = np.diff([start.numbers, *path], axis=0) * 50.0
    assert np.linalg.norm(steps[:, :3], axis=1).max() <= 0.5 * 1.1
    assert np.abs(steps[:, 3]).max() <= 2.5 * 1.1
    assert len(held(end, rate_hz=50.0, seconds=0.2)) == 10


@given(st.floats(-10, 10), st.floats(-10, 10))
def test_a_closing_direction_is_the_same_after_half_a_turn(yaw, other):
    near = near_yaw(yaw, other)
    assert abs(near - other) <= np.pi / 2 + 1e-9
    assert np.sin(near - yaw) == pytest.approx(0.0, abs=1e-9)


def test_the_arm_follows_a_path_to_the_tenth_of_a_millimetre(cell):
    arm = Arm(cell.robot)
    joints = np.array(cell.robot.start_joints_rad)[None]
    position, rotation = arm.tcp(joints)
    closing = rotation[0, :2, 1]
    start = ToolPoint(*position[0], float(np.arctan2(closing[1], closing[0])), 1.0)
    for point in moved(start, start.at(x=0.55, y=-0.2, z=0.05), rate_hz=50.0, speed_m_s=0.5, turn_rad_s=2.5):
        wanted = point[None]
        joints = arm.follow(joints, wanted[:, :3], downward(wanted[:, 3]))
    position, rotation = arm.tcp(joints)
    assert position[0] == pytest.approx([0.55, -0.2, 0.05], abs=1e-4)
    assert rotation[0, :, 2] == pytest.approx([0, 0, -1], abs=1e-3)


def test_places_in_a_bin_begin_in_its_middle_and_stay_inside():
    found = spots((0.13, 0.17))
    assert found[0] == pytest.approx([0, 0, 0])
    assert (np.abs(found[:, 0]) <= 0.065 - 0.04).all()
    assert (np.abs(found[:, 1]) <= 0.085 - 0.04).all()


def test_a_part_that_did_not_come_along_is_tried_again_and_one_that_did_goes_to_its_bin(cell, catalogue, base_scenario):
    def sight(**moved_to):
        return TruthSight(cell, catalogue, truth_of(base_scenario, **moved_to))

    start = ToolPoint(0.45, 0.0, 0.4, 0.0, 1.0)
    picker = Picker(cell, start, rate_hz=50.0)
    assert picker.looks
    first = picker.next_points(sight())
    assert first[:, 2].min() < 0.03
    assert first[-1, 4] == 0.0
    assert not picker.looks
    again = picker.next_points(sight())
    assert picker._tries.total() == 2
    assert again[-1, 4] == 0.0
    name = picker._carried.item
    lifted = truth_of(base_scenario).items[name] + np.array([0, 0, 0.08, 0, 0, 0, 0])
    placing = picker.next_points(sight(**{name: lifted}))
    part = cell.slots[name].part
    rule = next(rule for rule in cell.rules if rule.match in (part, catalogue[part].label))
    bin_pose = next(f.pose_to_world for f in base_scenario.layout.fixtures if f.name == rule.bin)
    assert np.hypot(*(placing[-1, :2] - bin_pose.position[:2])) < 0.1
    assert placing[-1, 4] > 0.0


def test_it_answers_with_chunks_of_joints_and_is_the_same_whenever_it_begins_anew(cell, catalogue, base_scenario):
    def chunk(oracle):
        oracle.reset([4], ["sort"])
        joints = np.array(cell.robot.start_joints_rad)[None]
        return oracle.act(Observation((4,), ("sort",), {"joint_pos": joints}, truth=(truth_of(base_scenario),)))

    oracle = Oracle(cell, catalogue)
    first = chunk(oracle)
    assert first.shape == (1, CHUNK, len(cell.robot.joints) + 1)
    assert np.isfinite(first).all()
    assert chunk(oracle).tobytes() == first.tobytes() == chunk(Oracle(cell, catalogue)).tobytes()


def test_it_says_that_it_needs_the_truth(cell, catalogue):
    oracle = Oracle(cell, catalogue)
    with pytest.raises(PolicyError) as caught:
        oracle.act(Observation((0,), ("sort",), {"joint_pos": np.zeros((1, 7))}))
    accepted = "observations with the poses of all items"
    assert str(caught.value) == f"policy oracle: it was shown no truth - accepted: {accepted}"
