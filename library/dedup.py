"""Find near-duplicates: scenes that differ in nothing by more than the scales of `library.scales`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from library.distance import FacetNumbers, Features, distance, facet_numbers, features_of
from library.row import axes_of, facets_of
from library.scales import SCALES, Scale
from library.snapshot import Snapshot
from library.tables import FACET_RECORDS, Columns
from scenegen.axes.registry import AXES
from scenegen.errors import LibraryError
from scenegen.scenario import FACETS, Facet

TREE_COLUMNS = 8
"""Columns by which candidates are looked up: those along which the scenes are spread most."""
SLACK = 1e-6
"""For rounding: how much farther than 1 the bounds may be."""


@dataclass(frozen=True)
class Near:
    """A scene that is near the first of its group."""

    scenario_id: str
    apart: Mapping[str, float]
    """Quantity -> distance in its scale."""

    @property
    def distance(self) -> float:
        """The greatest of the distances."""
        return max(self.apart.values(), default=0.0)

    def text(self, scales: Mapping[str, Scale] = SCALES) -> str:
        """Return the distance with the quantity that makes it, in units."""
        quantity = max(self.apart, key=lambda name: self.apart[name], default=None)
        if quantity is None or not self.apart[quantity]:
            return "0"
        return f"{self.distance:.2g}: {quantity} {scales[quantity].in_units(self.apart[quantity])}"


@dataclass(frozen=True)
class NearGroup:
    """A scene and those near it; every scene is in one group at most, and the first ones are not near each other."""

    first: str
    others: tuple[Near, ...]


def near_duplicates(
    snapshot: Snapshot,
    rows: Sequence[Columns],
    *,
    scales: Mapping[str, Scale] = SCALES,
    touched: bool = False,
    across_axes: bool = False,
    progress: Callable[[str, int], None] = lambda *_: None,
) -> list[NearGroup]:
    """Find the groups of near-duplicates among scenes of one cell and one set of axes.

    Args:
        snapshot: Holds the scenes' facets.
        rows: Rows of the table `scenarios`; of the scenes near each other the first one leads the group.
        scales: Differences that count as 1, by quantity; scenes at most 1 apart are near.
        touched: Compare only the facets that a scene's axes touch: scenes on other bases may then be near.
        across_axes: Compare scenes of different axes as well.
        progress: Called with `read` or `compared` and the number of scenes so far.

    Raises:
        LibraryError: A facet is missing or damaged.
    """
    scenes: dict[str, Columns] = {}
    for row in rows:
        scenes.setdefault(row["scenario_id"], row)
    buckets: dict[str, list[tuple[str, Features]]] = {}
    compared = {one: _compared(row) if touched else FACETS for one, row in scenes.items()}
    reader = _Reader(snapshot, scenes.values(), compared, scales)
    for done, (one, row) in enumerate(scenes.items()):
        progress("read", done)
        features = reader.features(row, compared[one])
        group = "" if across_axes else row["axis"] or ""
        buckets.setdefault(f"{row['cell_id']} {row['assets']} {group}\n{features.key}", []).append((one, features))
    found, compare = [], iter(range(len(scenes)))
    for some in buckets.values():
        found += _groups(some, lambda: progress("compared", next(compare)))
    order = {one: at for at, one in enumerate(scenes)}
    return sorted(found, key=lambda group: order[group.first])


def equal_scenes(rows: Iterable[Columns]) -> dict[str, int]:
    """Return the scenes that more than one road led to, and how many."""
    counts = Counter(row["scenario_id"] for row in rows)
    return {one: count for one, count in counts.items() if count > 1}


def near_bases(snapshot: Snapshot, rows: Iterable[Columns]) -> list[tuple[str, str]]:
    """Return pairs of bases that are near-duplicates: each base with the first of its group.

    Args:
        snapshot: Holds the scenes' facets.
        rows: Rows of the table `scenarios`; those of bases count.
    """
    bases = sorted((row for row in rows if row["scenario_id"] == row["base_id"]), key=lambda row: row["scenario_id"])
    groups = near_duplicates(snapshot, bases)
    return [(group.first, other.scenario_id) for group in groups for other in group.others]


def _compared(row: Columns) -> tuple[Facet, ...]:
    """Return the facets that a scene's axes touch; all of them for a base, or where an axis is not known."""
    axes = [axis for axis, _ in axes_of(row["axes"])]
    if not axes or any(axis not in AXES for axis in axes):
        return FACETS
    return tuple(facet for facet in FACETS if any(facet in AXES[axis].touches for axis in axes))


class _Reader:
    """Turns kept scenes into numbers, each facet once."""

    def __init__(
        self,
        snapshot: Snapshot,
        rows: Iterable[Columns],
        compared: Mapping[str, tuple[Facet, ...]],
        scales: Mapping[str, Scale],
    ) -> None:
        self._name, self._scales = snapshot.name, scales
        ids = {one for row in rows for facet, one in facets_of(row).items() if facet in compared[row["scenario_id"]]}
        found = snapshot.table(FACET_RECORDS.name).look_up("facet_id", sorted(ids))
        self._texts = {columns["facet_id"]: columns["json"] for columns in found}
        self._known: dict[str, FacetNumbers] = {}

    def features(self, row: Columns, facets: Sequence[Facet]) -> Features:
        """Return a scene's numbers."""
        ids = facets_of(row)
        return features_of([self._numbers(row, facet, ids[facet]) for facet in facets])

    def _numbers(self, row: Columns, facet: Facet, one: str) -> FacetNumbers:
        if one not in self._known:
            if one not in self._texts:
                reason = f"scenario {row['scenario_id']}: its facet {one} is not kept"
                raise LibraryError(self._name, reason, "run `scenegen library verify`")
            self._known[one] = facet_numbers(facet, json.loads(self._texts.pop(one)), self._scales)
        return self._known[one]


def _groups(scenes: Sequence[tuple[str, Features]], step: Callable[[], None]) -> list[NearGroup]:
    """Group scenes of one key: each joins the first one before it that leads a group and is near.

    Candidates come from a k-d tree over bounds (see `Features.bounds`), so that no near pair is missed.
    """
    if len(scenes) < 2:
        return []
    bounds = np.array([[0.0, *features.bounds()] for _, features in scenes])  # words alone have no bounds
    widest = np.argsort(-np.ptp(bounds, axis=0), kind="stable")[:TREE_COLUMNS]
    tree = KDTree(bounds[:, widest])
    free, found = np.ones(len(scenes), bool), []
    for at, (first, features) in enumerate(scenes):
        step()
        if not free[at]:
            continue
        free[at] = False
        around = np.sort(np.array(tree.query_ball_point(bounds[at, widest], 1 + SLACK, p=np.inf), int))
        around = around[free[around]]
        around = around[(np.abs(bounds[around] - bounds[at]) <= 1 + SLACK).all(axis=1)]
        others = []
        for other in around:
            apart = distance(features, scenes[other][1])
            near = Near(scenes[other][0], apart or {})
            if near.distance <= 1:
                free[other] = False
                others.append(near)
        if others:
            found.append(NearGroup(first, tuple(others)))
    return found
