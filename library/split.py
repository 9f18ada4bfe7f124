"""Assign bases to splits: no base and no layout on two sides, every axis and level spread as asked.

Bases that cannot be told apart by a held-out test - they share a scene or a layout, or are near-duplicates - form one
group, and groups are never divided. Groups are spread by iterative stratification (Sechidis, Tsoumakas and Vlahavas
2011, "On the stratification of multi-label data"), here with weighted labels: a group counts in the stratum of an axis
and level with as many scenes as it has there. Exchanges of groups of one size then bring the strata nearer to their
shares.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from networkx.utils import UnionFind
from numpy.typing import NDArray

from library.row import axes_of
from library.tables import Columns
from scenegen.errors import InvalidOption, LibraryError
from scenegen.geometry import Array

Stratum = tuple[str, int]
"""Axis and level; `("base", 0)` for scenes that vary nothing."""

BASE: Stratum = ("base", 0)
SPLIT_NAME = r"[a-z][a-z0-9_-]{0,39}"
UNASSIGNED = -1
BASES_FIRST = 30.0
"""How much more a base too many weighs than a scene too many, each by the largest group."""
NEAR_ENOUGH = 0.5
"""Share of the largest group by which every split may be off before exchanges are tried."""
EXCHANGES = 300
"""Most exchanges after the greedy pass."""
CANDIDATES = 300
"""Most groups a side that an exchange is chosen among."""


@dataclass(frozen=True)
class Group:
    """Bases that stay together."""

    bases: tuple[str, ...]
    """Ids, sorted."""
    counts: Mapping[Stratum, int]
    """How many scenes they and their descendants have in each stratum."""


def parse_shares(text: str) -> dict[str, float]:
    """Read `train=0.8,hold-out=0.2`.

    Raises:
        InvalidOption: A name or a share is none, a name comes twice, or the shares do not sum to one.
    """
    shares: dict[str, float] = {}
    for piece in text.split(","):
        match = re.fullmatch(rf"\s*({SPLIT_NAME})\s*=\s*([0-9]*\.?[0-9]+)\s*", piece)
        if not match or match[1] in shares:
            raise InvalidOption("--shares", text, "names with shares, for example train=0.8,hold-out=0.2")
        shares[match[1]] = float(match[2])
    if abs(sum(shares.values()) - 1) > 1e-6 or min(shares.values()) <= 0:
        raise InvalidOption("--shares", text, "shares above 0 that sum to 1")
    return shares


def groups_of(
    rows: Iterable[Columns], *, near: Iterable[tuple[str, str]] = (), known: Mapping[str, str] | None = None
) -> list[Group]:
    """Group bases that share a scene or a layout, or are near-duplicates.

    Args:
        rows: Rows of the table `scenarios`, in any order.
        near: Pairs of bases that are near-duplicates. A pair that stands in two splits already stays divided.
        known: Base -> split, where that was decided before.

    Returns:
        Groups in the order of their first base; the same for every order of the rows.
    """
    linked, counts = UnionFind(), {}
    for row in rows:
        base = row["base_id"]
        linked.union(base, f"scene {row['scenario_id']}", f"layout {row['layout_id']}")
        strata = axes_of(row["axes"]) or (BASE,)
        counts.setdefault(base, Counter()).update(strata)
    split = dict(known or {})
    members: dict[str, list[str]] = {}
    for base in sorted(counts):
        members.setdefault(linked[base], []).append(base)
    sides = {root: {split[base] for base in bases if base in split} for root, bases in members.items()}
    for a, b in sorted(tuple(sorted(pair)) for pair in near):
        if a not in counts or b not in counts or linked[a] == linked[b]:
            continue
        joined = sides[linked[a]] | sides[linked[b]]
        if len(joined) <= 1:
            linked.union(a, b)
            sides[linked[a]] = joined
    together: dict[str, list[str]] = {}
    for base in sorted(counts):
        together.setdefault(linked[base], []).append(base)
    return [Group(tuple(bases), sum((counts[one] for one in bases), Counter())) for bases in together.values()]


def assign(
    groups: Sequence[Group], shares: Mapping[str, float], *, known: Mapping[str, str], rng: np.random.Generator
) -> dict[str, str]:
    """Assign every base to a split.

    Args:
        groups: See `groups_of`.
        shares: Split -> share of the bases; they sum to one.
        known: Base -> split, where that was decided before: it stays.
        rng: Breaks ties.

    Returns:
        Base -> split, for all bases of the groups.

    Raises:
        LibraryError: Bases of one group stand in two splits already.
    """
    groups = sorted(groups, key=lambda group: group.bases)
    before = [_known_split(group, known) for group in groups]
    # what stands in a split that has no share now is left out of the shares
    mine = [at for at, one in enumerate(before) if one is None or one in shares]
    strata = sorted({stratum for group in groups for stratum in group.counts})
    names = list(shares)
    plan = _Plan(
        counts=np.array([[groups[at].counts.get(one, 0) for one in strata] for at in mine], float).reshape(
            len(mine), -1
        ),
        sizes=np.array([len(groups[at].bases) for at in mine], float),
        side=np.array([names.index(str(before[at])) if before[at] else UNASSIGNED for at in mine], int),
        shares=np.array(list(shares.values())),
    )
    plan.spread(rng=rng)
    plan.exchange()
    final = {at: names[side] for at, side in zip(mine, plan.side, strict=True)}
    return {base: final.get(at) or str(before[at]) for at, group in enumerate(groups) for base in group.bases}


def strata_of(groups: Iterable[Group], splits: Mapping[str, str]) -> dict[Stratum, Counter[str]]:
    """Count scenes by stratum and split."""
    table: dict[Stratum, Counter[str]] = {}
    for group in groups:
        for stratum, count in group.counts.items():
            table.setdefault(stratum, Counter())[splits[group.bases[0]]] += count
    return dict(sorted(table.items()))


def _known_split(group: Group, known: Mapping[str, str]) -> str | None:
    found = {known[base]: base for base in group.bases if base in known}
    if len(found) > 1:
        (one, a), (other, b) = sorted(found.items())[:2]
        reason = f"bases {a[:12]} ({one}) and {b[:12]} ({other}) share a scene or a layout, and stand in two splits"
        raise LibraryError("splits", reason, "drop the scenes that join them, or the descendants of one of them")
    return next(iter(found), None)


class _Plan:
    """Groups on their way into splits.

    Args:
        counts: Scenes by group and stratum, shape [groups, strata].
        sizes: Bases by group.
        side: Index of each group's split, or `UNASSIGNED`.
        shares: Share by split, shape [splits].
    """

    def __init__(self, counts: Array, sizes: Array, side: NDArray[np.int_], shares: Array) -> None:
        self.side = side
        self._free = np.flatnonzero(side == UNASSIGNED)
        # the last column counts bases; the last row is no group at all: exchanged with it, a group moves
        self._counts = np.vstack([np.column_stack([counts, sizes]), np.zeros(counts.shape[1] + 1)])
        wanted = np.column_stack([np.outer(shares, counts.sum(axis=0)), _whole(shares, int(sizes.sum()))])
        self._excess = np.array([self._counts[:-1][side == one].sum(axis=0) for one in range(len(shares))]) - wanted
        """Scenes and bases too many, shape [splits, strata + 1]."""
        self._scale = np.maximum(self._counts.max(axis=0), 1.0)
        self._scale[-1] /= BASES_FIRST
        self._kind = np.unique(self._counts[:-1], axis=0, return_inverse=True)[1].ravel()

    def spread(self, *, rng: np.random.Generator) -> None:
        """Assign all groups that are free: those of the rarest stratum first, each to where it is missed most."""
        tie = rng.permutation(len(self.side))
        has = self._counts[:-1] > 0
        while (left := self.side == UNASSIGNED).any():
            carriers = has[left].sum(axis=0)
            stratum = int(np.argmin(np.where(carriers > 0, carriers, len(left) + 1)))
            chosen = np.flatnonzero(left & has[:, stratum])
            order = np.lexsort((tie[chosen], -self._counts[chosen, stratum]))
            for group in chosen[order]:
                bases = self._excess[:, -1]
                excess = np.where((bases < 0) | (bases == bases.min()), self._excess[:, stratum], np.inf)
                self._put(int(group), int(np.lexsort((bases, excess))[0]))

    def exchange(self) -> None:
        """Exchange or move groups while that brings the bases, and then the strata, nearer to their shares."""
        pairs = list(combinations(range(len(self._excess)), 2))
        for _ in range(EXCHANGES):
            if np.abs(self._excess / self._scale).max(initial=0.0) <= NEAR_ENOUGH:
                return
            found = [(*self._best_exchange(a, b), a, b) for a, b in pairs]
            gain, one, other, a, b = min(found, default=(0.0, 0, 0, 0, 0))
            if gain > -1e-9:
                return
            for group, start, end in ((one, a, b), (other, b, a)):
                self._excess[start] -= self._counts[group]
                self._put(group, end)

    def _best_exchange(self, a: int, b: int) -> tuple[float, int, int]:
        """Return what the best exchange between two splits adds to the squared excess, and its two groups."""
        ours, theirs = self._movable(a), self._movable(b)
        slope = (self._excess[a] - self._excess[b]) / self._scale
        mine, other = self._counts[ours] / self._scale, self._counts[theirs] / self._scale
        squares = (mine**2).sum(axis=1)[:, None] + (other**2).sum(axis=1)[None, :] - 2 * mine @ other.T
        change = 2 * ((other @ slope)[None, :] - (mine @ slope)[:, None] + squares)
        row, column = np.unravel_index(np.argmin(change), change.shape)
        return float(change[row, column]), int(ours[row]), int(theirs[column])

    def _movable(self, split: int) -> NDArray[np.int_]:
        """Return one group of each kind in a split that may leave it, and no group at all."""
        members = self._free[self.side[self._free] == split]
        first = np.unique(self._kind[members], return_index=True)[1]
        return np.append(members[np.sort(first)[:CANDIDATES]], len(self.side))

    def _put(self, group: int, split: int) -> None:
        self._excess[split] += self._counts[group]
        if group < len(self.side):
            self.side[group] = split


def _whole(shares: Array, total: int) -> NDArray[np.int_]:
    """Return whole numbers that sum to a total, each less than one from its share (largest remainders)."""
    exact = shares * total
    whole = np.floor(exact + 1e-9).astype(int)
    rest = total - int(whole.sum())
    whole[np.argsort(-(exact - whole), kind="stable")[:rest]] += 1
    return whole
