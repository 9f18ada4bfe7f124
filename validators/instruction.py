"""Semantics of the instruction: it speaks of what is there, and tells nothing that only the generator knows."""

from __future__ import annotations

from collections.abc import Iterable

from scenegen.scenario import Facet, Scenario
from scenegen.spoken import faults, leak_in
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding


def _check_instruction(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    for code, subjects, sentence in faults(scenario.task.instruction, ctx.vocabulary, scenario.task.rules):
        yield finding(INSTRUCTION.name, code, subjects, sentence)


INSTRUCTION = Check(
    name="instruction",
    version=1,
    tier=Tier.SEMANTICS,
    depends=frozenset({Facet.TASK}),
    doc="Every bin, kind of part and thread size that the instruction names exists, and it pairs them as the rules do.",
    run=_check_instruction,
)


def _check_leak(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    leak = leak_in(scenario.task.instruction)
    if leak is not None:
        code, words = leak
        sentence = f"the instruction says {words!r} ({code}) - accepted: words of a person at the line"
        yield finding(LEAK.name, code, [words], sentence)


LEAK = Check(
    name="leak",
    version=1,
    tier=Tier.SEMANTICS,
    depends=frozenset({Facet.TASK}),
    doc="The instruction holds no names, hashes, seeds, levels or files that only the generator knows.",
    run=_check_leak,
)
