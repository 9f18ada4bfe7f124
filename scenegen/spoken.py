"""What an instruction speaks of, told from its words by rules: bins, kinds of parts, sizes, and what goes where."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, Self

from scenegen.axes.phrases import APART, LANGUAGES, RANKS, SYNONYMS, size_variant
from scenegen.cell import Cell
from scenegen.parts.catalogue import Catalogue
from scenegen.record import Name, Record, Text
from scenegen.scenario import SortRule
from scenegen.wording import kind_words, plural, target_names

_BIN_WORDS = r"(?:bin|box|container|crate|tray|Behälter|Kiste|Fach|Schale|caja|bac)"
_BIN = re.compile(
    rf"\b(?i:{_BIN_WORDS})s?\s+(?:\"([^\"]+)\"|'([^']+)'|([A-Z]|\d{{1,3}}|[A-Z]\d{{1,2}})\b|(?:marked|marcada|markiert)\s+(\w+))"
)
"""A bin called by its label: a capital letter, a number, something in quotes, or what is marked on it."""

_MARKS = r"(?:marked|labell?ed|marcada|markiert|Aufschrift)"
"""Words after which a bin's label stands."""

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


class Fault(NamedTuple):
    """Something that an instruction should not say, or should."""

    code: str
    subjects: tuple[str, ...]
    sentence: str


class Vocabulary(Record):
    """What instructions of one cell may speak of."""

    bins: dict[Name, Text]
    """Label of each bin."""
    labels: dict[Name, Name]
    """Semantic class of each part of the inventory."""
    names: dict[Name, Text]
    """What each target is called, in the singular."""
    masses_kg: dict[Name, float]
    """Mass of each target."""

    @classmethod
    def of(cls, cell: Cell, parts: Catalogue) -> Self:
        """Take the words of a cell and its parts."""
        return cls(
            bins={box.name: box.label for box in cell.bins},
            labels={item.part: parts[item.part].label for item in cell.inventory},
            names=dict(target_names(cell, parts)),
            masses_kg={part: parts[part].mass.mass_kg for part in target_names(cell, parts)},
        )


def leak_in(text: str) -> tuple[str, str] | None:
    """Find what no person at the line would say: its kind and the words; None where there is nothing."""
    for code, pattern in _LEAKS.items():
        if match := pattern.search(text):
            return code, match[0]
    return None


def faults(text: str, words: Vocabulary, rules: Sequence[SortRule]) -> Iterator[Fault]:
    """Yield where an instruction names what the cell lacks, or pairs parts and bins in another way than the rules."""
    labels = list(words.bins.values())
    for match in _BIN.finditer(text):
        called = next(group for group in match.groups() if group)
        if called.casefold() not in [label.casefold() for label in labels]:
            sentence = f"the instruction names bin {called!r} - accepted: {', '.join(labels)}"
            yield Fault("unknown_bin", (called,), sentence)
    yield from _unknown_kinds(text, words)
    yield from _contradictions(text, words, rules)


def _unknown_kinds(text: str, words: Vocabulary) -> Iterator[Fault]:
    classes = sorted(set(words.labels.values()))
    for word in dict.fromkeys(match.lower() for match in _CLASS.findall(text)):
        if not any(kind in label for kind in _CLASSES[word] for label in classes):
            sentence = (
                f"the instruction speaks of a {word!r} - accepted: kinds of parts of the cell ({', '.join(classes)})"
            )
            yield Fault("unknown_class", (word,), sentence)
    sizes = {size for part in words.labels for size in re.findall(r"(?<![a-z])m(\d{1,2})(?!\d)", part)}
    for size in dict.fromkeys(_SIZE.findall(text)):
        if size not in sizes:
            known = ", ".join(f"M{known}" for known in sorted(sizes, key=int)) or "none"
            sentence = f"the instruction speaks of size M{size} - accepted: sizes of the cell's parts ({known})"
            yield Fault("unknown_size", (f"M{size}",), sentence)


def _contradictions(text: str, words: Vocabulary, rules: Sequence[SortRule]) -> Iterator[Fault]:
    """A clause that names targets and one bin says what the rules say."""
    labels = {label.casefold(): name for name, label in words.bins.items()}
    names = sorted(words.names.items(), key=lambda pair: -len(pair[1]))
    for clause in _CLAUSE_ENDS.split(text):
        bins = [labels[label] for label in map(_label, _BIN.finditer(clause)) if label in labels]
        if len(bins) != 1:
            continue
        for part in _called(clause, names):
            rule = next((rule for rule in rules if rule.match in (part, words.labels[part])), None)
            if rule is not None and rule.bin != bins[0]:
                label = words.bins[bins[0]]
                sentence = (
                    f"the instruction sends {part!r} to bin {label!r} - accepted: what the rules say ({rule.bin})"
                )
                yield Fault("contradicts", (part, bins[0]), sentence)


def _label(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group).casefold()


