"""Causes of failures: the whole table of rules, every combination."""

from itertools import product

import pytest

from evaluator.judging.attribution import CAUSE_OF, Attribution, Cause, Result, Rule, attribute, count_causes
from evaluator.judging.category import FailureCategory

WON = Result(None)
FAILED = [Result(category) for category in FailureCategory]
TWINS = [None, WON, *FAILED]
PERCEPTION, UNKNOWN = Cause.PERCEPTION, Cause.UNKNOWN


def test_every_category_has_a_cause_and_every_cause_a_category():
    assert set(CAUSE_OF) == set(FailureCategory)
    assert set(CAUSE_OF.values()) == set(Cause) - {PERCEPTION}


@pytest.mark.parametrize("own", FAILED, ids=lambda result: result.category)
def test_the_first_rule_that_applies_decides(own):
    """All combinations of the twin with the truth, the twin in nominal light, and the base."""
    for truth, light, base in product(TWINS, repeat=3):
        found = attribute(own, truth=truth, nominal_light=light, unperturbed=base)
        if light == WON:
            expected = (PERCEPTION, Rule.IMAGE)
        elif truth == WON:
            expected = (PERCEPTION, Rule.TRUTH)
        elif truth is None:
            expected = (UNKNOWN, Rule.NO_TWIN)
        elif CAUSE_OF[truth.category] == CAUSE_OF[own.category]:
            expected = (CAUSE_OF[own.category], Rule.SAME_FAILURE)
        else:
            expected = (UNKNOWN, Rule.OTHER_FAILURE)
        assert (found.cause, found.rule) == expected
        assert found.perturbed == (None if base is None else base == WON)


@pytest.mark.parametrize(
    ("own", "truth", "cause"),
    [
        ("wrong_destination", None, "perception"),
        ("wrong_destination", "wrong_destination", "decision"),
        ("grasp_miss", "grasp_slip", "control"),
        ("collision", "jam", "planning"),
        ("timeout", "timeout", "planning"),
        ("overlooked", "wrong_object", "decision"),
        ("grasp_miss", "timeout", "unknown"),
        ("recovery_failed", "recovery_failed", "unknown"),
    ],
)
def test_in_words(own, truth, cause):
    """The own failure, that of the twin with the truth (None: it succeeds), and what follows."""
    twin = WON if truth is None else Result(FailureCategory(truth))
    assert attribute(Result(FailureCategory(own)), truth=twin).cause == cause


def test_perception_is_no_cause_of_a_policy_that_knows_the_truth():
    for own in FAILED:
        assert attribute(own, truth=own).cause is not PERCEPTION


def test_a_success_needs_no_cause():
    assert attribute(WON, truth=WON) is None


def test_results_are_read_from_what_can_be_compared(episode):
    assert Result.of(episode("a")) == WON
    assert Result.of(episode("a", "failure", category="jam")) == Result(FailureCategory.JAM)
    for outcome in ("policy_error", "physics_invalid", "infra_error"):
        assert Result.of(episode("a", outcome)) is None
    assert Result.of(None) is None


def test_causes_are_counted_with_intervals():
    one = Attribution(cause=PERCEPTION, rule=Rule.TRUTH, perturbed=True)
    other = Attribution(cause=UNKNOWN, rule=Rule.NO_TWIN, perturbed=None)
    counted = count_causes([one, one, other])
    assert (counted[PERCEPTION].hits, counted[UNKNOWN].hits, counted[Cause.CONTROL].hits) == (2, 1, 0)
    assert str(count_causes([])[PERCEPTION]) == "0/0 = ? [0.000, 1.000]"
