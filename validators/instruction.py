"""Semantics of the instruction: it speaks of what is there, and tells nothing that only the generator knows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Facet, Scenario, SortRule
from scenegen.verdict import Finding, Tier
from scenegen.wording import plural, target_names
from validators.check import Check, CheckContext, Limits, finding

_BIN_WORDS = r"(?:bin|box|container|crate|tray|Behälter|Kiste|Fach|Schale|caja|bac)"
_BIN = re.compile(
    rf"\b(?i:{_BIN_WORDS})s?\s+(?:\"([^\"]+)\"|'([^']+)'|([A-Z]|\d{{1,3}}|[A-Z]\d{{1,2}})\b|(?:marked|marcada|markiert)\s+(\w+))"
)
"""A bin called by its label: a capital letter, a number, something in quotes, or what is marked on it."""

_CLAUSE_ENDS = re.compile(r"[,;.:()]|\b(?:and|und|y|then)\b")
"""Where a clause ends that may pair parts with a bin."""

_SIZE = re.compile(r"\bM(\d{1,2})\b")
"""A metric thread size."""

_CLASSES: Mapping[str, tuple[str, ...]] = {
    "bolt": ("bolt", "screw"),
    "screw": ("screw", "bolt"),
    "nut": ("nut",),
    "washer": ("washer",),
    "gear": ("gear",),
    "bearing": ("bearing",),
    "bushing": ("bushing",),
    "shaft": ("shaft",),
    "bracket": ("bracket",),
    "flange": ("flange",),
    "spring": ("spring",),
    "dowel": ("pin",),
}
"""Words for kinds of parts, and what the semantic class of such a part contains."""
_CLASS = re.compile(rf"\b({'|'.join(_CLASSES)})s?\b", re.IGNORECASE)


def _check_instruction(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    text = scenario.task.instruction
    labels = [b.label for b in ctx.cell.bins]
    for match in _BIN.finditer(text):
        called = next(group for group in match.groups() if group)
        if called.casefold() not in [label.casefold() for label in labels]:
            sentence = f"the instruction names bin {called!r} - accepted: {', '.join(labels)}"
            yield finding(INSTRUCTION.name, "unknown_bin", [called], sentence)
    parts = [item.part for item in ctx.cell.inventory]
    yield from _unknown_kinds(text, ctx.parts, parts)
    yield from _contradictions(text, scenario.task.rules, ctx)


def _unknown_kinds(text: str, catalogue: Catalogue, parts: list[str]) -> Iterator[Finding]:
    classes = sorted({catalogue[part].label for part in parts})
    for word in dict.fromkeys(match.lower() for match in _CLASS.findall(text)):
        if not any(kind in label for kind in _CLASSES[word] for label in classes):
            sentence = (
                f"the instruction speaks of a {word!r} - accepted: kinds of parts of the cell ({', '.join(classes)})"
            )
            yield finding(INSTRUCTION.name, "unknown_class", [word], sentence)
    sizes = {size for part in parts for size in re.findall(r"(?<![a-z])m(\d{1,2})(?!\d)", part)}
    for size in dict.fromkeys(_SIZE.findall(text)):
        if size not in sizes:
            known = ", ".join(f"M{known}" for known in sorted(sizes, key=int)) or "none"
            sentence = f"the instruction speaks of size M{size} - accepted: sizes of the cell's parts ({known})"
            yield finding(INSTRUCTION.name, "unknown_size", [f"M{size}"], sentence)


def _contradictions(text: str, rules: tuple[SortRule, ...], ctx: CheckContext) -> Iterator[Finding]:
    """A clause that names targets and one bin says what the rules say."""
    labels = {b.label.casefold(): b for b in ctx.cell.bins}
    names = sorted(target_names(ctx.cell, ctx.parts).items(), key=lambda pair: -len(pair[1]))
    for clause in _CLAUSE_ENDS.split(text):
        bins = [labels[label] for label in map(_label, _BIN.finditer(clause)) if label in labels]
        if len(bins) != 1:
            continue
        for part in _spoken(clause, names):
            rule = next((rule for rule in rules if rule.match in (part, ctx.labels[part])), None)
            if rule is not None and rule.bin != bins[0].name:
                label = bins[0].label
                sentence = (
                    f"the instruction sends {part!r} to bin {label!r} - accepted: what the rules say ({rule.bin})"
                )
                yield finding(INSTRUCTION.name, "contradicts", [part, bins[0].name], sentence)


def _label(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group).casefold()


def _spoken(clause: str, names: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the targets that a clause calls by their names; names within longer ones do not count."""
    for part, name in names:
        pattern = rf"\b(?:{re.escape(plural(name))}|{re.escape(name)})\b"
        clause, count = re.subn(pattern, "", clause, flags=re.IGNORECASE)
        if count:
            yield part


INSTRUCTION = Check(
    name="instruction",
    version=1,
    tier=Tier.SEMANTICS,
    depends=frozenset({Facet.TASK}),
    doc="Every bin, kind of part and thread size that the instruction names exists, and it pairs them as the rules do.",
    run=_check_instruction,
)

_LEAKS: Mapping[str, re.Pattern[str]] = {
    "template": re.compile(r"[{}]"),
    "identifier": re.compile(r"\b\w+_\w+\b"),
    "hash": re.compile(r"\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b"),
    "number": re.compile(r"\d{5,}"),
    "file": re.compile(r"\.(?:usd[acz]?|json|ya?ml|py|stl|obj|glb|step)\b|/World\b", re.IGNORECASE),
    "generator": re.compile(
        r"\b(?:seed|severity|scenario|generator|perturb\w*|prim|rng|(?:level|axis|index|attempt|scene)\s*[=:#]?\s*\d+)\b",
        re.IGNORECASE,
    ),
}
"""What no person at the line would say."""


def _check_leak(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    for code, pattern in _LEAKS.items():
        match = pattern.search(scenario.task.instruction)
        if match:
            sentence = f"the instruction says {match[0]!r} ({code}) - accepted: words of a person at the line"
            yield finding(LEAK.name, code, [match[0]], sentence)
            return


LEAK = Check(
    name="leak",
    version=1,
    tier=Tier.SEMANTICS,
    depends=frozenset({Facet.TASK}),
    doc="The instruction holds no names, hashes, seeds, levels or files that only the generator knows.",
    run=_check_leak,
)
