"""The camera policy: it looks when the arm is away, feels what it holds, and says what it lacks."""

import numpy as np
import pytest

from evaluator.policies.context import PolicyContext
from evaluator.policies.net_sight import NetSight, Places, Sorter
from evaluator.policies.oracle import CHUNK
from evaluator.policies.path import ToolPoint
from evaluator.policies.picker import Picker
from evaluator.policies.registry import make_policy
from evaluator.policies.sight import Grasp
from evaluator.policy import Observation, Truth
from evaluator.vision.sighting import Sighted
from evaluator.vision.subject import Subject
from evaluator.vision.vantage import HAND_M, vantage
from evaluator.vision.weights import shipped_weights
from scenegen.errors import InvalidOption, InvalidRecord, PolicyError
from scenegen.imaging.pinhole import project
from scenegen.nominal import nominal_cameras, nominal_motion
from scenegen.parts.builtin import builtin_catalogue

START = ToolPoint(0.45, 0.1, 0.3, 0.0, 1.0)
VANTAGE = ToolPoint(0.3, 0.0, 0.45, 0.0, 1.0)


@pytest.fixture(scope="module")
def sorter(cell, catalogue):
    return Sorter(cell, catalogue, Subject.of(cell, catalogue).classes)


def sighted(*places, part=1):
    """Parts at places in the feed, each with one grasp."""
    count = len(places)
    return Sighted(
        peak=np.arange(count), part=np.full(count, part), middle=np.array([[x, y, 0.008] for x, y in places]),
        yaw_rad=np.zeros(count), width_m=np.full(count, 0.01), tip_m=np.full(count, 0.006), chance=np.ones(count),
    )  # fmt: skip


def acts(policy, observation):
    """Let it act until it has to look."""
    for _ in range(30):
        policy.act(observation)


def test_it_looks_from_where_the_arm_is_out_of_the_way(cell, sorter):
    picker = Picker(cell, START, rate_hz=50.0, look_from=VANTAGE)
    blind = NetSight(sorter, Places(), opening=1.0, seen=None)
    assert not picker.looks
    away = picker.next_points(blind)
    assert away[-1] == pytest.approx(VANTAGE.numbers)
    assert picker.looks
    taking = picker.next_points(NetSight(sorter, Places(), opening=1.0, seen=sighted((0.5, 0.02), (0.45, -0.05))))
    assert taking[-1, 4] == 0.0
    assert not picker.looks
    shut = picker.next_points(NetSight(sorter, Places(), opening=0.0, seen=None))
    assert shut[-1] == pytest.approx(VANTAGE.numbers)
    assert picker.looks


def test_what_keeps_the_fingers_apart_goes_to_its_bin_and_it_looks_from_there(cell, sorter):
    picker = Picker(cell, VANTAGE, rate_hz=50.0, look_from=VANTAGE)
    places = Places()
    picker.next_points(NetSight(sorter, places, opening=1.0, seen=None))
    picker.next_points(NetSight(sorter, places, opening=1.0, seen=sighted((0.5, 0.02), part=2)))
    placing = picker.next_points(NetSight(sorter, places, opening=0.01 / 0.08, seen=None))
    bin_pose = sorter.poses[sorter.bins[1]]
    assert np.hypot(*(placing[-1, :2] - bin_pose.position[:2])) < 0.1
    assert placing[-1, 4] > 0.0
    assert picker.looks


def test_a_place_that_gave_nothing_is_tried_last_and_three_times_at_most(cell, sorter):
    picker = Picker(cell, VANTAGE, rate_hz=50.0, look_from=VANTAGE)
    places, tried = Places(), []
    picker.next_points(NetSight(sorter, places, opening=1.0, seen=None))
    for shake in range(8):
        seen = sighted((0.5, 0.02 + 0.001 * (shake % 3)), (0.45, -0.05))
        picker.next_points(NetSight(sorter, places, opening=1.0, seen=seen))
        if picker._carried is None:
            break
        tried.append(picker._carried.item)
        picker.next_points(NetSight(sorter, places, opening=0.0, seen=None))
    assert sorted(tried) == ["place 0"] * 3 + ["place 1"] * 3
    assert set(tried[:2]) == {"place 0", "place 1"}


def test_fingers_feel_what_is_between_them(sorter):
    grasp = Grasp("place 0", "bin_a", START, below_m=0.004, width_m=0.01)
    for opening_m, held in ((0.0, False), (0.001, False), (0.002, True), (0.011, True)):
        assert NetSight(sorter, Places(), opening=opening_m / 0.08, seen=None).came_along(grasp) is held


