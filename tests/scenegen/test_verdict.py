"""A verdict is ok only if every required check is present and passed."""

import pytest

from scenegen.verdict import Basis, CheckPlan, CheckResult, Finding, PlannedCheck, Status, Tier, Verdict

PLAN = CheckPlan(
    checks=(
        PlannedCheck(check="overlap", version=2, tier=Tier.GEOMETRY),
        PlannedCheck(check="settled", version=1, tier=Tier.PHYSICS, limits={"drift_m": 0.001}),
        PlannedCheck(check="judge", version=1, tier=Tier.JUDGE, required=False),
    ),
    engine="none",
)


def verdict(**statuses: Status) -> Verdict:
    versions = {planned.check: planned.version for planned in PLAN.checks}
    results = tuple(CheckResult(check=c, version=versions[c], status=s) for c, s in statuses.items())
    return Verdict(scenario_id="x", plan=PLAN, results=results)


def test_all_required_checks_passed():
    assert verdict(overlap=Status.PASSED, settled=Status.PASSED).ok


@pytest.mark.parametrize("status", [Status.FAILED, Status.SKIPPED, Status.ERRORED])
def test_anything_but_passed_is_not_ok(status):
    assert not verdict(overlap=Status.PASSED, settled=status).ok


def test_an_absent_check_is_not_passed():
    assert not verdict(overlap=Status.PASSED).ok
    assert verdict(overlap=Status.PASSED).missing == ("settled",)
    assert verdict(overlap=Status.PASSED, settled=Status.SKIPPED).missing == ("settled",)
    assert not verdict().ok


def test_another_version_of_a_check_does_not_count():
    old = CheckResult(check="overlap", version=1, status=Status.PASSED)
    settled = CheckResult(check="settled", version=1, status=Status.PASSED)
    assert not Verdict(scenario_id="x", plan=PLAN, results=(old, settled)).ok


def test_findings_keep_the_order_of_checks_and_come_back_from_json():
    finding = Finding(check="overlap", code="overlap", subjects=("a", "b"), value=0.002, limit=0.0005, sentence="s")
    result = CheckResult(check="overlap", version=2, status=Status.FAILED, findings=(finding,), basis=Basis.CACHED)
    whole = Verdict(scenario_id="x", plan=PLAN, results=(result,))
    assert whole.findings == (finding,)
    assert Verdict.from_json(whole.canonical_json()) == whole
