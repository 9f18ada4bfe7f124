"""Measure the checks themselves: plant known defects into random scenes, and count what is found and what is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from scenegen.axes.items import free_slots, with_items
from scenegen.cell import Role
from scenegen.errors import InvalidRecord, PlacementFailed, UnknownName
from scenegen.place import PlaceOptions, place
from scenegen.record import Record
from scenegen.scenario import Cause, Scenario
from scenegen.verdict import Status, Verdict
from validators.check import CheckContext
from validators.defect import Defect
from validators.defects_facets import FACET_DEFECTS
from validators.defects_layout import LAYOUT_DEFECTS
from validators.defects_observable import OBSERVABLE_DEFECTS
from validators.defects_optics import OPTICS_DEFECTS
from validators.intervals import Rate
from validators.plan import all_checks
from validators.run import Checker

DEFECTS: dict[str, Defect] = {
    defect.name: defect for defect in (*LAYOUT_DEFECTS, *FACET_DEFECTS, *OPTICS_DEFECTS, *OBSERVABLE_DEFECTS)
}
"""Every kind of defect that can be planted."""

RECORD = "record"
"""Stands for the records themselves, which refuse some defects before any check runs."""

FINGER_PLAY_M = 0.004
"""Room around added things beyond a finger's thickness [m]."""

Sampler = Callable[..., Scenario]
"""`sampler(rng=…) -> Scenario`: a clean scene."""


class DefectRow(Record):
    """How one kind of defect fared."""

    defect: str
    check: str
    doc: str
    caught: Rate
    """Scenes that were rejected, by whatever check."""
    by_check: Rate
    """Scenes that the intended check rejected, all tiers run."""


class CheckRow(Record):
    """How one check fared."""

    check: str
    recall: Rate
    """Of the defects that are meant for it, how many it found."""
    false_rejects: Rate
    """Of the clean scenes, how many it rejected."""


class SelfTestReport(Record):
    """Recall of each defect and check, and false rejects of each check, with 95 % intervals (Wilson)."""

    defects: tuple[DefectRow, ...]
    checks: tuple[CheckRow, ...]
    clean: Rate
    """Of the clean scenes, how many any check rejected."""
    not_planted: dict[str, int]
    """How often a scene had nothing to plant a defect on."""

    def table(self) -> str:
        """Return the report as text for people."""
        lines = [f"{'defect':26} {'meant for':14} {'caught':>28}   {'by that check':>28}"]
        lines += [f"{row.defect:26} {row.check:14} {row.caught!s:>28}   {row.by_check!s:>28}" for row in self.defects]
        lines += ["", f"{'check':26} {'recall':>28}   {'false rejects':>28}"]
        lines += [f"{row.check:26} {row.recall!s:>28}   {row.false_rejects!s:>28}" for row in self.checks]
        lines += ["", f"clean scenes rejected by any check: {self.clean}"]
        skipped = ", ".join(f"{name} {count}" for name, count in self.not_planted.items() if count)
        return "\n".join([*lines, *([f"nothing to plant on: {skipped}"] if skipped else [])]) + "\n"


def plant(defect: str, scenario: Scenario, ctx: CheckContext, *, rng: np.random.Generator) -> Scenario | None:
    """Plant a defect into a clean scene.

    Args:
        defect: Name of the kind of defect.
        scenario: A clean scene.
        ctx: What checks use.
        rng: Draws where and how much.

    Returns:
        The defective scene; None where the scene has nothing to plant the defect on.

    Raises:
        UnknownName: There is no such defect.
        InvalidRecord: The records themselves refuse it.
    """
    if defect not in DEFECTS:
        raise UnknownName("defect", defect, DEFECTS)
    return DEFECTS[defect].plant(scenario, ctx, rng)


def self_test(
    ctx: CheckContext,
    sampler: Sampler,
    *,
    rng: np.random.Generator,
    n: int,
    looked_at: Callable[[int], None] = lambda scenes: None,
) -> SelfTestReport:
    """Measure the checks on random scenes.

    Args:
        ctx: What checks use.
        sampler: `sampler(rng=…)` gives a clean scene.
        rng: Draws scenes and defects.
        n: Clean scenes; each kind of defect is planted once into each.
        looked_at: Told how many scenes were checked, kind by kind.
    """
    checker = Checker(ctx, all_checks())
    clean = [_busy(sampler(rng=rng), ctx, rng) if index % 2 else sampler(rng=rng) for index in range(n)]
    verdicts = [checker.check(scenario, all_tiers=True) for scenario in clean]
    rejected = Counter(name for verdict in verdicts for name in _unhappy(verdict))
    sound = [scenario for scenario, verdict in zip(clean, verdicts, strict=True) if verdict.ok]
    looked_at(n)
    rows, skipped = [], {}
    for defect in DEFECTS.values():
        row, skipped[defect.name] = _measure(defect, sound, checker, rng)
        rows.append(row)
        looked_at(n)
    return SelfTestReport(
        defects=tuple(rows),
        checks=tuple(
            CheckRow(check=name, recall=_recall(name, rows), false_rejects=Rate.of(rejected[name], n))
            for name in (RECORD, *(check.name for check in checker.checks))
        ),
        clean=Rate.of(n - len(sound), n),
        not_planted=skipped,
    )


def _busy(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Add a foreign part and an occluder at rest, with their causes and room for fingers around them.

    A clean scene that more checks must look at.
    """
    room = PlaceOptions(clearance_m=ctx.cell.robot.gripper.finger_thickness_m + FINGER_PLAY_M)
    for role, cause in ((Role.FOREIGN, Cause.FOREIGN_OBJECT), (Role.OCCLUDER, Cause.OBSTRUCTION)):
        free = free_slots(scenario, ctx.cell, role)
        if not free or cause.value not in ctx.cell.allowed_causes:
            continue
        slot = free[int(rng.integers(len(free)))]
        try:
            added = place(
                ctx.cell, ctx.parts, slots=[slot], zone="feed", rng=rng, options=room, occupied=scenario.layout
            )
        except PlacementFailed:
            continue
        items = (*scenario.layout.items, *(item.replaced(cause=cause) for item in added))
        scenario = with_items(scenario, items, cell=ctx.cell, parts=ctx.parts)
    return scenario


def _unhappy(verdict: Verdict) -> tuple[str, ...]:
    return tuple(r.check for r in verdict.results if r.status in (Status.FAILED, Status.ERRORED))


def _measure(
    defect: Defect, scenes: Sequence[Scenario], checker: Checker, rng: np.random.Generator
) -> tuple[DefectRow, int]:
    """Plant one kind of defect into every scene; also say how often that could not be done."""
    caught = by_check = planted = 0
    for scenario in scenes:
        try:
            defective = defect.plant(scenario, checker.ctx, rng)
        except InvalidRecord:
            planted, caught, by_check = planted + 1, caught + 1, by_check + (defect.check == RECORD)
            continue
        if defective is None:
            continue
        planted += 1
        verdict = checker.check(defective, all_tiers=True)
        caught += not verdict.ok
        by_check += defect.check in _unhappy(verdict)
    row = DefectRow(
        defect=defect.name,
        check=defect.check,
        doc=defect.doc,
        caught=Rate.of(caught, planted),
        by_check=Rate.of(by_check, planted),
    )
    return row, len(scenes) - planted


def _recall(check: str, rows: Sequence[DefectRow]) -> Rate:
    own = [row.by_check for row in rows if row.check == check]
    return Rate.of(sum(rate.hits for rate in own), sum(rate.trials for rate in own))
