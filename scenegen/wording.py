"""What people call parts and bins, and the instruction that names them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from scenegen.cell import Bin, Cell, Role
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Part
from scenegen.scenario import SortRule

_DIAMETERS = ("diameter", "for_diameter", "outer_diameter", "coil_diameter", "end_diameter")
_HANDS = {-1.0: "left-hand", 1.0: "right-hand"}


def kind_words(label: str) -> str:
    """Return a semantic class as words, in the singular: `hex_bolt` is a hex bolt."""
    words = label.split("_")
    return " ".join(word.upper() if len(word) == 1 else word for word in words)


def plural(words: str) -> str:
    """Return the English plural of a noun phrase whose last word is its noun."""
    if re.search(r"(s|x|z|ch|sh)$", words):
        return f"{words}es"
    return f"{words[:-1]}ies" if re.search(r"[^aeiou]y$", words) else f"{words}s"


def size_words(part: Part) -> str:
    """Return what tells a part's size in short: `M6`, `20-tooth`, `6 mm`; empty where nothing does."""
    dimensions, tail = part.dimensions, _tail(part)
    if "teeth_count" in dimensions:
        return f"{dimensions['teeth_count']:g}-tooth"
    if "hand_sign" in dimensions:
        return _HANDS[dimensions["hand_sign"]]
    if thread := re.match(r"m(\d+)", tail):
        return f"M{thread[1]}"
    if re.fullmatch(r"\d{3,}", tail):  # a designation, such as that of a bearing
        return tail
    found = [dimensions[name] for name in _DIAMETERS if name in dimensions]
    return f"{found[0] * 1e3:g} mm" if found else ""


def _full_size_words(part: Part) -> str:
    """Return all sizes of a part's id: `M6 x 20`, `8 x 11 x 10 mm`."""
    tail = _tail(part)
    words = re.sub(r"(?<=\d)x(?=\d)", " x ", tail.replace("_", " "))
    words = re.sub(r"\bm(?=\d)", "M", words)
    return f"{words} mm" if re.fullmatch(r"[\d. x]+", words) else words


def _tail(part: Part) -> str:
    return part.id.removeprefix(part.label).removeprefix("_")


@lru_cache(maxsize=64)
def part_names(chosen: tuple[Part, ...]) -> Mapping[str, str]:
    """Name each part in the singular, as briefly as tells them apart: `M6 hex bolt`.

    Returns:
        Names by part id.
    """
    short = {part.id: f"{size_words(part)} {kind_words(part.label)}".strip() for part in chosen}
    often = Counter(short.values())
    full = {part.id: f"{_full_size_words(part)} {kind_words(part.label)}".strip() for part in chosen}
    return {part.id: short[part.id] if often[short[part.id]] == 1 else full[part.id] for part in chosen}


def bin_words(box: Bin) -> str:
    """Return what an instruction calls a bin: `bin A`, or `the bin marked small`."""
    return f"bin {box.label}" if len(box.label) <= 2 else f"the bin marked {box.label}"


def matches(rule: SortRule, part: Part) -> bool:
    """Tell whether a rule speaks of a part, by its id or its semantic class."""
    return rule.match in (part.id, part.label)


def rules_present(rules: Sequence[SortRule], parts: Catalogue, present: Collection[str]) -> tuple[SortRule, ...]:
    """Return the rules that speak of at least one of the parts that are present, in their order."""
    return tuple(rule for rule in rules if any(matches(rule, parts[part_id]) for part_id in present))


def target_names(cell: Cell, parts: Catalogue) -> Mapping[str, str]:
    """Name all targets of a cell's inventory, so that a part has one name in all scenes of the cell."""
    return part_names(tuple(parts[item.part] for item in cell.inventory if item.role is Role.TARGET))


def rule_subject(rule: SortRule, names: Mapping[str, str]) -> str:
    """Return what a rule sorts, in the plural: `M6 hex bolts`, or `retaining rings` for a whole class."""
    return plural(names.get(rule.match, kind_words(rule.match)))


def enumeration(phrases: Sequence[str], last: str = "and") -> str:
    """Join phrases as a sentence does: `a, b and c`."""
    return f" {last} ".join(filter(None, (", ".join(phrases[:-1]), phrases[-1]))) if phrases else ""


def rule_phrases(cell: Cell, parts: Catalogue, rules: Sequence[SortRule]) -> tuple[str, ...]:
    """Return one phrase a rule: `M6 hex bolts into bin A`."""
    names, bins = target_names(cell, parts), {box.name: box for box in cell.bins}
    return tuple(f"{rule_subject(rule, names)} into {bin_words(bins[rule.bin])}" for rule in rules)


def instruct(
    cell: Cell, parts: Catalogue, rules: Sequence[SortRule], *, present: Collection[str], template: str
) -> str:
    """Fill a template of the cell with what is present.

    Args:
        cell: The cell.
        parts: Its parts.
        rules: The sort rules; those that speak of nothing present are left out.
        present: Ids of the targets that are present.
        template: Text with `{parts}` and `{rules}`.
    """
    spoken = rules_present(rules, parts, present)
    names = target_names(cell, parts)
    return template.format(
        rules=enumeration(rule_phrases(cell, parts, spoken)),
        parts=enumeration([rule_subject(rule, names) for rule in spoken]),
    )