def test_its_bins_stand_where_the_cell_says(cell, sorter):
    sight = NetSight(sorter, Places(), opening=1.0, seen=None)
    assert sight.bin_pose("bin_b") == cell.bins[1].pose_to_world


@pytest.mark.parametrize("name", ["cell", "rings"])
def test_a_hand_at_the_vantage_point_is_not_in_the_picture(name, request):
    cell = request.getfixturevalue(name)
    parts = builtin_catalogue([item.part for item in cell.inventory])
    subject = Subject.of(cell, parts)
    point = vantage(cell, subject)
    camera = _camera(cell)
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1), (0, 0)):
        for rise in (0.0, 0.1, 0.2):
            hand = np.array([[point.x + HAND_M * x, point.y + HAND_M * y, point.z + rise]])
            column, row = project(camera, hand)[0]
            assert not (0 <= column < camera.width_px and 0 <= row < camera.height_px)


def _camera(cell):
    return nominal_cameras(cell, nominal_motion(cell)).cameras[0]


def test_with_the_truth_for_an_eye_it_needs_no_images(context, base_scenario, cell):
    policy = make_policy("vision?perception=truth", context)
    assert policy.spec.truth
    assert policy.spec.cameras == ()
    poses = {
        i.name: np.array([*i.pose_to_world.position_m, *i.pose_to_world.quat_xyzw]) for i in base_scenario.layout.items
    }
    joints, lowest = np.array(cell.robot.start_joints_rad)[None], []
    for _ in range(20):
        policy_group = {"joint_pos": joints, "gripper_pos": np.zeros((1, 1))}
        chunk = policy.act(Observation((0,), ("",), policy_group, truth=(Truth(base_scenario, poses),)))
        assert chunk.shape == (1, CHUNK, len(cell.robot.joints) + 1)
        lowest.append(policy._paths._arm.tcp(chunk[0, :, :-1])[0][:, 2].min())
    assert min(lowest) < 0.03


def test_the_truth_must_be_shown(context, cell):
    policy = make_policy("vision?perception=truth", context)
    group = {"joint_pos": np.array(cell.robot.start_joints_rad)[None], "gripper_pos": np.zeros((1, 1))}
    with pytest.raises(PolicyError, match="policy vision\\?perception=truth: it was shown no truth - accepted: "):
        acts(policy, Observation((0,), ("",), group))


def test_images_must_be_there_and_of_the_cameras_size(context, cell):
    group = {"joint_pos": np.array(cell.robot.start_joints_rad)[None], "gripper_pos": np.zeros((1, 1))}
    for images, sentence in (
        ({}, "policy vision: it was shown no image of the camera 'overhead' - accepted: 'overhead_rgb'"),
        (
            {"overhead_rgb": np.zeros((1, 24, 32, 3), np.uint8)},
            "policy vision: overhead_rgb is 24 x 32 x 3 - accepted: 224 x 224 x 3, as the cell's camera",
        ),
    ):
        policy = make_policy("vision", context)
        with pytest.raises(PolicyError) as caught:
            acts(policy, Observation((0,), ("",), group, images))
        assert str(caught.value) == sentence


def test_without_weights_it_says_how_to_get_them(context, cell):
    darker = cell.replaced(name="mine", feed_look=cell.feed_look.replaced(roughness=0.9))
    with pytest.raises(PolicyError) as caught:
        make_policy("vision", PolicyContext(darker, context.parts))
    assert str(caught.value) == (
        "policy vision: no weights come with scenegen for the cell 'mine' as it is - accepted: vision:FILE, with a "
        "file that `scenegen train-vision --cell mine -o FILE` has written"
    )


def test_files_of_other_cells_and_other_files_are_refused(context, cell, tmp_path):
    path = shipped_weights(Subject.of(cell, context.parts))
    darker = cell.replaced(name="mine", feed_look=cell.feed_look.replaced(roughness=0.9))
    with pytest.raises(PolicyError) as caught:
        make_policy(f"vision:{path}", PolicyContext(darker, context.parts))
    assert str(caught.value) == (
        f"policy vision:{path}: {path} was trained for another view than that of the cell 'mine' - accepted: a file "
        "that `scenegen train-vision --cell mine -o FILE` has written"
    )
    (tmp_path / "text").write_text("no weights")
    with pytest.raises(InvalidRecord, match="no weights can be read from it"):
        make_policy(f"vision:{tmp_path / 'text'}", context)
    with pytest.raises(InvalidOption, match=r"perception=net\|truth"):
        make_policy("vision?perception=eyes", context)
