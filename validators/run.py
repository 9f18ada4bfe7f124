"""Run a check plan on a scenario: cheapest tier first, results reused by the facets that they depend on."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from scenegen.errors import SceneGenError
from scenegen.scenario import Facet, Scenario
from scenegen.verdict import Basis, CheckPlan, CheckResult, Finding, Status, Verdict
from validators.check import INCOHERENT, Check, CheckContext, Proof, finding
from validators.plan import plan_of

CACHE_SIZE = 4096
"""Results that a checker keeps."""


@dataclass
class CheckProfile:
    """How often one check ran and what it cost."""

    runs: int = 0
    reused: int = 0
    by_construction: int = 0
    failed: int = 0
    errored: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class _Kept:
    """A result as it was found and as it is handed out again."""

    fresh: CheckResult
    reused: CheckResult
    stops_all: bool
    """The scenario is no scene of the cell, so that no later tier can look at it."""


class Checker:
    """Checks scenarios of one cell; keeps results of recent facets and counts what it did.

    Example:
        >>> checker = Checker(CheckContext.of(cell, parts), all_checks())  # doctest: +SKIP
        >>> checker.check(scenario).ok  # doctest: +SKIP
        True
    """

    def __init__(self, ctx: CheckContext, checks: Sequence[Check], *, usd: Check | None = None) -> None:
        self.ctx = ctx
        given = [*checks, usd] if usd else list(checks)
        self.checks: tuple[Check, ...] = tuple(sorted(given, key=lambda check: check.tier))
        self.plan: CheckPlan = plan_of(self.checks)
        self.profile = {check.name: CheckProfile() for check in self.checks}
        """What each check cost so far."""
        self._skipped = {
            c.name: CheckResult(check=c.name, version=c.version, status=Status.SKIPPED) for c in self.checks
        }
        self._cache: OrderedDict[tuple[str, str], _Kept] = OrderedDict()
        self._depends = {check.name: tuple(f for f in Facet if f in check.depends) for check in self.checks}

    def check(self, scenario: Scenario, *, all_tiers: bool = False) -> Verdict:
        """Return the verdict on a scenario.

        Args:
            scenario: A scene.
            all_tiers: Go on after a failing tier, unless the scenario is no scene of the cell at all.

        Returns:
            One result a check, in the order of the tiers; what was not run is `skipped`.
        """
        keys: dict[tuple[Facet, ...], str] = {}
        results: list[CheckResult] = []
        tier, stop, broken, hopeless = None, False, False, False
        for check in self.checks:
            if check.tier is not tier:
                tier, stop = check.tier, hopeless or (broken and not all_tiers)
            if stop:
                results.append(self._skipped[check.name])
                continue
            depends = self._depends[check.name]
            if depends not in keys:
                keys[depends] = scenario.key(*depends)
            result, stops_all = self._result(check, scenario, keys[depends])
            results.append(result)
            broken = broken or result.status is not Status.PASSED
            hopeless = hopeless or stops_all
        return Verdict(scenario_id=scenario.id, plan=self.plan, results=tuple(results))

    def _result(self, check: Check, scenario: Scenario, key: str) -> tuple[CheckResult, bool]:
        profile = self.profile[check.name]
        kept = self._cache.get((check.name, key))
        if kept is not None:
            self._cache.move_to_end((check.name, key))
            profile.reused += 1
            return kept.reused, kept.stops_all
        start = time.perf_counter()
        kept = self._run(check, scenario)
        profile.runs += 1
        profile.seconds += time.perf_counter() - start
        profile.failed += kept.fresh.status is Status.FAILED
        profile.errored += kept.fresh.status is Status.ERRORED
        profile.by_construction += kept.fresh.basis is Basis.BY_CONSTRUCTION
        self._cache[check.name, key] = kept
        if len(self._cache) > CACHE_SIZE:
            self._cache.popitem(last=False)
        return kept.fresh, kept.stops_all

    def _run(self, check: Check, scenario: Scenario) -> _Kept:
        """Run one check; an error that scenegen knows becomes an `errored` result, any other one is a crash."""
        try:
            said = check.run(scenario, self.ctx, check.limits)
            proof = said if isinstance(said, Proof) else Proof(tuple(said), Basis.MEASURED)
        except SceneGenError as error:
            proof = Proof((finding(check.name, "errored", (), str(error)),), Basis.MEASURED)
            return _kept(check, Status.ERRORED, proof)
        return _kept(check, Status.FAILED if proof.findings else Status.PASSED, proof)


def _kept(check: Check, status: Status, proof: Proof) -> _Kept:
    fresh = CheckResult(
        check=check.name, version=check.version, status=status, basis=proof.basis, findings=proof.findings
    )
    reused = fresh.model_copy(update={"basis": Basis.CACHED})
    return _Kept(fresh, reused, any(_is_incoherent(found) for found in proof.findings))


def _is_incoherent(found: Finding) -> bool:
    return found.code in INCOHERENT
