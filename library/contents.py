"""Holds what the tables of a library say against itself: hashes, ids, layers, fingerprints.

Rows are only ever added, in order, so the newest version of a branch holds all older ones as its beginning: it is read
once, and the sums at their lengths are the fingerprints of them all. Where its table is damaged, the newest older
version whose files are whole takes its place.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from library.commit import Commit, advanced
from library.findings import Findings
from library.lance_table import LanceTable
from library.lineage import Place
from library.row import Row, facets_of
from library.snapshot import Snapshot
from library.tables import FACET_RECORDS, ROW_HASH, SCENARIOS, TABLES, Table, is_proved
from library.versioned import USD, VersionedLibrary
from scenegen.errors import LibraryError, SceneGenError
from scenegen.facet import Asset, Facet, scenario_key
from scenegen.record import content_hash
from scenegen.usd.files import layout_path, scene_path

NOTHING = "0" * 64
BUILT_AT_ONCE = 200
"""Scenarios that are built together: their facets are looked up in one question."""
RowCheck = Callable[[Mapping[str, Any]], str | None]
"""Says what is wrong with a row; None if nothing is."""


def layer_paths(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return where a scenario's layers stand in a library: its layout's and its own.

    Args:
        row: The columns `scenario_id`, `cell_id`, `assets` and `layout_id`.
    """
    key = scenario_key(row["cell_id"], assets_of(row["assets"]), {Facet.LAYOUT: row["layout_id"]})
    return f"{USD}/{layout_path(key)}", f"{USD}/{scene_path(row['scenario_id'])}"


@cache
def assets_of(text: str) -> tuple[Asset, ...]:
    """Read the column `assets`."""
    return tuple(Asset(part=part, content=content) for part, content in json.loads(text).items())


