"""Shares of grouped trials: Wilson where they are independent, honest where they are not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.judging.clustered import Tally, clustered_share, design_effect, grouped
from scenegen.streams import stream
from validators.intervals import wilson

groups = st.lists(
    st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=12
)


def tallies(pairs):
    return [Tally(f"g{index:03}", hits, trials) for index, (hits, trials) in enumerate(pairs)]


@pytest.mark.parametrize(("hits", "trials"), [(81, 263), (15, 148), (0, 20), (1, 29), (20, 20)])
def test_one_trial_a_group_is_wilson(hits, trials):
    found = clustered_share([Tally(str(index), float(index < hits), 1) for index in range(trials)])
    assert (found.low, found.high) == pytest.approx(wilson(hits, trials), abs=1e-6)
    assert (found.count, found.groups) == (trials, trials)


@given(groups)
def test_the_effect_is_between_none_and_whole_groups(pairs):
    hits, trials = grouped(tallies(pairs))
    effect = design_effect(hits, trials)
    assert 1 <= effect <= (trials**2).sum() / trials.sum() + 1e-9


@settings(max_examples=50)
@given(groups, st.randoms(use_true_random=False))
def test_the_interval_holds_the_share_whatever_the_order(pairs, shuffle):
    rows = tallies(pairs)
    found = clustered_share(rows)
    assert found.low - 1e-6 <= found.value <= found.high + 1e-6
    shuffle.shuffle(rows)
    assert clustered_share(rows) == found
    split = [Tally(row.group, part, row.trials / 2) for row in rows for part in (row.hits / 2, row.hits / 2)]
    assert clustered_share(split) == found


def test_groups_that_agree_within_are_worth_one_trial_each():
    """Ten bases of twenty variants, each base all or nothing: the interval of 6 in 10."""
    found = clustered_share([Tally(str(index), 20.0 * (index < 6), 20) for index in range(10)])
    assert (found.low, found.high) == pytest.approx(wilson(6, 10), abs=1e-6)
    assert clustered_share([Tally("one", 20, 20)]).low == pytest.approx(wilson(1, 1)[0], abs=1e-6)


def test_nothing_counted_is_nothing_known():
    found = clustered_share([], unknown=3)
    assert (found.value, found.low, found.high, found.count, found.unknown) == (None, 0.0, 1.0, 0, 3)
    assert clustered_share([Tally("a", 0, 0)]) == clustered_share([])


def test_intervals_cover_where_trials_of_a_group_go_together():
    """200 runs of 10 bases with 20 variants, correlation 0.3: 95 % intervals miss in few, Wilson's alone in half."""
    rng, covered, naive = stream("clustered"), 0, 0
    for _ in range(200):
        shares = rng.beta(0.8 * 7 / 3, 0.2 * 7 / 3, 10)
        hits = rng.binomial(20, shares)
        found = clustered_share([Tally(str(index), float(one), 20) for index, one in enumerate(hits)])
        covered += found.low <= 0.8 <= found.high
        low, high = wilson(int(hits.sum()), 200)
        naive += low <= 0.8 <= high
    assert covered >= 0.9 * 200
    assert naive <= 0.65 * 200
