"""Attempts, merged shards and repeated runs: nothing counts twice, nothing is averaged in silence."""

from hypothesis import given
from hypothesis import strategies as st

from evaluator.judging.stability import flip_rate
from evaluator.judging.unique import one_each


def test_a_lost_attempt_is_replaced_and_a_judged_one_never(episode):
    lost, failed, won = (episode("a", o, attempt=i) for i, o in enumerate(["infra_error", "failure", "success"]))
    chosen = one_each([won, failed, lost])
    assert chosen.episodes == (failed,)
    assert chosen.conflicts == ((failed, won),)


def test_where_all_attempts_were_lost_the_rollout_is_missing_once(episode):
    chosen = one_each([episode("a", "infra_error", attempt=attempt) for attempt in range(3)])
    assert [one.key.attempt for one in chosen.episodes] == [2]
    assert chosen.conflicts == ()


def test_the_same_attempt_with_two_outcomes_is_a_conflict(episode):
    rows = [episode("a"), episode("a", "failure")]
    assert one_each(rows).conflicts == one_each(rows[::-1]).conflicts
    assert len(one_each(rows).conflicts) == 1
    assert one_each(rows).episodes == one_each(rows[::-1]).episodes


def test_seeds_and_scenes_are_rollouts_of_their_own(episode):
    rows = [episode("a"), episode("b"), episode("a", seed=1), episode("a")]
    chosen = one_each(rows)
    assert [(one.key.scenario_id, one.key.seed) for one in chosen.episodes] == [("a", 0), ("a", 1), ("b", 0)]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=8))
def test_flips_are_counted_in_what_both_runs_judged(episode, pairs):
    names = ["failure", "success"]
    first = [episode(f"s{i}", names[one]) for i, (one, _) in enumerate(pairs)]
    second = [episode(f"s{i}", names[other]) for i, (_, other) in enumerate(pairs)]
    extra = [episode("x"), episode("y", "infra_error")]
    rate = flip_rate([*first, *extra], [*second, episode("y")])
    assert (rate.hits, rate.trials) == (sum(one != other for one, other in pairs), len(pairs))
