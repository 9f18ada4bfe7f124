"""Whatever a policy does becomes an answer or a `PolicyError` of the worlds concerned, within the deadline."""

import math
import threading
import time

import numpy as np
import pytest

from evaluator.policies.unanswered import Unanswered
from evaluator.policy import ActionKind, PolicySpec
from scenegen.errors import PolicyError


class Scripted:
    """Answers what a function gives for an observation."""

    def __init__(self, answer, action=ActionKind.JOINT_POSITION, horizon=2):
        self.spec = PolicySpec("scripted", action, horizon=horizon)
        self._answer = answer

    def reset(self, worlds, instructions):
        if "bad" in instructions:
            raise RuntimeError("no such task")

    def act(self, observation):
        return self._answer(observation)

    def close(self):
        pass


def still(observation, horizon=2):
    """A right answer: the joints where they are, the gripper half open."""
    joints = np.concatenate([observation.policy["joint_pos"], np.full((len(observation.worlds), 1), 0.5)], axis=1)
    return np.repeat(joints[:, None].astype(np.float32), horizon, axis=1)


def changed(place, value):
    def answer(observation):
        chunks = still(observation)
        chunks[place] = value
        return chunks

    return answer


def raising(error):
    def answer(observation):
        raise error

    return answer


def test_a_right_answer_comes_through(checked, observe):
    observation = observe()
    answer = checked(Scripted(still)).act(observation)
    np.testing.assert_array_equal(answer.chunks, still(observation))
    assert answer.errors == {}
    assert answer.usable.tolist() == [True] * 3
    assert (answer.seconds > 0).all()


class Tensor:
    """As much of a tensor on a device as is relied on."""

    def __init__(self, array):
        self._array = array

    def cpu(self):
        return self

    def numpy(self):
        return self._array


@pytest.mark.parametrize("convert", [np.ndarray.tolist, np.float64, np.float16, Tensor])
def test_floats_of_other_kinds_are_taken(checked, observe, convert):
    answer = checked(Scripted(lambda seen: convert(still(seen)))).act(observe())
    assert answer.errors == {}
    assert answer.chunks.dtype == np.float32


FLOATS = "accepted: float32 with shape [3, 2, 8]"


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda seen: still(seen)[:, :1], f"an answer of float32 with shape [3, 1, 8] - {FLOATS}"),
        (lambda seen: still(seen)[:2], f"an answer of float32 with shape [2, 2, 8] - {FLOATS}"),
        (lambda seen: still(seen)[..., :7], f"an answer of float32 with shape [3, 2, 7] - {FLOATS}"),
        (lambda seen: still(seen).astype(int), f"an answer of int64 with shape [3, 2, 8] - {FLOATS}"),
        (lambda seen: still(seen).astype(complex), f"an answer of complex128 with shape [3, 2, 8] - {FLOATS}"),
        (lambda seen: still(seen).astype(object), f"an answer of object with shape [3, 2, 8] - {FLOATS}"),
        (lambda seen: None, f"an answer of object with shape [] - {FLOATS}"),
        (raising(ValueError("two\nlines")), "it raised ValueError: two lines - accepted: an answer"),
        (raising(SystemExit(3)), "it raised SystemExit: 3 - accepted: an answer"),
        (raising(PolicyError("scripted", "no idea", "a hint")), "no idea - accepted: a hint"),
    ],
)
def test_a_wrong_answer_concerns_all_worlds(checked, observe, answer, sentence):
    given = checked(Scripted(answer)).act(observe((0, 4, 2)))
    assert list(given.errors) == [0, 4, 2]
    assert {str(error) for error in given.errors.values()} == {f"policy scripted: {sentence}"}
    assert np.isnan(given.chunks).all()
    assert not given.usable.any()


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        ((1, 1, 2), math.nan, "number 2 of action 1 is nan - accepted: finite numbers"),
        ((1, 0, 7), -math.inf, "number 7 of action 0 is -inf - accepted: finite numbers"),
        ((1, 0, 0), 9.0, "number 0 of action 0 is 9 - accepted: -2.997 to 2.997"),
        ((1, 0, 7), 1.5, "number 7 of action 0 is 1.5 - accepted: -0.05 to 1.05"),
    ],
)
def test_a_wrong_number_concerns_its_world_alone(checked, observe, place, value, sentence):
    observation = observe((5, 6, 7))
    given = checked(Scripted(changed(place, value))).act(observation)
    assert {world: str(error) for world, error in given.errors.items()} == {6: f"policy scripted: {sentence}"}
    np.testing.assert_array_equal(given.chunks[[0, 2]], still(observation)[[0, 2]])
    assert np.isnan(given.chunks[1]).all()
    assert given.usable.tolist() == [True, False, True]


