"""Adapters that are built from what a GR00T server says of itself, and what policies saw before."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.policies.codec import WireError, pack, unpack
from evaluator.policies.groot_adapter import GrootAdapter
from evaluator.policies.history import History
from evaluator.policies.modality import GrootForm, Modalities, Modality
from evaluator.policies.rotations import rot6d_from_quat
from evaluator.policy import ActionKind
from scenegen.errors import InvalidOption, UnknownName
from scenegen.geometry import angle_between


def described(
    video=("overhead",), state=("joint_position", "gripper"), action=("joint_position", "gripper"), looks_back=(0,)
):
    """The modalities of some server."""
    return Modalities(
        video=Modality(tuple(video), looks_back),
        state=Modality(tuple(state), (0,)),
        action=Modality(tuple(action), (0, 1, 2, 3)),
        language=Modality(("task",), (0,)),
        form=GrootForm.N16,
    )


def adapter(modalities, **named):
    named = {key.replace("__", "."): value for key, value in named.items()}
    return GrootAdapter("groot:tcp://x:1", modalities, cameras=["overhead", "wrist"], named=named)


def test_what_the_user_says_of_keys_counts():
    made = adapter(
        described(video=("front",), state=("a", "b"), action=("grip", "pose", "more")),
        video__front="wrist",
        state__a="tcp_rotvec",
        state__b="gripper_closing",
        action__grip="gripper_closing",
        action__pose="tcp_9d",
        action__more="ignored",
    )
    assert (made.action, made.cameras) == (ActionKind.TCP_POSE, ("wrist",))
    quat = np.array([0.0, 0.6, 0.0, 0.8])
    pose = np.concatenate([[0.1, 0.2, 0.3], rot6d_from_quat(quat)]).astype(np.float32)
    reply = [{"pose": np.tile(pose, (2, 4, 1)), "grip": np.full((2, 4, 1), 0.9, np.float32)}, {}]
    chunks = made.chunks(reply, 2, GrootForm.N16)
    np.testing.assert_allclose(chunks[..., :3], np.broadcast_to([0.1, 0.2, 0.3], (2, 4, 3)), atol=1e-6)
    assert angle_between(chunks[..., 3:7], quat).max() < 1e-3
    np.testing.assert_allclose(chunks[..., 7], 0.1, atol=1e-6)


IT = "--policy groot:tcp://x:1"
TWO = "overhead|wrist"
GRIPPERS = "action.KEY=gripper_opening|gripper_closing"
MEANING = "unknown meaning of video.overhead"
KEY = "unknown key of the server's modalities"
SOURCES = "joint_pos|joint_vel|gripper_opening|gripper_closing|tcp_pose|tcp_position|tcp_quat|tcp_rotvec|tcp_9d"
ARMS = "action.KEY=joint_position|joint_velocity|tcp_pose|tcp_9d|tcp_delta"


@pytest.mark.parametrize(
    ("modalities", "named", "kind", "sentence"),
    [
        (described(video=("front",)), {}, InvalidOption, f"{IT} (its video has front) - accepted: video.front={TWO}"),
        (described(state=("legs",)), {}, InvalidOption, f"{IT} (its state has legs) - accepted: state.legs={SOURCES}"),
        (described(action=("gripper",)), {}, InvalidOption, f"{IT} (its action has gripper) - accepted: {ARMS}"),
        (described(action=("joints",)), {}, InvalidOption, f"{IT} (its action has joints) - accepted: {GRIPPERS}"),
        (described(), {"video__overhead": "rist"}, UnknownName, f"{MEANING} 'rist' - did you mean 'wrist'?"),
        (described(), {"video__over": "wrist"}, UnknownName, f"{KEY} 'video.over' - did you mean 'video.overhead'?"),
        (described(looks_back=(0, 3)), {}, WireError, "modalities that look ahead"),
    ],
)
def test_modalities_that_cannot_be_told_are_asked_about(modalities, named, kind, sentence):
    with pytest.raises(kind) as error:
        adapter(modalities, **named)
    assert str(error.value) == sentence


@pytest.mark.parametrize("form", [GrootForm.N15, GrootForm.N16, GrootForm.N17])
def test_modalities_come_back_from_the_wire_and_give_their_form_away(form):
    written = replace(described(), form=form).written()
    back = Modalities.read(unpack(pack(written, form.arrays)))
    assert back.form is form
    assert (back.video.keys, back.action.deltas) == (("overhead",), (0, 1, 2, 3))


@given(
    st.lists(st.integers(-20, 0), min_size=1, max_size=4, unique=True).map(sorted),
    st.integers(1, 9),
    st.lists(st.sets(st.integers(0, 2), min_size=1), min_size=1, max_size=12),
)
def test_history_gives_the_latest_observation_not_after_a_step(deltas, stride, rounds):
    history = History(deltas, stride=stride)
    told = {world: [] for world in range(3)}
    for moment, worlds in enumerate(rounds):
        order = sorted(worlds)
        now = np.array([[moment, world] for world in order])
        for world in order:
            told[world].append([moment, world])
        shown = history.shown(order, {"x": now})["x"]
        for row, world in enumerate(order):
            count = len(told[world])
            picked = [told[world][max(count - 1 - -(delta // stride), 0)] for delta in deltas]
            assert shown[row].tolist() == picked


def test_history_begins_anew_with_an_episode():
    history = History((-1, 0), stride=1)
    history.shown([0, 1], {"x": np.array([[1], [2]])})
    history.reset([0])
    assert history.shown([0, 1], {"x": np.array([[3], [4]])})["x"].tolist() == [[[3], [3]], [[2], [4]]]
