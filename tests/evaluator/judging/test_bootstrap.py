"""Bootstrap intervals of means: against another implementation, and their laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from evaluator.judging.bootstrap import bootstrap_means, sums_by_group
from scenegen.streams import stream


def interval(values, groups=None, *, key=0, resamples=2000):
    names = groups or [f"g{index:03}" for index in range(len(values))]
    fractions = [None if value is None else (value, 1.0) for value in values]
    return bootstrap_means({"m": sums_by_group(fractions, names)}, rng=stream("boot", key), resamples=resamples)["m"]


def test_it_agrees_with_scipy_for_many_groups():
    """With 400 values the widening for few groups is 0.4 % of the width."""
    values = stream("values").exponential(size=400)
    found = interval(values.tolist(), resamples=6000)
    other = bootstrap((values,), np.mean, n_resamples=6000, method="BCa", rng=stream("scipy")).confidence_interval
    width = other.high - other.low
    assert found == pytest.approx((other.low, other.high), abs=0.05 * width)


def test_it_is_wider_for_few_groups():
    values = [1.0, 2.0, 4.0, 8.0, 3.0, 2.5]
    low, high = interval(values)
    other = bootstrap((np.array(values),), np.mean, n_resamples=4000, method="BCa", rng=stream("x")).confidence_interval
    assert low < other.low < other.high < high


def test_episodes_of_one_base_go_together():
    """Four values a base that are all alike tell as much as one."""
    values = [1.0, 2.0, 4.0, 8.0, 3.0, 2.5]
    repeated = [value for value in values for _ in range(4)]
    names = [f"g{index:03}" for index in range(6) for _ in range(4)]
    assert interval(repeated, names) == pytest.approx(interval(values))


@settings(max_examples=30)
@given(st.lists(st.floats(-100, 100), min_size=2, max_size=15), st.floats(-50, 50), st.floats(0.1, 9))
def test_the_interval_moves_and_stretches_with_the_values(values, shift, scale):
    found = interval(values, resamples=300)
    if found is None:
        assert np.ptp(values) < 1e-6
        return
    low, high = found
    rounding = 1e-12 * (1 + max(map(abs, values)))
    assert min(values) - rounding <= low <= high <= max(values) + rounding
    moved = interval([value * scale + shift for value in values], resamples=300)
    if np.ptp(values) > 1e-3:
        assert moved == pytest.approx(
            (low * scale + shift, high * scale + shift), abs=1e-4 * scale + 0.02 * scale * np.ptp(values)
        )


def test_unknown_values_are_left_out():
    values = [1.0, 2.0, None, 8.0, 3.0]
    low, high = interval(values)
    assert 1 <= low < 3.5 < high <= 8
    assert interval([None, 1.0]) is None


def test_nothing_is_told_where_nothing_was_seen():
    assert interval([]) is None
    assert interval([3.0]) is None
    assert interval([3.0, 3.0, 3.0]) is None


def test_a_few_wild_values_break_nothing():
    low, high = interval([0.0] * 30 + [1e6])
    assert 0 <= low < 1e6 / 31 < high <= 1e6


def test_the_same_stream_gives_the_same_interval():
    assert interval([1.0, 2.0, 5.0], key=1) == interval([1.0, 2.0, 5.0], key=1)


def test_intervals_hold_the_mean_as_often_as_they_should():
    """Of 200 samples of 10 exponential values, whose mean is one."""
    rng = stream("cover")
    held = 0
    for _ in range(200):
        values = rng.exponential(size=10)
        low, high = bootstrap_means({"m": (values, np.ones(10))}, rng=rng, resamples=400)["m"]
        held += low <= 1 <= high
    assert held >= 0.86 * 200
