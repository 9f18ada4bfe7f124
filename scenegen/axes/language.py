"""Axis `language`: the same task in other words, with typing errors, by implication, or in another language."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from scenegen.axes.axis import Axis, AxisContext, Severity, count_at
from scenegen.axes.phrases import APART, FRAMES, LANGUAGES, NUMBERS, RANKS, SYNONYMS, edit_distance, size_variant
from scenegen.cell import Role
from scenegen.errors import VariationFailed
from scenegen.parts.part import Part
from scenegen.scenario import Facet, Scenario, SortRule, Task
from scenegen.units import Quantity, Unit
from scenegen.wording import (
    bin_words,
    enumeration,
    kind_words,
    matches,
    plural,
    rule_subject,
    rules_present,
    size_words,
    target_names,
)

NAME = "language"
TYPOS = 2
TYPO_LETTERS = 5
"""A text that differs by fewer edits than this is the same text with typing errors."""

CLASS = Severity(
    "edit_class", Unit.COUNT, 0.0, 0.0, 5.0, "1 typing error, 2 paraphrase, 3 other name or unit, 4 implied, 5 foreign"
)
DISTANCE = Severity(
    "edit_share", Unit.SHARE, 0.0, 0.0, 1.0, "edit distance as a share of the longer text", graded=False
)

Edit = Callable[[Scenario, AxisContext, np.random.Generator], Task | None]
"""From a scene to its task in other words; None where the words are missing."""


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Say the instruction in the way that belongs to the level."""
    edit = EDITS[count_at(CLASS, level, cell=ctx.cell, axis=NAME) - 1]
    task = edit(scenario, ctx, rng)
    if task is None or task.instruction == scenario.task.instruction:
        raise VariationFailed(NAME, level, "no_words", f"the parts of cell {ctx.cell.name!r} cannot be said so")
    return scenario.varied(task=task)


def _typo(scenario: Scenario, ctx: AxisContext, rng: np.random.Generator) -> Task | None:
    """Mistype some words; what parts and bins are called stays as it is, so that the task remains decidable."""
    text = scenario.task.instruction
    names = " ".join([*map(plural, target_names(ctx.cell, ctx.parts).values()), *(box.label for box in ctx.cell.bins)])
    kept = {word for word in f"{names} {plural(names)} {_classes(scenario)}".lower().split()}
    words = [m for m in re.finditer(r"[^\W\d_]{4,}", text) if m[0].lower() not in kept]
    if not words:
        return None
    chosen = sorted(rng.permutation(len(words))[:TYPOS].tolist(), reverse=True)
    for index in chosen:
        word = words[index]
        text = text[: word.start()] + _mistyped(word[0], rng) + text[word.end() :]
    return scenario.task.replaced(instruction=text)


def _classes(scenario: Scenario) -> str:
    return " ".join(plural(kind_words(rule.match)) for rule in scenario.task.rules)


def _mistyped(word: str, rng: np.random.Generator) -> str:
    """Swap two letters, drop one or double one, inside a word."""
    swaps = [i for i in range(1, len(word) - 2) if word[i] != word[i + 1]]
    kind, at = int(rng.integers(3)), int(rng.integers(1, len(word) - 1))
    if kind == 0 and swaps:
        at = swaps[int(rng.integers(len(swaps)))]
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + word[at + 1 :] if kind == 1 else word[: at + 1] + word[at:]


def _paraphrase(scenario: Scenario, ctx: AxisContext, rng: np.random.Generator) -> Task | None:
    names = target_names(ctx.cell, ctx.parts)
    return _framed(scenario, ctx, rng, [rule_subject(rule, names) for rule in _spoken(scenario, ctx)])


def _other_names(scenario: Scenario, ctx: AxisContext, rng: np.random.Generator) -> Task | None:
    """Call parts by another name and their sizes in other units or words."""
    names = target_names(ctx.cell, ctx.parts)
    things = []
    for rule in _spoken(scenario, ctx):
        part = _part_of(rule, ctx)
        label = part.label if part else rule.match
        kind = SYNONYMS.get(label, plural(kind_words(label)))
        if part is None or rule.match == part.label:
            things.append(kind)
            continue
        short = names[part.id] == f"{size_words(part)} {kind_words(part.label)}".strip()
        size = size_variant(size_words(part)) if short else names[part.id].removesuffix(kind_words(part.label)).strip()
        if size is None:
            return None
        things.append(f"{size} {kind}")
    task = _framed(scenario, ctx, rng, things)
    return task if task and _says_size(task.instruction) else None


