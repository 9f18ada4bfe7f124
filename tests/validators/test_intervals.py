"""Wilson's interval against published cases, and its laws."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from validators.intervals import Rate, wilson

CASES = json.loads((Path(__file__).parent / "data" / "intervals.json").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['hits']}/{case['trials']}")
def test_published_cases(case):
    low, high = wilson(case["hits"], case["trials"])
    assert (low, high) == pytest.approx((case["low"], case["high"]), abs=6e-5)


@given(st.integers(1, 10_000), st.data())
def test_interval_contains_the_share_and_mirrors(trials, data):
    hits = data.draw(st.integers(0, trials))
    low, high = wilson(hits, trials)
    assert 0 <= low <= hits / trials <= high <= 1
    assert wilson(trials - hits, trials) == pytest.approx((1 - high, 1 - low), abs=1e-12)


def test_nothing_counted_is_nothing_known():
    assert wilson(0, 0) == (0.0, 1.0)
    assert Rate.of(0, 0).share == 0.0


def test_a_rate_prints_with_its_interval():
    assert str(Rate.of(45, 50)) == "45/50 = 0.900 [0.786, 0.957]"
