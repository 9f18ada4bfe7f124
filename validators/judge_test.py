"""Measure a judge: let it judge clean scenes and the same scenes with planted semantic defects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from scenegen.errors import InvalidRecord
from scenegen.record import Record
from scenegen.scenario import Scenario
from scenegen.verdict import Tier
from scenegen.vlm.chat import BackEnd, Chat, Reply
from scenegen.vlm.judging import read_opinion
from scenegen.vlm.many import many
from validators.check import CheckContext
from validators.defect import Defect
from validators.intervals import Rate
from validators.plan import all_checks
from validators.selftest import DEFECTS

AT_ONCE = 4
"""Most calls that are under way together."""


class JudgeRow(Record):
    """How often a judge rejects scenes of one kind."""

    scenes: str
    """The planted defect; `clean` for none."""
    doc: str
    rejected: Rate
    unread: int
    """Opinions that could not be read, and so rejected nothing."""


class JudgeReport(Record):
    """How a judge fares: clean scenes first, of which it should reject none, then those with defects."""

    model: str
    rows: tuple[JudgeRow, ...]

    def table(self) -> str:
        """Return the report as text for people."""
        lines = [f"the judge {self.model}", f"{'scenes':26} {'rejected':>28}   unread"]
        return (
            "\n".join([*lines, *(f"{one.scenes:26} {one.rejected!s:>28}   {one.unread}" for one in self.rows)]) + "\n"
        )


def semantic_defects() -> tuple[Defect, ...]:
    """Return the defects that checks of meaning find: causes, bins, rules and instructions."""
    semantic = {check.name for check in all_checks() if check.tier is Tier.SEMANTICS}
    return tuple(defect for defect in DEFECTS.values() if defect.check in semantic)


def judge_test(
    ctx: CheckContext,
    scenes: Sequence[Scenario],
    *,
    asks: Callable[[Scenario], Chat],
    back_end: BackEnd,
    rng: np.random.Generator,
    judged: Callable[[], None] = lambda: None,
) -> JudgeReport:
    """Let a model judge scenes, clean and with each semantic defect planted once.

    Args:
        ctx: What checks use.
        scenes: Clean scenes.
        asks: What the judge is asked about a scene.
        back_end: The judge.
        rng: Draws defects.
        judged: Told of each opinion.

    Raises:
        VlmError: There was no reply.
        BudgetSpent: Asking would cost more than is allowed.
    """
    kinds = [("clean", "nothing is wrong", list(scenes))]
    kinds += [(one.name, one.doc, list(_planted(one, scenes, ctx, rng))) for one in semantic_defects()]
    rows = tuple(_row(*kind, asks=asks, back_end=back_end, judged=judged) for kind in kinds)
    return JudgeReport(model=back_end.model, rows=rows)


def _planted(
    defect: Defect, scenes: Sequence[Scenario], ctx: CheckContext, rng: np.random.Generator
) -> Iterator[Scenario]:
    for scenario in scenes:
        try:
            defective = defect.plant(scenario, ctx, rng)
        except InvalidRecord:
            continue
        if defective is not None:
            yield defective


def _row(
    name: str,
    doc: str,
    scenes: Sequence[Scenario],
    *,
    asks: Callable[[Scenario], Chat],
    back_end: BackEnd,
    judged: Callable[[], None],
) -> JudgeRow:
    rejected = unread = 0
    for answer in many(back_end, [asks(scenario) for scenario in scenes], AT_ONCE):
        if not isinstance(answer, Reply):
            raise answer
        judged()
        opinion = read_opinion(answer)
        unread += opinion is None
        rejected += opinion is not None and opinion.code is not None
    return JudgeRow(scenes=name, doc=doc, rejected=Rate.of(rejected, len(scenes)), unread=unread)
