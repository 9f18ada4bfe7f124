"""From traces to episodes: outcomes, flaws, and what must not matter."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.judging.episode import Episode, EpisodeKey
from evaluator.judging.judge import judge
from evaluator.judging.outcome import Outcome
from evaluator.judging.trace import EndReason
from evaluator.judging.validity import Flaw
from library.tables import EPISODES, is_proved

BOLT, LONG, NUT, WASHER = "hex_bolt_m6x20_00", "hex_bolt_m8x20_00", "hex_nut_m6_00", "flat_washer_m8_00"
KEY = EpisodeKey(run_id="run", scenario_id="scenario", seed=3)


def judged(script, end=EndReason.DONE, **changes):
    return judge(script.trace(end, **changes), script.job, KEY)


@pytest.fixture
def one(play, job_of):
    return play(job_of(BOLT))


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (EndReason.DONE, Outcome.SUCCESS),
        (EndReason.TIMEOUT, Outcome.SUCCESS),
        (EndReason.POLICY_ERROR, Outcome.POLICY_ERROR),
        (EndReason.PHYSICS_INVALID, Outcome.PHYSICS_INVALID),
        (EndReason.INFRA_ERROR, Outcome.INFRA_ERROR),
    ],
)
def test_a_sorted_scene_is_a_success_if_its_end_can_be_trusted(one, end, outcome):
    episode = judge(one.sort(BOLT, "bin_a").trace(end), one.job, KEY, reason="why")
    assert (episode.outcome, episode.category, episode.reason) == (outcome, None, "why")
    assert episode.items[0].ended == "bin_a"


def test_a_failure_has_a_category_and_no_other_outcome_has(one):
    episode = judged(one.sort(BOLT, "bin_b").wait(0.3))
    assert (episode.outcome, episode.category) == (Outcome.FAILURE, "wrong_destination")
    assert episode.began_s == pytest.approx(3.1, abs=0.1)
    assert judged(one, EndReason.POLICY_ERROR).category is None


def test_a_part_that_is_put_into_its_bin_by_no_hand_is_broken_physics(one, spot):
    """Teleported: no speed that it had takes it there. It is no success, though it lies where it belongs."""
    episode = judged(one.wait(0.5).jump(BOLT, spot(BOLT, "bin_a")).wait(1))
    assert (episode.outcome, episode.reason, episode.counts) == (Outcome.PHYSICS_INVALID, Flaw.JUMP, None)
    assert episode.items[0].ended == "feed"
    assert episode.duration_s == pytest.approx(0.5)


def test_a_part_that_flies_fast_does_not_jump(one):
    one.pick(BOLT).let_go(BOLT)
    one._play(0.1, lambda share: one.places.__setitem__(BOLT, np.array([0.45 + share * 0.5, -0.06, 0.2])))
    assert judged(one).outcome is Outcome.FAILURE


@pytest.mark.parametrize("array", ["joint_pos", "joint_vel", "tcp_pose", "item_pose", "item_vel", "fixture_force"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_state_that_is_not_finite_ends_what_can_be_judged(one, array, value):
    """Neither success nor failure, and what came before is judged as if nothing had happened."""
    one.sort(BOLT, "bin_a")
    sound = judged(one)
    trace = one.trace()
    spoilt = getattr(trace, array).copy()
    spoilt[100:].flat[0] = value
    episode = judge(replace(trace, **{array: spoilt}), one.job, KEY)
    assert (episode.outcome, episode.reason) == (Outcome.PHYSICS_INVALID, Flaw.NOT_FINITE)
    assert episode.events == tuple(event for event in sound.events if event.time_s < 2.0)
    assert episode.counts is False  # The robot had touched the bolt.


def test_a_rotation_that_is_none_is_no_state(one):
    trace = one.wait(0.5).trace()
    poses = trace.item_pose.copy()
    poses[10:, 0, 3:] = 0
    episode = judge(replace(trace, item_pose=poses), one.job, KEY)
    assert (episode.outcome, episode.reason) == (Outcome.PHYSICS_INVALID, Flaw.NOT_FINITE)
    assert episode.duration_s == pytest.approx(0.18)


def test_a_reset_that_did_not_happen_is_no_fault_of_the_policy(one, spot):
    trace = one.trace()
    moved = trace.item_pose.copy()
    moved[:, 0, 0] += 0.05
    episode = judge(replace(trace, item_pose=moved), one.job, KEY)
    assert (episode.outcome, episode.reason, episode.counts) == (Outcome.INFRA_ERROR, Flaw.OTHER_START, None)
    assert judge(replace(trace, item_pose=trace.item_pose * np.nan), one.job, KEY).reason == Flaw.NOT_FINITE


@pytest.mark.parametrize("touched", [True, False])
@pytest.mark.parametrize("outcome", list(Outcome))
def test_what_outcomes_count_for(outcome, touched):
    counts = {
        Outcome.SUCCESS: True,
        Outcome.FAILURE: False,
        Outcome.POLICY_ERROR: False,
        Outcome.PHYSICS_INVALID: False if touched else None,
        Outcome.INFRA_ERROR: None,
    }
    assert outcome.counts(touched=touched) is counts[outcome]


def whole(script, spot):
    """A task with a success, a miss, a slip, a wrong bin and a collision."""
    script.sort(BOLT, "bin_a").reach(LONG).close().move((0.45, 0.06, 0.2)).open().strike(50)
    script.pick(LONG).move((0.45, 0.4, 0.2)).let_go(LONG).fall(LONG, spot(LONG, (0.45, 0.4), floor_m=0.0))
    return script.open().sort(NUT, "bin_d").wait(0.3)


@settings(max_examples=15)
@given(st.permutations(range(4)))
def test_the_order_of_items_does_not_matter(whole_trace, order):
    trace, job, episode = whole_trace
    assert judge(trace.ordered([trace.items[index] for index in order]), job, KEY) == episode


@settings(max_examples=15)
@given(st.integers(1, 60))
def test_rest_at_the_end_changes_nothing_but_the_time(whole_trace, samples):
    trace, job, episode = whole_trace
    later = extended(trace, samples)
    longer = judge(later, job, KEY)
    assert longer.duration_s == pytest.approx(episode.duration_s + samples / 50)
    share = longer.motion.within_limits
    same = {"duration_s": episode.duration_s, "motion": longer.motion.replaced(within_limits=share)}
    assert longer.replaced(**same).replaced(motion=episode.motion) == episode
    assert longer.motion == episode.motion


@settings(max_examples=15)
@given(st.floats(-100, 1000))
def test_the_clock_may_begin_anywhere(whole_trace, start_s):
    trace, job, episode = whole_trace
    moved = judge(replace(trace, time_s=trace.time_s + start_s), job, KEY)
    assert [(event.kind, event.items) for event in moved.events] == [(e.kind, e.items) for e in episode.events]
    assert [e.time_s for e in moved.events] == pytest.approx([e.time_s for e in episode.events], abs=1e-4)
    assert (moved.items, moved.category) == (episode.items, episode.category)


def extended(trace, samples):
    """Hold the last sample, everything at rest."""
    step = trace.time_s[-1] - trace.time_s[-2]
    arrays = {
        name: np.concatenate([array, np.repeat(array[-1:], samples, axis=0)])
        for name, array in vars(trace).items()
        if isinstance(array, np.ndarray) and name not in ("time_s", "latency_s")
    }
    return replace(trace, **arrays, time_s=np.append(trace.time_s, trace.time_s[-1] + step * np.arange(1, samples + 1)))


@pytest.fixture(scope="module")
def whole_trace(play, job, spot):
    trace = whole(play(job), spot).trace()
    return trace, job, judge(trace, job, KEY)


def test_the_whole_task_is_what_it_was_written_to_be(whole_trace):
    episode = whole_trace[2]
    assert [item.ended for item in episode.items] == ["bin_a", "off-bins", "bin_d", "feed"]
    task = episode.task
    assert (task.to_sort, task.sorted, task.missorted) == (3, 1, 1)
    assert (task.misses, task.slips, task.drops, task.mishaps, task.recovered) == (1, 1, 1, 4, False)
    assert episode.motion.collisions == 1
    assert (episode.category, episode.touched, episode.counts) == ("grasp_slip", True, False)


def test_episodes_go_into_the_library_and_come_back(whole_trace, one):
    lost = Episode.lost(KEY, "the worker died")
    for episode in (whole_trace[2], judged(one.wait(0.1), EndReason.TIMEOUT, latency_s=np.array([0.1, 0.2])), lost):
        row = episode.columns()
        assert is_proved(row)
        assert Episode.of(EPISODES.arrow([row]).to_pylist()[0]) == episode
    assert lost.counts is None


def test_an_empty_scene_can_be_judged(play, job_of):
    episode = judged(play(job_of()).move((0.5, 0, 0.2)).close().open())
    assert (episode.outcome, episode.events, episode.items) == (Outcome.SUCCESS, (), ())


def test_nothing_unknown_is_kept_as_a_number(one):
    unknown = dict.fromkeys(("fixture_force", "joint_torque", "body_touch", "item_fixture", "latency_s"))
    episode = judged(one.sort(BOLT, "bin_a"), **unknown)
    motion = episode.motion
    assert (episode.task.jams, motion.torque_peak, motion.force_peak_n) == (None, None, None)
    assert (motion.collisions, motion.body_hits, motion.carried_hits) == (None, None, None)
    assert episode.latencies.mean_s is None
    assert episode.outcome is Outcome.SUCCESS
