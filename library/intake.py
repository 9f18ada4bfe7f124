"""Takes what an expansion makes: durable at once in its journal, published in large commits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from library.commit import MAIN, Commit, FileFacts
from library.journal import Journal
from library.journaled import records_behind
from library.row import Line
from library.tables import ATTEMPTS, SCENARIOS
from library.versioned import Changes, Signature, VersionedLibrary

PUBLISH_EVERY = 10_000
"""Indices between commits: a commit costs about a second, whatever it brings."""


@dataclass
class Tally:
    """What an expansion has given so far."""

    kept: int = 0
    exhausted: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    indices: set[int] = field(default_factory=set)
    bases: set[str] = field(default_factory=set)
    """The unperturbed twins."""

    def add(self, index: int, scenario_id: str | None, rejected: Mapping[str, int]) -> None:
        """Count one index; one that was counted before changes nothing."""
        if index in self.indices:
            return
        self.indices.add(index)
        self.kept += scenario_id is not None
        self.exhausted += scenario_id is None
        self.rejected.update(rejected)

    def add_line(self, line: Line) -> None:
        """Count one line."""
        self.add(line.index, line.scenario_id, line.rejected)
        if line.base_id:
            self.bases.add(line.base_id)


class Intake:
    """Keeps the lines of one expansion in a library.

    Args:
        library: The library.
        journal: The expansion's journal, held by this process.
        expansion_id: Content id of the expansion.
        branch: Where to publish.
        files: What all its scenes share; published with the first lines.
    """

    def __init__(
        self,
        library: VersionedLibrary,
        journal: Journal,
        *,
        expansion_id: str,
        branch: str = MAIN,
        files: dict[str, FileFacts] | None = None,
    ) -> None:
        self._library = library
        self._journal = journal
        self._branch = branch
        self._expansion_id = expansion_id
        self._files = files or {}
        self._unpublished: list[Line] = []
        self.tally = self._tally()

    @property
    def due(self) -> bool:
        """Whether enough lines came together for a commit."""
        return len(self._unpublished) >= PUBLISH_EVERY

    def add(self, lines: Iterable[Line]) -> None:
        """Make lines durable.

        Raises:
            LibraryError: The disk is full or not writable.
        """
        some = list(lines)
        self._journal.add(some)
        self._unpublished += some

    def attach(self, files: Mapping[str, FileFacts]) -> None:
        """Publish more files with the next lines."""
        self._files |= files

    def publish(self, message: str) -> Commit | None:
        """Publish what is in the journal; return the commit, or None if there was nothing to publish.

        Raises:
            LibraryError: The disk is full or not writable; the journal stays, and the next run publishes it.
        """
        changes = Changes(files=self._files)
        for line in self._unpublished:
            changes.add(line.rows)
        commit = self._library.publish(changes, Signature.here(message), branch=self._branch) if changes.rows else None
        self._journal.clear()
        self._unpublished = []
        return commit

    def _tally(self) -> Tally:
        """Count what is published and what is in the journal."""
        tally, snapshot = Tally(), self._library.at(self._branch)
        mine = f"expansion = '{self._expansion_id}'"
        for row in snapshot.table(ATTEMPTS.name).scan(where=mine).to_pylist():
            tally.add(row["index"], row["scenario_id"], {one["reason"]: one["times"] for one in row["rejected"]})
        bases = snapshot.table(SCENARIOS.name).scan(where=mine, columns=["base_id"])
        tally.bases.update(bases.column("base_id").to_pylist())
        for line in self._journal.lines():
            self._unpublished.append(line)
            tally.add_line(line)
        self._files |= records_behind(self._library, self._unpublished)
        return tally
