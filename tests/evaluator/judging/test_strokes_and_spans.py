"""Movements of the gripper, and runs of samples."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.judging.spans import bridged, spans
from evaluator.judging.stroke import STROKE, strokes

flags = st.lists(st.booleans(), max_size=40).map(lambda values: np.array(values, bool))


@given(flags)
def test_spans_are_the_runs(values):
    found = spans(values)
    rebuilt = np.zeros(len(values), bool)
    for span in found:
        assert span.start < span.end
        rebuilt[span.start : span.end] = True
    assert np.array_equal(rebuilt, values)
    assert all(before.end < after.start for before, after in pairwise(found))


@given(flags, st.floats(0, 0.3))
def test_bridging_fills_short_gaps_alone(values, gap_s):
    time_s = np.arange(len(values)) * 0.02
    filled = bridged(values, time_s, gap_s=gap_s)
    assert (filled >= values).all()
    assert np.array_equal(bridged(filled, time_s, gap_s=gap_s), filled)
    for before, after in pairwise(spans(filled)):
        assert time_s[after.start] - time_s[before.end - 1] > gap_s - 1e-9


def test_a_gripper_that_closes_waits_and_opens():
    opening = np.concatenate([np.ones(5), np.linspace(1, 0.3, 8), np.full(10, 0.3), np.linspace(0.3, 0.9, 7)])
    close, reopen = strokes(opening)
    assert (close.closes, reopen.closes) == (True, False)
    assert (close.start, close.end) == (5, 12)
    assert (reopen.start, reopen.end) == (23, 29)


def test_a_stroke_that_dips_still_begins_before_it_ends():
    (stroke,) = strokes(np.array([0.0, 0.021, 0.004, 0.022]))
    assert (stroke.start, stroke.end) == (1, 1)


@pytest.mark.parametrize("opening", [np.zeros(0), np.ones(1), np.full(30, 0.4)])
def test_a_gripper_that_does_not_move_has_no_strokes(opening):
    assert strokes(opening) == []


@given(st.lists(st.floats(0, 1), min_size=2, max_size=60))
def test_strokes_alternate_in_order_and_trembling_is_none(values):
    found = strokes(np.array(values))
    assert all(before.closes is not after.closes for before, after in pairwise(found))
    assert all(0 <= stroke.start <= stroke.end < len(values) for stroke in found)
    assert bool(found) == (np.ptp(values) >= STROKE)
    assert strokes(np.array(values) * STROKE * 0.9) == []
