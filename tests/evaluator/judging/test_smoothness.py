"""Smoothness against the authors' own numbers, and its laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.judging.smoothness import LEAST_SAMPLES, log_dimensionless_jerk, spectral_arc_length

TIME_S = np.arange(-1, 1, 0.01)
BELL = np.exp(-5 * TIME_S**2)
"""The example of the authors' package (github.com/siva82kb/smoothness), sampled at 100 Hz."""


def test_the_authors_numbers():
    assert spectral_arc_length(BELL, 100) == pytest.approx(-1.41403, abs=5e-6)
    assert log_dimensionless_jerk(BELL[:, None], 100) == pytest.approx(-5.81636, abs=5e-6)
    assert log_dimensionless_jerk(np.stack([BELL] * 3, axis=1), 100) == pytest.approx(-5.81636, abs=5e-6)


@given(st.floats(0.01, 100))
def test_how_far_and_how_fast_does_not_matter(scale):
    assert spectral_arc_length(BELL * scale, 100) == pytest.approx(spectral_arc_length(BELL, 100))
    assert log_dimensionless_jerk(BELL[:, None] * scale, 100) == pytest.approx(-5.81636, abs=5e-6)


def test_how_long_does_not_matter_to_jerk():
    assert log_dimensionless_jerk(BELL[:, None], 50) == pytest.approx(-5.81636, abs=5e-6)


@pytest.mark.parametrize("stops", [1, 2, 4])
def test_stops_are_unsmooth(stops):
    halting = np.concatenate([BELL] * (stops + 1))
    fewer = np.concatenate([BELL] * stops)
    assert spectral_arc_length(halting, 100) < spectral_arc_length(fewer, 100) - 0.1


def test_trembling_is_unsmooth():
    trembling = BELL * (1 + 0.5 * np.sin(2 * np.pi * 6 * TIME_S))
    assert spectral_arc_length(trembling, 100) < -1.6
    assert log_dimensionless_jerk(trembling[:, None], 100) < -9


def test_of_what_is_too_short_or_still_nothing_is_told():
    short = BELL[: LEAST_SAMPLES - 1]
    for speed in (short, np.zeros(100), np.zeros(0)):
        assert spectral_arc_length(speed, 100) is None
        assert log_dimensionless_jerk(speed[:, None], 100) is None
    assert spectral_arc_length(BELL, 0.0) is None
    assert log_dimensionless_jerk(np.ones((50, 3)), 100) is None
