"""What the checks said of a scenario: findings, results, and a verdict that knows what was asked."""

from __future__ import annotations

from enum import IntEnum, StrEnum

from scenegen.record import Name, Real, Record
from scenegen.units import Unit


class Tier(IntEnum):
    """Cost classes of checks, cheapest first; a failing tier stops the later ones unless all are asked for."""

    SPECIFICATION = 1
    GEOMETRY = 2
    USD = 3
    PHYSICS = 4
    OPTICS = 5
    SEMANTICS = 6
    JUDGE = 7


class Basis(StrEnum):
    """How a result is known."""

    MEASURED = "measured"
    BY_CONSTRUCTION = "by_construction"
    CACHED = "cached"


class Status(StrEnum):
    """Outcome of one check. Skipped is not passed."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    ERRORED = "errored"


class Finding(Record):
    """One thing that is wrong with a scene."""

    check: Name
    code: Name
    """Short code for histograms, for example `overlap`."""
    subjects: tuple[str, ...]
    """Names of the items, fixtures, lights … concerned."""
    value: Real | None = None
    limit: Real | None = None
    unit: Unit = Unit.NONE
    sentence: str
    """What is wrong, with the numbers, and what would be accepted."""
    basis: Basis = Basis.MEASURED


class CheckResult(Record):
    """What one check said."""

    check: Name
    version: int
    status: Status
    basis: Basis = Basis.MEASURED
    findings: tuple[Finding, ...] = ()


class PlannedCheck(Record):
    """One check that a verdict must contain."""

    check: Name
    version: int
    tier: Tier
    required: bool = True
    limits: dict[str, Real] = {}
    """Named thresholds, in the units that the check's docstring gives."""


class CheckPlan(Record):
    """Which checks were asked for, with versions, limits and the engine behind the physics."""

    checks: tuple[PlannedCheck, ...]
    engine: str
    """Simulator and version, for example `mujoco 3.12.0`."""


class Verdict(Record):
    """The results of a check plan on one scenario."""

    scenario_id: str
    plan: CheckPlan
    results: tuple[CheckResult, ...]

    @property
    def ok(self) -> bool:
        """True only if every required check is present and passed."""
        passed = {(r.check, r.version) for r in self.results if r.status is Status.PASSED}
        return all((p.check, p.version) in passed for p in self.plan.checks if p.required)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, in the order of the checks."""
        return tuple(finding for result in self.results for finding in result.findings)

    @property
    def missing(self) -> tuple[str, ...]:
        """Required checks that are absent or did not run to a result."""
        done = {r.check for r in self.results if r.status in (Status.PASSED, Status.FAILED)}
        return tuple(p.check for p in self.plan.checks if p.required and p.check not in done)
