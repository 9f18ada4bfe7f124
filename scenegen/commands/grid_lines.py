"""Choose scenes for a grid of axes and levels, a twin and its variants in one line wherever that can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from library.row import Row
from library.snapshot import Snapshot
from scenegen.commands.describe import departures
from scenegen.errors import InvalidOption

LEVELS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class GridLine:
    """Scenes of one axis, level by level."""

    axis: str
    kind: str
    """What varies, for example `illuminance factor down`; empty where that is not the same at all levels."""
    twins: Mapping[int, Row]
    """Level -> the twin of its scene."""
    levels: Mapping[int, Row]
    """Level -> scene; levels of which there is none are left out."""

    @property
    def twin(self) -> Row | None:
        """The twin of all scenes; None where they have several."""
        first, *others = self.twins.values()
        return first if all(one.scenario_id == first.scenario_id for one in others) else None


def grid_lines(rows: Iterable[Row], snapshot: Snapshot, *, each_kind: bool = False) -> list[GridLine]:
    """Choose a line an axis, of one twin and one kind of change as far as there are scenes.

    Args:
        rows: Kept scenes; those that vary one axis alone count.
        snapshot: Where twins are looked up.
        each_kind: A line for each kind of change of an axis (darker, brighter, warmer, …), not one for the axis.

    Raises:
        InvalidOption: No scene varies one axis alone.
    """
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if len(row.provenance.axes) == 1:
            axis = row.provenance.axes[0].axis
            groups.setdefault((axis, _kind(row) if each_kind else ""), []).append(row)
    if not groups:
        raise InvalidOption("--grid", "here", "a library of scenes that vary one axis each")
    return [_line(axis, group, snapshot) for (axis, _), group in sorted(groups.items())]


def _line(axis: str, rows: Sequence[Row], snapshot: Snapshot) -> GridLine:
    """Choose scenes of the twin and the kind with most levels; what they lack comes from others."""
    twin = _widest({(row.provenance.base_id, _level(row)) for row in rows})
    kind = _widest({(_kind(row), _level(row)) for row in rows if row.provenance.base_id == twin})
    chosen: dict[int, Row] = {}
    for row in sorted(rows, key=lambda row: (row.provenance.base_id != twin, _kind(row) != kind)):
        chosen.setdefault(_level(row), row)
    kinds = {_kind(row) for row in chosen.values()}
    return GridLine(
        axis=axis,
        kind=kinds.pop() if len(kinds) == 1 else "",
        twins={level: snapshot.find(row.provenance.base_id) for level, row in chosen.items()},
        levels=dict(sorted(chosen.items())),
    )


def _widest(pairs: Iterable[tuple[str, int]]) -> str:
    """Return the name that has most levels; the first by name of several."""
    counts = Counter(name for name, _ in pairs)
    return min(counts, key=lambda name: (-counts[name], name))


def _kind(row: Row) -> str:
    """Say in which quantities a scene departs from its twin, with the direction where there are two."""
    return ", ".join(change.name + change.direction for change in departures(row.provenance) if change.graded)


def _level(row: Row) -> int:
    return row.provenance.axes[0].level
