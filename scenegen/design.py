"""Level designs: which axis has which level in which scene of an expansion.

A design is a finite list of rows that is gone through again and again, or an endless random one; any row can be looked
up by its index.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import combinations, product
from typing import cast

from covertable import make, sorters

from scenegen.errors import InvalidOption
from scenegen.streams import stream

Row = tuple[tuple[str, int], ...]
"""The level of every axis of a design, by name; level 0 is nominal."""


class DesignKind(StrEnum):
    """How levels are combined."""

    ONE_AT_A_TIME = "one-at-a-time"
    """Each row varies one axis and leaves the others nominal."""
    RANDOM = "random"
    """Each row draws a level for every axis."""
    PAIRWISE = "pairwise"
    """Every pair of levels of any two axes stands in some row."""
    T_WISE = "t-wise"
    """Every combination of levels of any t axes stands in some row."""


@dataclass(frozen=True)
class LevelDesign:
    """Rows of levels, one an index.

    Example:
        >>> LevelDesign(axes=("pose", "lighting"), levels=(1, 5)).row(3)
        (('pose', 0), ('lighting', 5))
    """

    axes: tuple[str, ...]
    levels: tuple[int, ...]
    kind: DesignKind = DesignKind.ONE_AT_A_TIME
    strength: int = 2
    """Strength t of a t-wise design; a pairwise one has strength 2."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a strength for which there are too few axes."""
        if self.kind in (DesignKind.PAIRWISE, DesignKind.T_WISE) and self.reach > len(self.axes):
            raise InvalidOption("--design", f"{self.kind} of strength {self.reach}", f"at least {self.reach} axes")

    @property
    def reach(self) -> int:
        """How many axes a row of the design combines on purpose."""
        return 2 if self.kind is DesignKind.PAIRWISE else self.strength

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """All rows of a finite design; empty for a random one."""
        return design_rows(self.axes, self.levels, kind=self.kind, strength=self.reach, seed=self.seed)

    def row(self, index: int) -> Row:
        """Return the row of an index: finite designs begin again after their last row."""
        if self.rows:
            return self.rows[index % len(self.rows)]
        rng = stream(self.seed, "design", *self.axes, *self.levels, index)
        drawn = rng.integers(len(self.levels), size=len(self.axes)).tolist()
        return tuple((axis, self.levels[level]) for axis, level in zip(self.axes, drawn, strict=True))


def design_rows(
    axes: Sequence[str], levels: Sequence[int], *, kind: DesignKind, strength: int = 2, seed: int = 0
) -> tuple[Row, ...]:
    """Return the rows of a finite design; none for a random one.

    Args:
        axes: Names of the axes.
        levels: Levels that each of them takes.
        kind: How they are combined.
        strength: Strength of a covering design.
        seed: Which of many covering designs.
    """
    if kind is DesignKind.RANDOM:
        return ()
    if kind is DesignKind.ONE_AT_A_TIME:
        return tuple(tuple((a, level if a == axis else 0) for a in axes) for level in levels for axis in axes)
    found = make(
        {axis: list(levels) for axis in axes}, strength=strength, sorter=sorters.hash, salt=str(seed), tolerance=0
    )
    return tuple(tuple((axis, int(row[axis])) for axis in axes) for row in cast(list[dict[str, int]], found))


@dataclass(frozen=True)
class Coverage:
    """How many combinations of levels a design contains."""

    total: int
    missing: tuple[Row, ...]
    """Combinations that stand in no row."""

    @property
    def covered(self) -> int:
        """Combinations that stand in some row."""
        return self.total - len(self.missing)


def coverage(rows: Iterable[Row], axes: Sequence[str], levels: Sequence[int], *, strength: int) -> Coverage:
    """Count which combinations of levels of any `strength` axes stand in the rows."""
    chosen = [dict(row) for row in rows]
    missing: list[Row] = []
    total = 0
    for some in combinations(axes, strength):
        seen = {tuple(row[axis] for axis in some) for row in chosen}
        wanted = list(product(levels, repeat=strength))
        total += len(wanted)
        missing.extend(tuple(zip(some, combination, strict=True)) for combination in wanted if combination not in seen)
    return Coverage(total, tuple(missing))
