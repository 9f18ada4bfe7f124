"""The measure of the checks: what the report holds, and that the checks stand up to it."""

from functools import partial

import pytest

from scenegen.base import sample_base
from scenegen.errors import UnknownName
from scenegen.streams import stream
from scenegen.verdict import Status
from validators.plan import all_checks
from validators.run import Checker
from validators.selftest import DEFECTS, SelfTestReport, plant, self_test


@pytest.fixture(scope="module")
def report(cell, catalogue, check_context) -> SelfTestReport:
    return self_test(check_context, partial(sample_base, cell, catalogue), rng=stream("self-test", 1), n=4)


def test_every_defect_is_caught_by_its_check(report):
    assert len(report.defects) == len(DEFECTS) >= 15
    for row in report.defects:
        assert row.by_check.trials > 0, row.defect
        assert row.by_check.hits == row.by_check.trials, row.defect
        assert row.caught.hits == row.caught.trials, row.defect


def test_clean_scenes_pass(report):
    assert report.clean.hits == 0
    assert all(row.false_rejects.hits == 0 and row.false_rejects.trials == 4 for row in report.checks)
    assert {row.check for row in report.checks} == {"record", *(check.name for check in all_checks())}
    assert all(row.recall.trials > 0 for row in report.checks)


def test_the_table_shows_rates_with_intervals(report):
    text = report.table()
    rate = "4/4 = 1.000 [0.510, 1.000]"
    assert f"floating                   floating         {rate}     {rate}" in text
    assert "clean scenes rejected by any check: 0/4 = 0.000 [0.000, 0.490]" in text
    assert text.isascii()
    assert max(len(line) for line in text.splitlines()) <= 120


def test_the_report_survives_its_json(report):
    assert SelfTestReport.from_json(report.canonical_json()) == report


def test_a_blind_check_is_seen_to_be_blind(cell, catalogue, check_context, monkeypatch):
    """A check that finds nothing has no recall: the measure is not one that cannot fail."""
    blind = [c if c.name != "floating" else _blinded(c) for c in all_checks()]
    monkeypatch.setattr("validators.selftest.all_checks", lambda: tuple(blind))
    sampler = partial(sample_base, cell, catalogue)
    report = self_test(check_context, sampler, rng=stream("self-test", 2), n=3)
    row = next(row for row in report.defects if row.defect == "floating")
    assert row.by_check.hits == 0
    assert next(r for r in report.checks if r.check == "floating").recall.hits == 0


def _blinded(check):
    return type(check)(
        name=check.name,
        version=check.version,
        tier=check.tier,
        depends=check.depends,
        doc=check.doc,
        run=lambda scenario, ctx, limits: (),
        limits=check.limits,
    )


def test_an_unknown_defect_is_refused(base_scenario, check_context):
    with pytest.raises(UnknownName, match="unknown defect 'floatin' - did you mean 'floating'"):
        plant("floatin", base_scenario, check_context, rng=stream("x"))


def test_random_nonsense_never_crashes_a_checker(base_scenario, check_context):
    """Defects on defects, all tiers asked for: every scene gets a verdict, and none of them is ok."""
    checker = Checker(check_context, all_checks())
    names = [name for name, defect in DEFECTS.items() if defect.check != "record"]
    rng = stream("nonsense")
    for _ in range(40):
        scenario = base_scenario
        for name in rng.permutation(names)[:3].tolist():
            scenario = _try(name, scenario, check_context, rng) or scenario
        verdict = checker.check(scenario, all_tiers=True)
        assert scenario is base_scenario or not verdict.ok
        assert {result.status for result in verdict.results} <= set(Status) - {Status.ERRORED}


def _try(name, scenario, check_context, rng):
    """Plant on a scene that is broken already: it may lack what the defect would be planted on."""
    try:
        return plant(name, scenario, check_context, rng=rng)
    except (IndexError, KeyError, ValueError, LookupError):
        return None
