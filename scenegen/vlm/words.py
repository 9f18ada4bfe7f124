"""Edits of the task: exchanged bins, and the same task in other words."""

from __future__ import annotations

import re

import numpy as np

from scenegen.axes import language
from scenegen.axes.axis import AxisContext
from scenegen.cell import Role
from scenegen.errors import VariationFailed
from scenegen.scenario import Scenario, Task
from scenegen.spoken import Vocabulary, faults, leak_in, unlike
from scenegen.vlm.edits import RelabelBin, Rephrase
from scenegen.wording import bin_words, rules_present


def relabel_bin(edit: RelabelBin, scenario: Scenario, ctx: AxisContext, *, rng: np.random.Generator) -> Scenario:
    """Exchange two bins in the sort rules and in the instruction."""
    exchanged = {edit.bin: edit.other, edit.other: edit.bin}
    calls = {box.name: bin_words(box) for box in ctx.cell.bins if box.name in exchanged}
    if len(calls) < 2:
        raise VariationFailed(language.NAME, 0, "no_bin", f"the cell has no bins {edit.bin!r} and {edit.other!r}")
    new = {calls[old]: calls[other] for old, other in exchanged.items()}
    either = rf"\b(?:{'|'.join(map(re.escape, new))})\b"
    text = re.sub(either, lambda found: new[found[0]], scenario.task.instruction)
    rules = tuple(rule.replaced(bin=exchanged.get(rule.bin, rule.bin)) for rule in scenario.task.rules)
    return _with_task(scenario, scenario.task.replaced(rules=rules, instruction=text), ctx)


def rephrase(edit: Rephrase, scenario: Scenario, ctx: AxisContext, *, rng: np.random.Generator) -> Scenario:
    """Say the same task in other words."""
    task = scenario.task.replaced(instruction=edit.instruction, language=edit.language)
    return _with_task(scenario, task, ctx)


def _with_task(scenario: Scenario, task: Task, ctx: AxisContext) -> Scenario:
    """Take a task whose instruction says where everything in the scene goes, and nothing else."""
    words, slots = Vocabulary.of(ctx.cell, ctx.parts), ctx.cell.slots
    present = sorted({i.part for i in scenario.layout.items if slots[i.name].role is Role.TARGET})
    spoken, text = rules_present(task.rules, ctx.parts, present), task.instruction
    found = (*faults(text, words, task.rules), *unlike(text, task.language, words, task.rules, spoken))
    if found or leak_in(text):
        detail = found[0].sentence if found else "it says what only a generator knows"
        raise VariationFailed(language.NAME, 0, "no_words", detail)
    return scenario.varied(task=task)
