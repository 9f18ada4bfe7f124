"""Run a check plan on a scenario: cheapest tier first, results reused by the facets that they depend on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from scenegen.errors import SceneGenError
from scenegen.scenario import Facet, Scenario
from scenegen.verdict import Basis, CheckPlan, CheckResult, Status, Verdict
from validators.check import INCOHERENT, Check, CheckContext, Proof, finding
from validators.plan import plan_of

CACHE_SIZE = 256
"""Of how many different facets a checker keeps the results, for each group of checks."""


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
    """What a group of checks said of some facets, as it was found and as it is handed out again."""

    fresh: tuple[CheckResult, ...]
    reused: tuple[CheckResult, ...]
    broken: bool
    """Not all of them passed."""
    stops_all: bool
    """The scenario is no scene of the cell, so that no later tier can look at it."""


class _Group:
    """Checks of one tier that depend on the same facets, with their recent results."""

    def __init__(self, checks: Sequence[Check]) -> None:
        self.checks = tuple(checks)
        self.tier = checks[0].tier
        self.depends = tuple(facet for facet in Facet if facet in checks[0].depends)
        self.known: dict[str, _Kept] = {}
        """Results by the key of the facets, the oldest first."""


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
        self.plan: CheckPlan = plan_of(self.checks, engine=ctx.judging.engine)
        self.profile = {check.name: CheckProfile() for check in self.checks}
        """What each check cost so far."""
        grouped = groupby(self.checks, key=lambda check: (check.tier, check.depends))
        self._groups = [_Group(tuple(checks)) for _, checks in grouped]

    def check(self, scenario: Scenario, *, all_tiers: bool = False) -> Verdict:
        """Return the verdict on a scenario.

        Args:
            scenario: A scene.
            all_tiers: Go on after a failing tier, unless the scenario is no scene of the cell at all.

        Returns:
            One result a check, in the order of the tiers; what was not run is `skipped`.
        """
        results: list[CheckResult] = []
        tier, stop, broken, hopeless = None, False, False, False
        for group in self._groups:
            if group.tier is not tier:
                tier, stop = group.tier, hopeless or (broken and not all_tiers)
            if stop:
                results += [_plain(check.name, check.version, Status.SKIPPED) for check in group.checks]
                continue
            key = scenario.key(*group.depends)
            kept = group.known.get(key)
            if kept is None:
                kept = self._run_group(group, scenario, key)
                results += kept.fresh
            else:
                results += kept.reused
                for check in group.checks:
                    self.profile[check.name].reused += 1
            broken = broken or kept.broken
            hopeless = hopeless or kept.stops_all
        return Verdict(scenario_id=scenario.id, plan=self.plan, results=tuple(results))

    def _run_group(self, group: _Group, scenario: Scenario, key: str) -> _Kept:
        results = tuple(self._run(check, scenario) for check in group.checks)
        kept = _Kept(
            fresh=results,
            reused=tuple(_again(result) for result in results),
            broken=any(result.status is not Status.PASSED for result in results),
            stops_all=any(found.code in INCOHERENT for result in results for found in result.findings),
        )
        if len(group.known) >= CACHE_SIZE:
            group.known.pop(next(iter(group.known)))
        group.known[key] = kept
        return kept

    def _run(self, check: Check, scenario: Scenario) -> CheckResult:
        """Run one check; an error that scenegen knows becomes an `errored` result, any other one is a crash."""
        profile, start = self.profile[check.name], time.perf_counter()
        failure = Status.FAILED
        try:
            said = check.run(scenario, self.ctx, check.limits)
            proof = said if isinstance(said, Proof) else Proof(tuple(said), Basis.MEASURED)
        except SceneGenError as error:
            failure = Status.ERRORED
            proof = Proof((finding(check.name, "errored", (), str(error)),), Basis.MEASURED)
        profile.runs += 1
        profile.seconds += time.perf_counter() - start
        profile.by_construction += proof.basis is Basis.BY_CONSTRUCTION
        if not proof.findings:
            return _plain(check.name, check.version, Status.PASSED, proof.basis)
        profile.failed += failure is Status.FAILED
        profile.errored += failure is Status.ERRORED
        return CheckResult(
            check=check.name, version=check.version, status=failure, basis=proof.basis, findings=proof.findings
        )


@cache
def _plain(check: str, version: int, status: Status, basis: Basis = Basis.MEASURED) -> CheckResult:
    """Return a result without findings."""
    return CheckResult(check=check, version=version, status=status, basis=basis)


def _again(result: CheckResult) -> CheckResult:
    """Return a result as it is handed out again."""
    if not result.findings:
        return _plain(result.check, result.version, result.status, Basis.CACHED)
    return result.model_copy(update={"basis": Basis.CACHED})