def test_a_number_too_large_for_32_bits_is_seen(checked, observe):
    given = checked(Scripted(lambda seen: np.full((3, 2, 8), 1e300))).act(observe())
    assert str(given.errors[0]).endswith("number 0 of action 0 is inf - accepted: finite numbers")


@pytest.mark.parametrize(
    ("action", "numbers", "sentence"),
    [
        (ActionKind.JOINT_VELOCITY, [13, *[0] * 7], "number 0 of action 0 is 13 - accepted: -12 to 12"),
        (ActionKind.TCP_POSE, [4, 0, 0, 0, 0, 0, 1, 1], "number 0 of action 0 is 4 - accepted: -3 to 3"),
        (
            ActionKind.TCP_POSE,
            [0, 0, 0, 0, 0, 0.5, 0, 1],
            "a quaternion has norm 0.5 - accepted: a unit quaternion (x, y, z, w)",
        ),
        (ActionKind.TCP_DELTA, [0.6, 0, 0, 0, 0, 0, 1], "number 0 of action 0 is 0.6 - accepted: -0.5 to 0.5"),
        (ActionKind.TCP_DELTA, [0, 0, 0, 0, 4, 0, 1], "number 4 of action 0 is 4 - accepted: -3.142 to 3.142"),
    ],
)
def test_each_kind_of_action_has_its_range(checked, observe, action, numbers, sentence):
    policy = Scripted(lambda seen: np.array([[numbers]], np.float32), action, horizon=1)
    given = checked(policy).act(observe((0,)))
    assert str(given.errors[0]) == f"policy scripted: {sentence}"


def test_worlds_that_got_an_answer_keep_it(checked, observe):
    observation = observe((3, 4))
    chunks = still(observation)
    chunks[1] = np.nan
    lost = Unanswered("scripted", chunks, {4: PolicyError("scripted", "no reply in time", "one within 1 s")})
    assert str(lost) == (
        "policy scripted: 1 of 2 worlds have no answer, world 4: no reply in time - accepted: one within 1 s"
    )
    given = checked(Scripted(raising(lost))).act(observation)
    assert {world: error.reason for world, error in given.errors.items()} == {4: "no reply in time"}
    np.testing.assert_array_equal(given.chunks[0], still(observation)[0])


def test_a_stalled_policy_is_given_up_and_taken_up_again_when_it_comes_back(checked, observe):
    stalled, asked = threading.Event(), []

    def answer(observation):
        asked.append(observation.worlds)
        stalled.wait(5)
        return still(observation)

    policy = checked(Scripted(answer), deadline_s=0.05)
    try:
        sentences = {str(error) for _ in range(2) for error in policy.act(observe()).errors.values()}
        assert sentences == {"policy scripted: no answer in time - accepted: an answer within 0.05 s"}
        assert len(asked) == 1, "it is not entered a second time"
    finally:
        stalled.set()
    deadline = time.monotonic() + 5
    while (given := policy.act(observe())).errors and time.monotonic() < deadline:
        time.sleep(0.01)
    assert given.errors == {}


def test_a_policy_that_asks_world_after_world_has_the_deadline_for_each_and_says_how_long_each_took(checked, observe):
    policy = Scripted(lambda seen: time.sleep(0.15) or still(seen))
    policy.answered_in_s = np.array([0.02, 0.03, 0.1])
    answer = checked(policy, deadline_s=0.1).act(observe())
    assert answer.errors == {}
    assert answer.seconds.tolist() == [0.02, 0.03, 0.1]


def test_a_reset_that_fails_raises_for_its_worlds(checked):
    policy = checked(Scripted(still))
    policy.reset([0], ["good"])
    with pytest.raises(PolicyError) as error:
        policy.reset([1], ["bad"])
    assert str(error.value) == "policy scripted: it raised RuntimeError: no such task - accepted: an answer"


def test_after_closing_nothing_is_answered(checked, observe):
    policy = checked(Scripted(still))
    policy.close()
    policy.close()
    assert {error.reason for error in policy.act(observe()).errors.values()} == {"it was closed"}
