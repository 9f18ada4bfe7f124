"""The course of the settle check in many worlds: rest, nudges from four sides, a glance, and what follows each."""

import importlib.util

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("mujoco_warp") is None,
    reason="MuJoCo-Warp is not installed - run: pip install 'scenegen[isaac]'",
)

QUIET, MOVING = 10, 0


@pytest.fixture
def kernels():
    from evaluator.isaac import settle_kernels

    return settle_kernels


@pytest.fixture
def turns():
    """Two worlds of which the first takes a scene; a step is 2.5 ms."""
    from evaluator.isaac.settle_turns import SettleTurns

    made = SettleTurns(2, timestep_s=0.0025)
    made.begin(np.array([0]), limit_s=np.array([1.0]), nudge=np.array([True]))
    return made


def facts(quiet, *, huge=0, moved=0.0, speed=0.001, depth=1e-5, doubtful=0):
    return np.array([[quiet, huge, moved, speed, depth, doubtful], [50, 0, 0, 0, 0, 0]], float)


def after(turns, *seen):
    """What the first world is told after each look, and what ended at the last one."""
    told = []
    for one in seen:
        actions, ends = turns.decide(one)
        assert actions[1] == 0
        told.append(int(actions[0]))
    return told, ends


def test_what_plainly_rests_is_done_at_once(turns, kernels):
    told, ends = after(turns, facts(MOVING), facts(QUIET, depth=3e-5))
    assert told == [0, kernels.KEEP]
    assert (ends.worlds.tolist(), ends.finite.tolist(), ends.kept.tolist()) == ([0], [True], [True])
    assert ends.seconds.tolist() == [0.025]
    assert ends.penetration_m.tolist() == [3e-5]
    assert turns.empty.tolist() == [0, 1]


def test_what_may_be_balanced_is_pushed_from_four_sides_and_looked_at(turns, kernels):
    doubt = facts(QUIET, doubtful=2)
    told, ends = after(turns, doubt, facts(MOVING), doubt, doubt, doubt, doubt)
    pushes = [kernels.PUSH | (side << kernels.PUSH_SHIFT) for side in range(4)]
    assert told == [kernels.KEEP | pushes[0], 0, *pushes[1:], kernels.RESTORE]
    assert len(ends.worlds) == 0
    told, ends = after(turns, *[facts(MOVING)] * 4)
    assert told == [0] * 4
    assert ends.kept.tolist() == [True]
    assert ends.seconds.tolist() == [0.0125]


def test_what_a_push_moves_is_pushed_anew_from_where_it_rests(turns, kernels):
    doubt, moved = facts(QUIET, doubtful=1), facts(QUIET, doubtful=1, moved=0.002)
    told, _ = after(turns, doubt, doubt, doubt, doubt, moved)
    assert told[-1] == kernels.KEEP | kernels.PUSH


def test_what_creeps_is_watched_for_a_second_and_comes_to_rest_again(turns, kernels):
    doubt, creeping = facts(QUIET, doubtful=1), facts(QUIET, moved=0.0001, doubtful=1)
    after(turns, *[doubt] * 5)
    told, ends = after(turns, *[creeping] * 79)
    assert set(told) == {0}
    assert len(ends.worlds) == 0
    told, _ = after(turns, facts(QUIET, moved=0.001, doubtful=1))
    assert told == [kernels.RECOUNT]
    told, _ = after(turns, facts(MOVING), doubt)
    assert told == [0, kernels.KEEP | kernels.PUSH]


def test_what_hardly_creeps_stays(turns):
    doubt = facts(QUIET, doubtful=1)
    after(turns, *[doubt] * 5)
    _, ends = after(turns, *[facts(QUIET, moved=0.0001)] * 80)
    assert ends.kept.tolist() == [True]


def test_what_never_rests_ends_at_the_limit_where_it_is(turns):
    _, ends = after(turns, *[facts(MOVING, speed=0.2)] * 80)
    assert ends.kept.tolist() == [False]
    assert ends.finite.tolist() == [True]
    assert (ends.seconds.tolist(), ends.speed_m_s.tolist()) == ([1.0], [0.2])


def test_nudges_may_take_as_long_again(turns):
    doubt = facts(QUIET, doubtful=1)
    _, ends = after(turns, *[facts(MOVING)] * 78, doubt, *[facts(MOVING)] * 79)
    assert len(ends.worlds) == 0
    _, ends = after(turns, facts(MOVING))
    assert ends.kept.tolist() == [False]


def test_what_diverges_ends(turns):
    _, ends = after(turns, facts(MOVING), facts(QUIET, huge=1))
    assert ends.finite.tolist() == [False]
    assert ends.seconds.tolist() == [0.025]


def test_without_nudges_a_rest_is_a_rest(turns, kernels):
    turns.drop(np.array([0]))
    turns.begin(np.array([0]), limit_s=np.array([1.0]), nudge=np.array([False]))
    told, ends = after(turns, facts(QUIET, doubtful=3))
    assert told == [kernels.KEEP]
    assert ends.kept.tolist() == [True]
