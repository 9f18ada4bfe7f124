"""Task lists of the field: which variations of which strength somebody else's benchmark holds, in our axes and levels.

Read is the list of LIBERO-Plus, `libero/libero/benchmark/task_classification.json` (as of 2026): an object from the
name of a suite to an array of entries

    {"id": 1, "name": "pick_up_the_black_bowl_…_table_1", "category": "Background Textures", "difficulty_level": 2}

where `category` is one of seven kinds of perturbation and `difficulty_level` 1 to 5 or null. Its levels are how often
four policies failed, ours are physical; level L of the list becomes level L of the axis. A category belongs to the axes
whose aliases say `LIBERO-Plus: <category>`. Where one names a part of a category in brackets, entries of that part go
there (added objects are told by `_add_N` in the name); where several axes claim one entry, they take entries in turn.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field

from library.import_json import read_json
from scenegen.axes.axis import LEVELS
from scenegen.errors import InvalidRecord
from scenegen.record import Record, Text

SOURCE = "LIBERO-Plus"
_ALIAS = re.compile(rf"{SOURCE}: (?P<category>[^()]+?)(?: \((?P<part>[^()]+)\))?")
_PARTS = {"added objects": re.compile(r"_add_\d+")}
"""Parts of categories -> how the name of an entry tells that it belongs there."""


class TaskEntry(Record):
    """One task of a list; what it says besides is not read."""

    model_config = ConfigDict(frozen=True, extra="ignore", validate_default=True, use_attribute_docstrings=True)

    name: Text
    category: Text
    difficulty_level: Annotated[int, Field(ge=LEVELS[0], le=LEVELS[-1])] | None = None
    suite: Text = ""


@dataclass(frozen=True)
class TaskPlan:
    """What a list asks for in our terms."""

    counts: Counter[tuple[str, int]] = field(default_factory=Counter)
    """(axis, level) -> how many scenes."""
    without_axis: Counter[str] = field(default_factory=Counter)
    """Categories that no axis covers -> entries."""
    without_level: Counter[str] = field(default_factory=Counter)
    """Categories -> entries that have no level."""


def read_tasks(path: Path) -> list[TaskEntry]:
    """Read a task list.

    Raises:
        InvalidRecord: The file is no such list; names the first entry that is not one.
    """
    data = read_json(path, root=path.resolve().parent)
    if not isinstance(data, dict) or not all(isinstance(entries, list) for entries in data.values()):
        accepted = 'an object {suite: [{"name", "category", "difficulty_level"}, …]}, as LIBERO-Plus has it'
        raise InvalidRecord(str(path), [f"it is no task list - accepted: {accepted}"])
    return [
        TaskEntry.from_data({**_object(entry), "suite": suite}, what=f"{path}: entry {number} of {suite[:80]}")
        for suite, entries in data.items()
        for number, entry in enumerate(entries)
    ]


def plan_tasks(entries: Iterable[TaskEntry], aliases: Mapping[str, Sequence[str]]) -> TaskPlan:
    """Count what a list asks for by axis and level.

    Args:
        entries: The list.
        aliases: Axis -> the field's terms for it, in the order in which axes take entries.
    """
    terms: dict[tuple[str, str | None], list[str]] = {}
    for axis, names in aliases.items():
        for match in filter(None, map(_ALIAS.fullmatch, names)):
            terms.setdefault((match["category"].casefold(), match["part"]), []).append(axis)
    plan, turns = TaskPlan(), Counter[tuple[str, str | None]]()
    for entry in entries:
        term = _term(entry, terms)
        if term not in terms:
            plan.without_axis[entry.category] += 1
        elif entry.difficulty_level is None:
            plan.without_level[entry.category] += 1
        else:
            axes = terms[term]
            plan.counts[axes[turns[term] % len(axes)], entry.difficulty_level] += 1
            turns[term] += 1
    return plan


def _term(entry: TaskEntry, terms: Mapping[tuple[str, str | None], list[str]]) -> tuple[str, str | None]:
    """Return the most special term that covers an entry."""
    category = entry.category.casefold()
    parts = (part for part, pattern in _PARTS.items() if pattern.search(entry.name) and (category, part) in terms)
    return category, next(parts, None)


def _object(entry: object) -> dict[str, object]:
    return entry if isinstance(entry, dict) else {"entry": entry}
