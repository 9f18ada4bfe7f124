"""The checker: tiers, reuse, errors, what a verdict says of itself."""

from collections.abc import Iterable

import pytest

from scenegen.errors import UnknownName
from scenegen.record import quantise
from scenegen.scenario import Facet, Lights, Scenario
from scenegen.streams import stream
from scenegen.verdict import Basis, Finding, Status, Tier
from validators import run
from validators.check import Check, finding
from validators.plan import all_checks
from validators.run import Checker
from validators.selftest import plant


def _status(verdict):
    return {result.check: result.status for result in verdict.results}


def _lit(scenario: Scenario, factor: float) -> Scenario:
    key = scenario.lights.lights[0]
    lit = key.model_copy(update={"luminance_nit": quantise(key.luminance_nit * factor)})
    return scenario.varied(lights=Lights(lights=(lit, *scenario.lights.lights[1:])))


def _made_up(name: str, tier: Tier, said: Iterable[Finding] | Exception, depends=frozenset(Facet)) -> Check:
    def look(scenario, ctx, limits):
        if isinstance(said, Exception):
            raise said
        return said

    return Check(name=name, version=3, tier=tier, depends=depends, doc="Made up for a test.", run=look)


def test_a_clean_base_passes_every_check(checker, base_scenario):
    verdict = checker.check(base_scenario)
    assert verdict.ok
    assert verdict.missing == ()
    assert verdict.scenario_id == base_scenario.id
    assert [r.check for r in verdict.results] == [p.check for p in verdict.plan.checks]
    assert _status(verdict).keys() == {check.name for check in all_checks()}


def test_a_failing_tier_stops_the_later_ones(checker, base_scenario, check_context):
    scenario = plant("floating", base_scenario, check_context, rng=stream("run", 1))
    verdict = checker.check(scenario)
    status = _status(verdict)
    assert status["floating"] is Status.FAILED
    assert status["overlap"] is Status.PASSED
    assert status["settled"] is Status.SKIPPED
    assert status["leak"] is Status.SKIPPED
    assert not verdict.ok
    assert "settled" in verdict.missing


def test_all_tiers_go_on_after_a_failure(checker, base_scenario, check_context):
    scenario = plant("floating", base_scenario, check_context, rng=stream("run", 1))
    status = _status(checker.check(scenario, all_tiers=True))
    assert status["settled"] is Status.FAILED
    assert status["leak"] is Status.PASSED


def test_what_is_no_scene_of_the_cell_is_not_looked_at_further(checker, base_scenario, check_context):
    scenario = plant("missing_matter", base_scenario, check_context, rng=stream("run", 2))
    status = _status(checker.check(scenario, all_tiers=True))
    assert status["spec_matter"] is Status.FAILED
    assert status["spec_task"] is Status.PASSED
    assert {status[c.name] for c in all_checks() if c.tier > Tier.SPECIFICATION} == {Status.SKIPPED}


def test_stopping_early_and_going_on_agree_where_both_looked(checker, base_scenario, check_context):
    for name in ("overlap", "two_rules", "dark"):
        scenario = plant(name, base_scenario, check_context, rng=stream("run", name))
        short, full = _status(checker.check(scenario)), _status(checker.check(scenario, all_tiers=True))
        assert {k: v for k, v in short.items() if v is not Status.SKIPPED}.items() <= full.items()


def test_variants_of_one_facet_run_its_checks_only(checker, base_scenario):
    checker.check(base_scenario)
    before = {name: p.runs for name, p in checker.profile.items()}
    verdicts = [checker.check(_lit(base_scenario, 0.9 - 0.01 * i)) for i in range(20)]
    again = {name: p.runs - before[name] for name, p in checker.profile.items()}
    lit = {"spec_lights", "exposure"}
    assert {name for name, runs in again.items() if runs} == lit
    assert {again[name] for name in lit} == {20}
    assert all(verdict.ok for verdict in verdicts)
    assert {r.basis for r in verdicts[-1].results if r.check not in lit} == {Basis.CACHED}
    assert len({verdict.scenario_id for verdict in verdicts}) == 20


def test_reused_results_say_what_fresh_ones_said(check_context, base_scenario):
    scenario = plant("overlap", base_scenario, check_context, rng=stream("run", 3))
    checker = Checker(check_context, all_checks())
    first, second = checker.check(scenario), checker.check(scenario)
    assert [r.findings for r in first.results] == [r.findings for r in second.results]
    assert _status(first) == _status(second)
    assert checker.profile["overlap"].reused == 1


def test_the_memory_is_bounded(monkeypatch, check_context, base_scenario):
    monkeypatch.setattr(run, "CACHE_SIZE", 5)
    check = _made_up("made_up", Tier.SPECIFICATION, (), frozenset({Facet.LIGHTS}))
    checker = Checker(check_context, [check])
    for index in range(12):
        checker.check(_lit(base_scenario, 1 + index / 100))
    assert len(checker._groups[0].known) == 5
    checker.check(_lit(base_scenario, 1.11))
    checker.check(base_scenario)
    assert (checker.profile["made_up"].runs, checker.profile["made_up"].reused) == (13, 1)


def test_an_error_that_is_known_makes_a_check_errored(check_context, base_scenario):
    broken = _made_up("broken", Tier.GEOMETRY, UnknownName("camera", "top", ["overhead"]))
    verdict = Checker(check_context, [broken]).check(base_scenario)
    assert _status(verdict) == {"broken": Status.ERRORED}
    assert not verdict.ok
    assert verdict.missing == ("broken",)
    assert verdict.findings[0].sentence == "unknown camera 'top' - accepted: overhead"


def test_any_other_error_is_a_crash(check_context, base_scenario):
    broken = _made_up("broken", Tier.GEOMETRY, ZeroDivisionError("a bug"))
    with pytest.raises(ZeroDivisionError, match="a bug"):
        Checker(check_context, [broken]).check(base_scenario)


def test_a_usd_check_takes_its_place_among_the_tiers(check_context, base_scenario):
    usd = _made_up("usd_stage", Tier.USD, ())
    checker = Checker(check_context, all_checks(), usd=usd)
    names = [p.check for p in checker.plan.checks]
    assert names.index("grasp") < names.index("usd_stage") < names.index("settled")
    assert _status(checker.check(base_scenario))["usd_stage"] is Status.PASSED


def test_findings_of_several_checks_are_all_in_the_verdict(check_context, base_scenario):
    said = [finding(name, "bad", [name], "bad - accepted: good") for name in ("one", "two")]
    checks = [_made_up(f.check, Tier.SPECIFICATION, (f,)) for f in said]
    verdict = Checker(check_context, checks).check(base_scenario)
    assert verdict.findings == tuple(said)


def test_a_value_that_is_not_finite_is_left_out():
    assert finding("one", "bad", [], "x - accepted: y", value=float("nan")).value is None
    assert finding("one", "bad", [], "x - accepted: y", value=float("inf")).value is None
