"""Images are taken by the thread that owns the worlds, and their time is not the policy's."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from evaluator.policies.errand import NobodyWaits
from evaluator.policies.worker import Worker
from evaluator.policy import ActionKind, PolicySpec
from evaluator.rollout.lazy import Lazy

SHOT_S = 0.3


class Scripted:
    """Answers what a function gives for an observation."""

    def __init__(self, act):
        self.spec, self.act = PolicySpec("scripted", ActionKind.JOINT_POSITION), act

    def reset(self, worlds, instructions):
        pass

    def close(self):
        pass


def still(observation):
    """A right answer: the joints where they are, the gripper open."""
    joints = np.concatenate([observation.policy["joint_pos"], np.ones((len(observation.worlds), 1))], axis=1)
    return joints[:, None].astype(np.float32)


def shooting(observation, taken):
    """The observation, with images that take longer than a policy may."""

    def take(rows=None):
        time.sleep(SHOT_S)
        taken.append((threading.current_thread(), rows))
        return {"overhead_rgb": np.zeros((len(rows), 4, 4, 3), np.uint8)} if rows is not None else "all"

    return replace(observation, camera_obs=Lazy({}, {"overhead_rgb": take}), photograph=take)


@pytest.mark.parametrize(
    "look", [lambda seen: seen.photograph([0, 2]), lambda seen: seen.camera_obs["overhead_rgb"]], ids=["some", "all"]
)
def test_the_thread_that_asks_a_policy_takes_its_images_and_their_time_does_not_count(checked, observe, look):
    taken = []
    policy = Scripted(lambda seen: (look(seen), still(seen))[1])
    answer = checked(policy, deadline_s=0.2).act(shooting(observe(), taken))
    assert answer.errors == {}
    assert taken[0][0] is threading.current_thread()
    assert (answer.seconds < SHOT_S).all()


def test_what_a_camera_raises_is_no_fault_of_the_policy(checked, observe):
    def broken(rows):
        raise RuntimeError("CUDA out of memory")

    def swallowing(seen):
        try:
            seen.photograph([0])
        except RuntimeError:
            pass
        return still(seen)

    for answer in (swallowing, lambda seen: seen.photograph([0])):
        with pytest.raises(RuntimeError) as error:
            checked(Scripted(answer)).act(replace(observe(), photograph=broken))
        assert str(error.value) == "CUDA out of memory"


def test_a_camera_that_is_not_there_is_the_policys_fault(checked, observe):
    given = checked(Scripted(lambda seen: seen.camera_obs["side_rgb"])).act(observe())
    assert {error.reason for error in given.errors.values()} == {"it raised KeyError: 'side_rgb'"}


def test_asking_whether_an_image_is_there_does_not_take_it(observe):
    lazy = Lazy({}, {"overhead_rgb": lambda: pytest.fail("it was taken")})
    assert "overhead_rgb" in lazy
    assert "side_rgb" not in lazy


def test_after_a_call_was_given_up_its_errands_are_not_done():
    worker, go, ended = Worker("trial"), threading.Event(), threading.Event()
    raised = []

    def slow():
        go.wait(5)
        try:
            worker.on_caller(lambda: pytest.fail("it was done"))
        except NobodyWaits as error:
            raised.append(str(error))
        ended.set()

    assert worker.call(slow, deadline_s=0.01).stalled
    go.set()
    assert ended.wait(5)
    assert raised == ["nobody waits for an answer any more"]
    worker.close()
