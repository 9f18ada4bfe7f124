"""Intervals of pairs against published tables, and their laws."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.judging.paired import PairCounts, difference_interval, mcnemar, ratio_interval

CASES = json.loads((Path(__file__).parent / "data" / "paired.json").read_text())["cases"]
Z_90 = 1.6448536269514722
counts = st.builds(PairCounts, *[st.integers(0, 40)] * 4)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_published_cases(case):
    table = PairCounts(*(case[name] for name in PairCounts._fields))
    assert difference_interval(table) == pytest.approx(case["difference"], abs=case["tolerance"])
    assert ratio_interval(table) == pytest.approx(case["ratio"], abs=case["tolerance"])
    if "mcnemar" in case:
        assert mcnemar(case["lost"], case["gained"]) == pytest.approx(case["mcnemar"], abs=6e-7)


def test_tango_at_another_level():
    """PropCIs 0.3-0, `scoreci.mp(25, 28, 618, 0.9)`: the difference is the second count less the first."""
    found = difference_interval(PairCounts(500, 25, 28, 65), Z_90)
    assert found == pytest.approx((-0.0148, 0.0247), abs=6e-5)


@settings(max_examples=80)
@given(counts)
def test_intervals_hold_their_estimate_and_mirror(table):
    low, high = difference_interval(table)
    assert -1 <= low <= high <= 1
    mirrored = table._replace(lost=table.gained, gained=table.lost)
    assert difference_interval(mirrored) == pytest.approx((-high, -low), abs=1e-6)
    if table.pairs:
        assert low - 1e-6 <= (table.gained - table.lost) / table.pairs <= high + 1e-6
    ratio = ratio_interval(table)
    assert (ratio is None) == (table.both + table.lost == 0)
    if ratio is not None:
        value = (table.both + table.gained) / (table.both + table.lost)
        assert 0 <= ratio[0] <= value * (1 + 1e-6) + 1e-6
        assert value <= ratio[1] * (1 + 1e-6)
        back = ratio_interval(mirrored)
        if back is not None and 0 < ratio[0] and ratio[1] < 1e5:
            assert back == pytest.approx((1 / ratio[1], 1 / ratio[0]), rel=1e-4)


@settings(max_examples=40)
@given(counts, st.floats(1, 20))
def test_fewer_pairs_give_wider_intervals(table, effect):
    low, high = difference_interval(table)
    wide_low, wide_high = difference_interval(table.by(effect))
    assert wide_low <= low + 1e-6
    assert high - 1e-6 <= wide_high


def test_difference_and_ratio_agree_on_whether_there_is_a_difference():
    """Both invert the same test at no difference: McNemar's without correction."""
    for lost in range(12):
        table = PairCounts(20, lost, 3, 5)
        low, high = difference_interval(table)
        ratio_low, ratio_high = ratio_interval(table)
        assert (low <= 0 <= high) == (ratio_low <= 1 <= ratio_high)


def test_nothing_compared_is_nothing_known():
    assert difference_interval(PairCounts(0, 0, 0, 0)) == (-1.0, 1.0)
    assert ratio_interval(PairCounts(0, 0, 3, 4)) is None
    assert mcnemar(0, 0) == 1.0


def test_where_all_agree_the_interval_is_still_wide():
    """Of n pairs without a discordant one, z² / (n + z²) to either side."""
    low, high = difference_interval(PairCounts(10, 0, 0, 0))
    assert (low, high) == pytest.approx((-0.27753, 0.27753), abs=1e-4)
    assert ratio_interval(PairCounts(0, 10, 0, 0))[0] == 0.0
    assert ratio_interval(PairCounts(1, 0, 0, 0))[1] < math.inf
    assert ratio_interval(PairCounts(1, 0, 40, 0))[1] > 10


def test_mcnemar_is_a_binomial_test():
    assert mcnemar(0, 5) == pytest.approx(2 / 32)
    assert mcnemar(3, 3) == 1.0
