"""What was sorted where: a matrix of parts by places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Self

from evaluator.judging.success import ItemEnd
from evaluator.judging.zone import Place
from scenegen.cell import Role
from scenegen.record import Record
from validators.intervals import Rate


class Confusion(Record):
    """How many items of each part ended where; occluders are left out.

    Rows are part ids and not semantic classes: look-alikes of one class belong in different bins.

    Example:
        >>> Confusion(rows={"nut": {"bin_a": 3, "bin_b": 1}}, wanted={"nut": ("bin_a",)}).missorted
        1
    """

    rows: dict[str, dict[str, int]]
    """Counts by part and place; places in which none ended are left out."""
    wanted: dict[str, tuple[str, ...]]
    """Bins in which each part belongs: several where episodes had different rules, none for foreign parts."""

    @classmethod
    def of(cls, ends: Iterable[ItemEnd]) -> Self:
        """Count where items ended."""
        rows: dict[str, Counter[str]] = {}
        wanted: dict[str, set[str]] = {}
        for end in ends:
            if end.role is not Role.OCCLUDER:
                rows.setdefault(end.part, Counter())[end.ended] += 1
                wanted.setdefault(end.part, set()).update(end.wanted)
        return cls(
            rows={part: dict(sorted(rows[part].items())) for part in sorted(rows)},
            wanted={part: tuple(sorted(wanted[part])) for part in sorted(wanted)},
        )

    def __add__(self, other: Confusion) -> Confusion:
        """Add two matrices."""
        parts = sorted(self.rows.keys() | other.rows.keys())
        return Confusion(
            rows={part: _sum(self.rows.get(part, {}), other.rows.get(part, {})) for part in parts},
            wanted={part: tuple(sorted({*self.wanted.get(part, ()), *other.wanted.get(part, ())})) for part in parts},
        )

    def places(self, bins: Iterable[str]) -> tuple[str, ...]:
        """Return all columns: the cell's bins, other bins that occur, then the feed and what is no fixture."""
        known = tuple(bins)
        others = {place for row in self.rows.values() for place in row} - {*known, *Place}
        return (*known, *sorted(others), *(place.value for place in Place))

    def count(self, part: str, place: str) -> int:
        """Count the items of a part that ended in a place."""
        return self.rows.get(part, {}).get(place, 0)

    def rate(self, part: str, place: str) -> Rate:
        """Share of a part's items that ended in a place, with its interval."""
        return Rate.of(self.count(part, place), sum(self.rows.get(part, {}).values()))

    @property
    def missorted(self) -> int:
        """Items that ended in a bin in which they do not belong."""
        return sum(
            count
            for part, row in self.rows.items()
            for place, count in row.items()
            if place not in self.wanted[part] and place not in tuple(Place)
        )


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {place: one.get(place, 0) + other.get(place, 0) for place in sorted(one.keys() | other.keys())}
