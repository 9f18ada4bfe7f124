"""What a policy keeps of its success, against twins on the same seeds."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.judging.paired import PairCounts, difference_interval, mcnemar, ratio_interval
from evaluator.judging.retention import Pair, compare, retention

BOOLEANS = (True, False, None)


def pairs_of(counts):
    """Pairs with a base each."""
    kinds = [(True, True), (True, False), (False, True), (False, False)]
    rows = [kind for kind, count in zip(kinds, counts, strict=True) for _ in range(count)]
    return [Pair(f"b{index:03}", *row) for index, row in enumerate(rows)]


def test_independent_pairs_have_the_published_intervals():
    """Cavo et al. 2012, as in Fagerland, Lydersen and Laake 2017: twin and scene for before and after."""
    found = compare(pairs_of((59, 16, 6, 80)), axis="glare", level=3)
    assert (found.both, found.lost, found.gained, found.neither, found.missing) == (59, 16, 6, 80, 0)
    difference, ratio = found.difference, found.ratio
    assert (difference.value, difference.low, difference.high) == pytest.approx((-0.0621, -0.1240, -0.0054), abs=6e-5)
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx((0.8667, 0.7476, 0.9876), abs=6e-5)
    assert found.p_value == pytest.approx(0.052479, abs=6e-7)
    assert (found.worst_low, found.worst_high) == (difference.low, difference.high)
    assert (found.twins.value, found.scenes.value) == pytest.approx((75 / 161, 65 / 161))


def test_published_retention_of_a_policy():
    """LIBERO-Plus, OpenVLA-OFT: 97.1 nominal, 56.4 with another camera: 0.581 is kept."""
    found = compare(pairs_of((564, 407, 0, 29)), axis="camera", level=1)
    assert found.ratio.value == pytest.approx(0.581, abs=5e-4)


def test_variants_that_share_a_twin_are_worth_fewer_pairs():
    """Five bases of eight variants, which all come out alike: five pairs."""
    pairs = [Pair(f"b{base}", True, base < 3) for base in range(5) for _ in range(8)]
    found = compare(pairs, axis="glare", level=1)
    low, high = difference_interval(PairCounts(3, 2, 0, 0))
    assert (found.difference.low, found.difference.high) == pytest.approx((low, high), abs=1e-6)
    assert (found.ratio.low, found.ratio.high) == pytest.approx(ratio_interval(PairCounts(3, 2, 0, 0)), abs=1e-6)
    assert (found.difference.count, found.difference.groups, found.p_value) == (40, 5, None)


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ((10, 5, 0, 0), "15 pairs - accepted: 20 at least"),
        ((2, 1, 3, 34), "twins succeed in 7.5% - accepted: 20% at least"),
        ((0, 0, 0, 0), "0 pairs - accepted: 20 at least"),
    ],
)
def test_a_ratio_that_would_explode_is_refused(counts, reason):
    found = compare(pairs_of(counts), axis="tilt", level=1)
    assert (found.ratio, found.no_ratio) == (None, reason)
    assert -1 <= found.difference.low <= found.difference.high <= 1


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(BOOLEANS), st.sampled_from(BOOLEANS)), max_size=30))
def test_figures_are_finite_and_what_is_missing_widens(rows):
    found = compare([Pair(f"b{base}", twin, scene) for base, twin, scene in rows], axis="a", level=1)
    known = [(twin, scene) for _, twin, scene in rows if twin is not None and scene is not None]
    assert found.missing == len(rows) - len(known)
    assert found.both + found.lost + found.gained + found.neither == len(known)
    for one in (found.worst_low, found.worst_high, found.difference.low, found.difference.high):
        assert math.isfinite(one)
    assert found.worst_low <= found.difference.low <= found.difference.high <= found.worst_high
    if not found.missing:
        assert (found.worst_low, found.worst_high) == (found.difference.low, found.difference.high)
    if found.ratio is not None:
        assert found.ratio.low <= found.ratio.value + 1e-6
        assert found.ratio.high is None or found.ratio.value <= found.ratio.high + 1e-6
    if found.p_value is not None:
        assert found.p_value == pytest.approx(mcnemar(found.lost, found.gained))


def test_what_is_missing_is_taken_at_its_worst_and_best():
    known = pairs_of((10, 2, 1, 5))
    lost = [Pair("m0", True, None), Pair("m1", None, True), Pair("m2", None, None)]
    found = compare([*known, *lost], axis="a", level=1)
    assert found.worst_low == pytest.approx(difference_interval(PairCounts(11, 4, 1, 5))[0], abs=1e-6)
    assert found.worst_high == pytest.approx(difference_interval(PairCounts(11, 2, 3, 5))[1], abs=1e-6)


def test_scenes_are_paired_with_their_base_on_the_same_seed(episode, origin):
    origins = {
        "b0": origin("b0"),
        "b1": origin("b1"),
        "b0dim": origin("b0", "lighting", level=2),
        "b1dim": origin("b1", "lighting", level=2),
        "b1tilt": origin("b1", "tilt", level=5),
    }
    rows = [
        episode("b0"),
        episode("b0", "failure", seed=1),
        episode("b1", "infra_error"),
        episode("b0dim", "failure"),
        episode("b0dim", seed=1),
        episode("b0dim", seed=2),
        episode("b1dim"),
        episode("b1tilt", "physics_invalid", touched=False),
    ]
    lighting, tilt = retention(rows, origins)
    assert (lighting.axis, lighting.level, tilt.axis, tilt.level) == ("lighting", 2, "tilt", 5)
    assert (lighting.both, lighting.lost, lighting.gained, lighting.neither, lighting.missing) == (0, 1, 1, 0, 2)
    assert (tilt.missing, tilt.difference.value, tilt.difference.low, tilt.difference.high) == (1, None, -1.0, 1.0)
    assert retention([], origins) == ()
