"""Policy, chunks and latency together: the world goes on while the policy thinks, each world for itself."""

import numpy as np

from evaluator.policies.actions import rest_actions
from evaluator.policies.chunks import ChunkBuffer
from evaluator.policies.latency import ProfileLatency

PROFILE_S = [0.0, 0.12, 0.31, 0.05, 0.24]
TICKS = 60


def rolled(policy, observe, worlds, latency):
    """Run some worlds of three; gives what each did, shape [worlds, ticks, numbers], and when each was asked."""
    buffer = ChunkBuffer(3, policy.spec, numbers=8)
    names = [f"sort {world}" for world in worlds]
    policy.reset(worlds, names)
    latency.reset(worlds, names)
    buffer.reset(worlds, rest_actions(policy.spec.action, observe(worlds).policy))
    done, asked = [], {world: [] for world in worlds}
    for tick in range(TICKS):
        due = [world for world in worlds if buffer.due()[world]]
        if due:
            answer = policy.act(observe(due, tick))
            assert answer.errors == {}
            buffer.put(due, answer.chunks, latency_s=latency.seconds(due, answer.seconds))
        for world in due:
            asked[world].append(tick)
        done.append(buffer.step()[list(worlds)])
    return np.stack(done, axis=1), asked


def test_what_a_world_does_depends_on_no_other_world(checked, observe):
    together, asked = rolled(checked("random"), observe, (0, 1, 2), ProfileLatency(PROFILE_S, seed=5))
    for world in range(3):
        alone, ticks = rolled(checked("random"), observe, (world,), ProfileLatency(PROFILE_S, seed=5))
        assert alone[0].tobytes() == together[world].tobytes()
        assert ticks[world] == asked[world]
    assert len({tuple(ticks) for ticks in asked.values()}) > 1, "they are asked at different times"


def test_a_slow_policy_is_asked_less_often_and_its_robot_stands_still_meanwhile(checked, observe):
    quick, asked_quick = rolled(checked("random"), observe, (0,), ProfileLatency([0.0], seed=0))
    slow, asked_slow = rolled(checked("random"), observe, (0,), ProfileLatency([0.5], seed=0))
    assert asked_quick[0] == list(range(0, TICKS, 8))
    assert asked_slow[0] == list(range(0, TICKS, 18))
    still = np.flatnonzero((np.diff(slow[0], axis=0) == 0).all(axis=1))
    assert still.tolist() == [*range(9), *range(17, 27), *range(35, 45), *range(53, 59)]
    assert (np.diff(quick[0], axis=0) != 0).any(axis=1).all()