def _called(clause: str, names: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the targets that a clause calls by their names; names within longer ones do not count."""
    for part, name in names:
        pattern = rf"\b(?:{re.escape(plural(name))}|{re.escape(name)})\b"
        clause, count = re.subn(pattern, "", clause, flags=re.IGNORECASE)
        if count:
            yield part


def unlike(
    text: str, language: str, words: Vocabulary, rules: Sequence[SortRule], spoken: Sequence[SortRule]
) -> Iterator[Fault]:
    """Yield where an instruction does not speak of the same parts and bins as it should.

    A part is spoken of in a clause that has its kind and, where the rule is about one size, that size, in English or in
    the instruction's language. In English a size is implied, too: by its rank among the kind's sizes that are present
    (the smaller bolts), or where there is only one.

    Args:
        text: The instruction.
        language: Its language, `en` or a key of `LANGUAGES`.
        words: What it may speak of.
        rules: All sort rules.
        spoken: Those of parts that are present: each in a clause of its own with its bin.
    """
    paired: set[SortRule] = set()
    sought, implied = {rule.bin for rule in spoken}, _ranks(spoken, words) if language == "en" else {}
    for clause in _CLAUSE_ENDS.split(text):
        bins, rest = _bins_in(clause, words)
        said = [rule for rule in rules if _speaks_of(rest, rule, language, words, implied)]
        paired.update(rule for rule in said if bins == [rule.bin])
        yield from (_elsewhere(rule, words) for rule in said if rule in spoken and bins and bins != [rule.bin])
        for match in (rule.match for rule in said if rule not in spoken):
            yield Fault("other_part", (match,), f"the instruction speaks of {match!r} - accepted: what is in the scene")
        for name, label in ((name, words.bins[name]) for name in bins if name not in sought):
            accepted = ", ".join(words.bins[one] for one in words.bins if one in sought)
            sentence = f"the instruction speaks of bin {label!r}, where nothing goes - accepted: {accepted}"
            yield Fault("other_bin", (name,), sentence)
    for rule in (rule for rule in spoken if rule not in paired):
        thing, label = _thing(rule, words), words.bins[rule.bin]
        sentence = f"the instruction does not say where {thing} go - accepted: a clause with {thing} and bin {label}"
        yield Fault("missing", (rule.match, rule.bin), sentence)


def _elsewhere(rule: SortRule, words: Vocabulary) -> Fault:
    label = words.bins[rule.bin]
    sentence = f"the instruction sends {_thing(rule, words)} elsewhere - accepted: bin {label!r}"
    return Fault("contradicts", (rule.match, rule.bin), sentence)


def _thing(rule: SortRule, words: Vocabulary) -> str:
    return plural(words.names.get(rule.match, kind_words(rule.match)))


def _bins_in(clause: str, words: Vocabulary) -> tuple[list[str], str]:
    """Name the bins that a clause calls by their labels, and return the clause without them.

    A long label counts without a word for bins before it, unless things are called so, too.
    """
    found = []
    things = " ".join(plural(kind_words(label)) for label in words.labels.values()).casefold().split()
    for name, label in words.bins.items():
        before = rf"(?:{_BIN_WORDS}|{_MARKS})s?\s+[\"']?"
        bare = "?" if len(label) > 2 and label.casefold() not in things else ""
        clause, count = re.subn(rf"\b(?:{before}){bare}{re.escape(label)}\b", " ", clause, flags=re.IGNORECASE)
        found += [name] * bool(count)
    return found, clause


def _ranks(spoken: Sequence[SortRule], words: Vocabulary) -> dict[str, str]:
    """Return how a size is implied, by what its rule matches: a rank, or nothing where its kind has one size alone."""
    kinds: dict[str, list[str]] = {}
    for rule in spoken:
        if rule.match in words.masses_kg:
            kinds.setdefault(words.labels[rule.match], []).append(rule.match)
    ranks: dict[str, str] = {}
    for parts in kinds.values():
        parts.sort(key=words.masses_kg.__getitem__)
        told_apart = all(words.masses_kg[b] >= APART * words.masses_kg[a] for a, b in pairwise(parts))
        if told_apart and len(parts) in RANKS:
            ranks |= zip(parts, RANKS[len(parts)], strict=True)
    return ranks


def _speaks_of(clause: str, rule: SortRule, language: str, words: Vocabulary, implied: Mapping[str, str]) -> bool:
    label = words.labels.get(rule.match, rule.match)
    spoken = [LANGUAGES[language]] if language in LANGUAGES else []
    kinds = {kind_words(label), SYNONYMS.get(label, ""), *(one.kinds.get(label, "") for one in spoken)}
    ends = Counter(kind_words(one).split()[-1] for one in {words.labels[part] for part in words.names})
    kinds |= {end for end, count in ends.items() if count == 1 and kind_words(label).endswith(end)}
    if not any(re.search(rf"\b{re.escape(kind)}", clause, re.IGNORECASE) for kind in kinds if kind):
        return False
    size = words.names.get(rule.match, "").removesuffix(kind_words(label)).strip()
    if not size:
        return True
    if rule.match in implied and re.search(rf"\b{implied[rule.match]}\b", clause, re.IGNORECASE):
        return True
    sizes = {size, size_variant(size) or size, *(one.sized("", size) for one in spoken)}
    return any(
        re.search(rf"(?<![\w.]){re.escape(one).replace(r'\ ', r'\s*')}(?!\w)", clause, re.IGNORECASE) for one in sizes
    )