def _implied(scenario: Scenario, ctx: AxisContext, rng: np.random.Generator) -> Task | None:
    """Tell parts of one class apart by their size alone: the smaller hex bolts, the larger ones."""
    rules = _spoken(scenario, ctx)
    groups: dict[str, list[tuple[float, SortRule]]] = {}
    for rule in rules:
        part = _part_of(rule, ctx)
        label, mass = (part.label, part.mass.mass_kg) if part else (rule.match, 0.0)
        groups.setdefault(label, []).append((mass, rule))
    things: dict[str, str] = {}
    for label, members in groups.items():
        ranked = sorted(members, key=lambda pair: pair[0])
        masses = [mass for mass, _ in ranked]
        if len(ranked) not in RANKS or any(b < APART * a for a, b in pairwise(masses)):
            return None
        for rank, (_, rule) in zip(RANKS[len(ranked)], ranked, strict=True):
            things[rule.match] = f"{rank} {plural(kind_words(label))}".strip()
    return _framed(scenario, ctx, rng, [things[rule.match] for rule in rules])


def _foreign(scenario: Scenario, ctx: AxisContext, rng: np.random.Generator) -> Task | None:
    """Say the instruction in another language."""
    codes = sorted(code for code in LANGUAGES if code != scenario.task.language)
    code = codes[int(rng.integers(len(codes)))]
    language, bins, names = LANGUAGES[code], {box.name: box for box in ctx.cell.bins}, target_names(ctx.cell, ctx.parts)
    phrases = []
    for rule in _spoken(scenario, ctx):
        part, label = _part_of(rule, ctx), bins[rule.bin].label
        kind = language.kinds.get(part.label if part else rule.match)
        if kind is None:
            return None
        named = part is not None and rule.match == part.id
        size = names[part.id].removesuffix(kind_words(part.label)).strip() if part and named else ""
        box = (language.box if len(label) <= 2 else language.marked).format(label=label)
        phrases.append(language.rule.format(things=language.sized(kind, size), box=box))
    text = language.frame.format(rules=enumeration(phrases, language.last))
    return scenario.task.replaced(instruction=text, language=code)


EDITS: tuple[Edit, ...] = (_typo, _paraphrase, _other_names, _implied, _foreign)
"""How the instruction is changed, by class, from the first to the fifth."""


def _spoken(scenario: Scenario, ctx: AxisContext) -> tuple[SortRule, ...]:
    """Rules that speak of targets in the scene."""
    slots = ctx.cell.slots
    present = sorted({i.part for i in scenario.layout.items if slots[i.name].role is Role.TARGET})
    return rules_present(scenario.task.rules, ctx.parts, present)


def _part_of(rule: SortRule, ctx: AxisContext) -> Part | None:
    """Return a target that a rule speaks of; any one where it speaks of a class."""
    targets = (ctx.parts[item.part] for item in ctx.cell.inventory if item.role is Role.TARGET)
    return next((part for part in targets if matches(rule, part)), None)


def _framed(scenario: Scenario, ctx: AxisContext, rng: np.random.Generator, things: list[str]) -> Task | None:
    if scenario.task.language != "en":
        return None
    frame, clause = FRAMES[int(rng.integers(len(FRAMES)))]
    bins = {box.name: box for box in ctx.cell.bins}
    phrases = [
        clause.format(things=thing, box=bin_words(bins[rule.bin]))
        for thing, rule in zip(things, _spoken(scenario, ctx), strict=True)
    ]
    text = frame.format(rules=enumeration(phrases))
    return scenario.task.replaced(instruction=text[0].upper() + text[1:])


def _says_size(text: str) -> bool:
    return bool(re.search(r"\d", text)) or any(f"{word}-" in text for word in (*NUMBERS.values(), "left", "right"))


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Tell from the two texts which class of edit lies between them, and how far they are apart."""
    before, after = base.task.instruction, varied.task.instruction
    distance = edit_distance(before, after)
    share = distance / max(len(before), len(after))
    return (
        Quantity(name=CLASS.name, value=_class(base, varied, distance, ctx), unit=CLASS.unit),
        Quantity(name=DISTANCE.name, value=share, unit=DISTANCE.unit),
    )


def _class(base: Scenario, varied: Scenario, distance: int, ctx: AxisContext) -> int:
    if varied.task.language != base.task.language:
        return 5
    if distance < TYPO_LETTERS:
        return int(distance > 0)
    names = target_names(ctx.cell, ctx.parts)
    text = varied.task.instruction
    if all(rule_subject(rule, names) in text for rule in _spoken(varied, ctx)):
        return 2
    return 3 if _says_size(text) else 4


LANGUAGE = Axis(
    name=NAME,
    doc="The same task mistyped, paraphrased, with other names and units, by implication, or in another language.",
    touches=frozenset({Facet.TASK}),
    severities=(CLASS, DISTANCE),
    aliases=("LIBERO-Plus: Language Instructions", "LIBERO-PRO: semantic", "STAR-Gen: semantic"),
    change=change,
    measure=measure,
)
