"""What goes wrong in one world stays there, and is told apart: physics, policy, before or after a touch."""

import time

import numpy as np
import pytest

from evaluator.judging.outcome import Outcome
from evaluator.judging.trace import EndReason
from evaluator.policies.unanswered import Unanswered
from evaluator.policy import ActionKind, PolicySpec
from scenegen.errors import PolicyError

WORLD, TICK = 1, 40


@pytest.mark.parametrize(
    ("field", "value"),
    [("slot_pose", np.nan), ("slot_vel", np.inf), ("joint_pos", np.nan), ("opening", np.nan), ("joint_torque", np.nan)],
)
def test_a_world_that_breaks_breaks_alone(play, scenes, judged, content, spoiled, field, value):
    whole = play("oracle", scenes[:3], worlds=3)
    wrap = lambda line: spoiled(line, WORLD, TICK, sound=False, **{field: value})  # noqa: E731
    broken = play("oracle", scenes[:3], worlds=3, wrap=wrap)
    hit = scenes[WORLD].id
    assert broken[hit].end is EndReason.PHYSICS_INVALID
    episode = judged(broken[hit])
    assert (episode.outcome, episode.reason) == (Outcome.PHYSICS_INVALID, "not_finite")
    assert episode.counts is None, "the robot had touched nothing"
    for scene in scenes[:3]:
        if scene.id != hit:
            assert content(broken[scene.id]) == content(whole[scene.id])


@pytest.mark.parametrize("touched", [False, True])
def test_lost_contacts_count_against_a_robot_that_touches(play, scenes, judged, spoiled, touched):
    whole = judged(play("oracle", scenes[:1], worlds=1)[scenes[0].id])
    contact_s = next(event.time_s for event in whole.events if event.kind == "contact")
    tick = round(contact_s * 50) + (20 if touched else -20)
    wrap = lambda line: spoiled(line, 0, tick, sound=False)  # noqa: E731
    episode = judged(play("oracle", scenes[:1], worlds=1, wrap=wrap)[scenes[0].id])
    assert episode.outcome is Outcome.PHYSICS_INVALID
    assert episode.touched is touched
    assert episode.counts is (False if touched else None)


def test_a_world_that_broke_plays_on_with_the_next_scene(play, scenes, content, spoiled):
    whole = play("noop", scenes, worlds=2)
    broken = play("noop", scenes, worlds=2, wrap=lambda line: spoiled(line, WORLD, TICK, sound=False, slot_pose=np.nan))
    assert [one.end for one in broken.values()].count(EndReason.PHYSICS_INVALID) == 1
    for scene, one in broken.items():
        assert one.end is EndReason.PHYSICS_INVALID or content(one) == content(whole[scene])


class Bad:
    """Answers well until it is asked about a world for the `after`-th time; then `fault` decides."""

    def __init__(self, fault, *, after=3):
        self.spec = PolicySpec("bad", ActionKind.JOINT_POSITION, rate_hz=10.0)
        self.fault, self.after, self.asked = fault, after, {}

    def reset(self, worlds, instructions):
        self.asked |= dict.fromkeys(worlds, 0)

    def act(self, observation):
        joints = np.asarray(observation.policy["joint_pos"], np.float32)
        chunk = np.concatenate([joints, np.ones((len(joints), 1), np.float32)], axis=1)[:, None]
        for world in observation.worlds:
            self.asked[world] += 1
        if WORLD in observation.worlds and self.asked[WORLD] > self.after:
            return self.fault(chunk, list(observation.worlds).index(WORLD))
        return chunk

    def close(self):
        pass


def nan(chunk, row):
    chunk[row, 0, 2] = np.nan
    return chunk


def far(chunk, row):
    chunk[row, 0, 2] = 50.0
    return chunk


def unanswered(chunk, row):
    chunk[row] = np.nan
    raise Unanswered("bad", chunk, {WORLD: PolicyError("bad", "the connection is gone", "an answer")})


def raising(chunk, row):
    raise RuntimeError("weights are gone")


def leaving(chunk, row):
    raise SystemExit(1)


def shapeless(chunk, row):
    return chunk[:, :, :3]


def stalling(chunk, row):
    time.sleep(0.6)
    return chunk


@pytest.mark.parametrize("fault", [nan, far, unanswered])
def test_a_wrong_answer_for_one_world_ends_its_episode_alone(play, scenes, judged, fault):
    found = play(Bad(fault), scenes[:3], worlds=3)
    assert [found[scene.id].end for scene in scenes[:3]] == [
        EndReason.TIMEOUT, EndReason.POLICY_ERROR, EndReason.TIMEOUT
    ]  # fmt: skip
    episode = judged(found[scenes[WORLD].id])
    assert episode.outcome is Outcome.POLICY_ERROR
    assert episode.reason.startswith("policy bad: ")
    assert episode.counts is False


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (raising, "it raised RuntimeError: weights are gone"),
        (leaving, "it raised SystemExit: 1"),
        (shapeless, "an answer of float32 with shape [2, 1, 3]"),
        (stalling, "no answer in time"),
    ],
)
def test_a_policy_that_fails_as_a_whole_fails_all_worlds_that_it_was_asked_about(play, scenes, judged, fault, said):
    found = play(Bad(fault), scenes[:2], worlds=2, deadline_s=0.2)
    assert {one.end for one in found.values()} == {EndReason.POLICY_ERROR}
    for one in found.values():
        assert judged(one).reason.startswith(f"policy bad: {said} - accepted: ")


def test_a_policy_that_cannot_begin_fails_the_scenes_that_it_was_given(play, scenes):
    policy = Bad(nan)
    policy.reset = raising
    found = play(policy, scenes[:3], worlds=2)
    assert {one.end for one in found.values()} == {EndReason.POLICY_ERROR}
    assert len(found) == 3