class Contents:
    """Checks the rows of chains of commits.

    Args:
        library: The library.
        findings: Where damage is noted.
        broken: Files that are damaged or missing.
        deep: Also build every scenario from its facets.
    """

    def __init__(self, library: VersionedLibrary, findings: Findings, broken: set[str], *, deep: bool = False) -> None:
        self._library = library
        self._findings = findings
        self._broken = broken
        self._deep = deep
        self._facets: set[str] | None = None
        """Ids of the facets of the chain that is being checked; None where they cannot be read."""
        self._facets_of: Commit | None = None
        """The version that they were read from."""
        self._scanned: dict[tuple[str, int], dict[int, int]] = {}
        """Table and version -> sums of row hashes by number of rows."""
        self._chain: list[Commit] = []
        self._layers: dict[int, str] = {}
        """Layers that were read -> what is wrong; keys are hashes of path and SHA-256, for there may be millions."""
        self._named: set[int] = set()
        self._scenes: dict[tuple[str, str], set[int]] = {}
        """Cell and assets -> hashes of the ids of scenes."""
        self.unread: set[Place] = set()
        """Commits whose scenarios cannot be read."""

    def check(self, chain: list[Commit]) -> None:
        """Check the rows of a version and of all before it.

        Args:
            chain: The commits, newest first.
        """
        self._chain = chain
        sums: dict[Place, list[int]] = {(one.branch, one.number): [] for one in chain}
        names = dict.fromkeys((FACET_RECORDS.name, SCENARIOS.name, *TABLES))
        for name in names:
            known = self._sums(TABLES[name])
            for one in chain:
                rows = one.tables[name].rows if name in one.tables else 0
                if rows in known:
                    sums[one.branch, one.number].append(known[rows])
        for one in chain:
            parts = sums[one.branch, one.number]
            if len(parts) < len(names):
                continue  # a damaged table: its files are named already
            self._findings.checked["fingerprints"] += 1
            if f"{sum(parts) % 2**256:064x}" != one.fingerprint:
                place = (one.branch, one.number)
                self._findings.add(one.path, "its fingerprint is not that of its rows", places=[place])

    def _sums(self, table: Table) -> dict[int, int]:
        """Check a table's rows in the newest version of the chain that is whole.

        Returns:
            Number of rows -> the sum of their hashes, for the lengths that the table has in the chain.
        """
        name = table.name
        if table is FACET_RECORDS:
            self._facets = None
        whole = next((one for one in self._chain if name in one.tables and self._is_whole(one, table)), None)
        if table is FACET_RECORDS:
            self._facets_of = whole
        elif table is SCENARIOS:
            newer = self._chain[: self._chain.index(whole)] if whole else self._chain
            self.unread |= {(one.branch, one.number) for one in newer if name in one.tables}
            if self._facets_of is None or (whole and self._facets_of.number < whole.number):
                self._facets = None  # older than the scenarios: some of theirs are not in it
        if whole is None:
            return {0: 0}
        key = (name, whole.tables[name].version)
        if key not in self._scanned or table is FACET_RECORDS:
            self._scanned[key] = self._scan(table, whole)
        return self._scanned[key]

    def _is_whole(self, commit: Commit, table: Table) -> bool:
        return not any(path in self._broken for path in commit.files if path.startswith(f"{table.path}/"))

    def _scan(self, table: Table, commit: Commit) -> dict[int, int]:
        marks = {one.tables[table.name].rows for one in self._chain if table.name in one.tables}
        check, sums, position, total, wrong = self._row_check(table), {0: 0}, 0, 0, Counter[str]()
        lance = LanceTable(self._library.files, table, commit.tables[table.name], commit.files)
        first: dict[str, int] = {}
        try:
            for batch in lance.batches():
                rows = batch.to_pylist()
                for row in rows:
                    if reason := ("does not match its own hash" if not is_proved(row) else check(row)):
                        wrong[reason] += 1
                        first.setdefault(reason, position)
                    total += int(advanced(NOTHING, [row[ROW_HASH] or ""]), 16)
                    position += 1
                    if position in marks:
                        sums[position] = total
                if table is SCENARIOS:
                    self._scenarios(rows, position - len(rows), commit)
        except LibraryError as error:
            self._findings.add(table.path, error.reason.removeprefix("damaged: "), places=self._having(table, 0))
        for reason, count in wrong.items():
            sentence = f"{count} rows are wrong: row {first[reason]} {reason}"
            self._findings.add(table.path, sentence, places=self._having(table, first[reason]))
        if position != lance.rows:
            sentence = f"it has {position} rows, not {lance.rows}"
            self._findings.add(table.path, sentence, places=self._having(table, position))
        self._findings.checked["rows"] += position
        return sums

    def _row_check(self, table: Table) -> RowCheck:
        if table is FACET_RECORDS:
            return self._facet_fault
        return self._scenario_fault if table is SCENARIOS else lambda _: None

    def _facet_fault(self, row: Mapping[str, Any]) -> str | None:
        if self._facets is None:
            self._facets = set()
        self._facets.add(row["facet_id"])
        return None if content_hash(row["json"].encode()) == row["facet_id"] else "has content of another id"

    def _scenario_fault(self, row: Mapping[str, Any]) -> str | None:
        ids = facets_of(row)
        if scenario_key(row["cell_id"], assets_of(row["assets"]), ids) != row["scenario_id"]:
            return f"({row['scenario_id']}) names facets of another scenario"
        if self._facets is not None and not self._facets.issuperset(ids.values()):
            return f"({row['scenario_id']}) names a facet that is not kept"
        return None

    def _scenarios(self, rows: list[dict[str, Any]], start: int, commit: Commit) -> None:
        for position, row in enumerate(rows, start):
            self._scenes.setdefault((row["cell_id"], row["assets"]), set()).add(hash(row["scenario_id"]))
            layers = layer_paths(row)
            self._named.update(map(hash, layers))
            if row["scene_sha256"] is not None and row["layout_sha256"] is not None:
                for path, sha256 in zip(layers, (row["layout_sha256"], row["scene_sha256"]), strict=True):
                    self._layer(path, sha256, row["scenario_id"], position)
        if self._deep:
            self._build(rows, commit)

    def _layer(self, path: str, sha256: str, scenario_id: str, position: int) -> None:
        key = hash((path, sha256))
        if key not in self._layers:
            self._layers[key] = self._findings.wrong(path, sha256) or ""
            self._findings.checked["layers"] += 1
        if reason := self._layers[key]:
            self._findings.add(path, reason, places=self._having(SCENARIOS, position), scenes=[scenario_id])

    def _build(self, rows: list[dict[str, Any]], commit: Commit) -> None:
        """Build scenarios from their facets, as readers do."""
        snapshot = self._library.snapshot(commit)
        for start in range(0, len(rows), BUILT_AT_ONCE):
            some = [Row.of(row) for row in rows[start : start + BUILT_AT_ONCE]]
            try:
                built = len(snapshot.scenarios(some))
            except SceneGenError:
                built = sum(self._is_built(snapshot, row) for row in some)
            self._findings.checked["scenarios built"] += built

    def _is_built(self, snapshot: Snapshot, row: Row) -> bool:
        try:
            snapshot.scenario(row)
        except SceneGenError as error:
            self._findings.add(
                FACET_RECORDS.path, str(error), places=self._having(SCENARIOS, 0), scenes=[row.scenario_id]
            )
            return False
        return True

    def count_scenes(self, chosen: Callable[[str, str], bool]) -> int:
        """Count scenes by the content id of their cell and their column `assets`."""
        return sum(len(ids) for (cell, assets), ids in self._scenes.items() if chosen(cell, assets))

    def is_named(self, path: str) -> bool:
        """Tell whether a row names a layer."""
        return hash(path) in self._named

    def _having(self, table: Table, position: int) -> list[Place]:
        """Return the versions of the chain in which a table has a row at a position."""
        having = (one for one in self._chain if table.name in one.tables and one.tables[table.name].rows > position)
        return [(one.branch, one.number) for one in having]
