"""Choose scenes for a grid of axes and levels, a twin and its variants in one line wherever that can be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from library.row import Row
from library.snapshot import Snapshot
from scenegen.errors import InvalidOption

LEVELS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class GridLine:
    """One axis: a twin and its variants."""

    axis: str
    twin: Row
    levels: Mapping[int, Row]
    """Level -> scene; levels of which there is none are left out."""


def grid_lines(rows: Iterable[Row], snapshot: Snapshot) -> list[GridLine]:
    """Choose a twin for each axis: the one with most levels; levels that it lacks come from other twins.

    Args:
        rows: Kept scenes; those that vary one axis alone count.
        snapshot: Where twins are looked up.

    Raises:
        InvalidOption: No scene varies one axis alone.
    """
    by_axis: dict[str, dict[str, dict[int, Row]]] = {}
    for row in rows:
        if len(row.provenance.axes) == 1:
            setting = row.provenance.axes[0]
            twins = by_axis.setdefault(setting.axis, {})
            twins.setdefault(row.provenance.base_id, {}).setdefault(setting.level, row)
    if not by_axis:
        raise InvalidOption("--grid", "", "a library of scenes that vary one axis each")
    lines = []
    for axis, twins in by_axis.items():
        best = max(twins, key=lambda twin: len(twins[twin]))
        found = dict(twins[best])
        for levels in twins.values():
            for level, row in levels.items():
                found.setdefault(level, row)
        lines.append(GridLine(axis, snapshot.find(best), found))
    return lines
