"""How long calls take: exact moments, quantiles that never flatter, and sums that lose nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.judging.measures_timing import STEP, Latencies

samples = st.lists(st.floats(1e-5, 10), max_size=40)


@given(samples, samples)
def test_collections_add_up(first, second):
    both, whole = Latencies.of(first) + Latencies.of(second), Latencies.of(first + second)
    assert (both.count, both.bins, both.max_s) == (whole.count, whole.bins, whole.max_s)
    if whole.count:
        assert both.mean_s == pytest.approx(whole.mean_s)
        assert both.jitter_s == (None if whole.count < 2 else pytest.approx(whole.jitter_s, rel=1e-6, abs=1e-9))


@given(samples.filter(bool), st.floats(0.001, 1))
def test_quantiles_are_a_little_too_long_and_never_too_short(values, share):
    exact = float(np.quantile(values, share, method="inverted_cdf"))
    assert exact * (1 - 1e-9) <= Latencies.of(values).quantile_s(share) <= exact * STEP * (1 + 1e-9)


def test_the_figures_of_known_calls():
    calls = Latencies.of([0.1] * 98 + [0.5, 0.9])
    assert calls.mean_s == pytest.approx(0.112)
    assert calls.jitter_s == pytest.approx(np.std([0.1] * 98 + [0.5, 0.9], ddof=1))
    assert 0.5 <= calls.p99_s <= 0.51
    assert calls.max_s == 0.9
    low, high = calls.p99_interval_s
    assert 0.1 <= low <= calls.p99_s <= high == 0.9


def test_of_no_calls_nothing_is_known():
    none = Latencies.of([])
    assert (none.mean_s, none.jitter_s, none.max_s, none.p99_s, none.p99_interval_s) == (None,) * 5
    assert Latencies.of([0.2]).jitter_s is None
    assert Latencies.of([0.2]) + none == none + Latencies.of([0.2]) == Latencies.of([0.2])
    assert Latencies.of([0.0]).p99_s == 0.0


def test_kept_and_read_back_they_are_the_same():
    calls = Latencies.of([0.001, 0.2, 0.3])
    assert Latencies.from_json(calls.canonical_json()) == calls
