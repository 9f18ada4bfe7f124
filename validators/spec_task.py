"""Specification of the task: rules name what the cell has, and there is an instruction."""

from __future__ import annotations

from collections.abc import Iterable

from scenegen.scenario import Facet, Scenario
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding


def _check_task(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    name, task = SPEC_TASK.name, scenario.task
    bins = [b.name for b in ctx.cell.bins]
    known = {*ctx.parts, *ctx.parts.labels()}
    for rule in task.rules:
        if rule.bin not in bins:
            sentence = f"the rule for {rule.match!r} names bin {rule.bin!r} - accepted: {', '.join(bins)}"
            yield finding(name, "unknown_bin", [rule.match], sentence)
        if rule.match not in known:
            sentence = (
                f"a rule matches {rule.match!r} - accepted: a part or class of the cell ({', '.join(sorted(known))})"
            )
            yield finding(name, "unknown_match", [rule.match], sentence)
    if not task.instruction.strip():
        yield finding(name, "no_instruction", [], "the instruction is empty - accepted: a sentence for the robot")


SPEC_TASK = Check(
    name="spec_task",
    version=1,
    tier=Tier.SPECIFICATION,
    depends=frozenset({Facet.TASK}),
    doc="Rules name bins and parts (or classes) of the cell, and the instruction is not empty.",
    run=_check_task,
)
