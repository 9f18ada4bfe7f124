"""One library's version into another: every file and row is proved, scenes are written anew, equal rows are kept once.

What another library says about its own files proves that they are whole, not that they are harmless: parts pass the
rules for untrusted input, cells, parts and scenes are read and written by our own code, and nothing else is copied but
records, which are JSON under their own hash, and a robot's USD file.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from library.commit import MAIN, Commit, FileFacts, damaged
from library.curated import Action
from library.import_json import parse_json, read_json, read_plain
from library.import_structures import ForeignScenes
from library.lance_table import LanceTable
from library.row import ROW_HASH, KeptVerdict, Row
from library.snapshot import Snapshot
from library.tables import CURATION, FACET_RECORDS, SCENARIOS, TABLES, VERDICTS, Columns, is_proved
from library.versioned import MARKER, Changes, Signature, VersionedLibrary
from scenegen.errors import LibraryError
from scenegen.record import content_hash

RECORDS = "records"
ROWS = 20_000
"""Rows of one commit."""
_ORDER = (*(name for name in TABLES if name not in (SCENARIOS.name, CURATION.name)), SCENARIOS.name, CURATION.name)
"""Facets and verdicts come before the scenes that need them: every commit is whole."""


def open_foreign(folder: Path, revision: str = MAIN) -> tuple[VersionedLibrary, Snapshot]:
    """Open a library that nobody vouches for at a version; nothing in it is changed.

    Raises:
        InvalidRecord: A JSON file is no plain file of a bearable size and depth.
        LibraryError: It is no library, the version is damaged, or it names files outside of its folder.
        UnknownName: There is no such version.
    """
    for path in (folder / MARKER, *sorted(folder.glob("branches/*/*.json")), *sorted(folder.glob("tags/*.json"))):
        if os.path.lexists(path):
            read_json(path, root=folder)
    library = VersionedLibrary.open(folder)
    snapshot = library.at(revision)
    for path in snapshot.commit.files if snapshot.commit else ():
        if not _is_inside(folder, path):
            raise LibraryError(
                str(folder), f"it names {path!r}, which is no plain file in its folder", "take a library you trust"
            )
    return library, snapshot


class LibraryImport:
    """Merges a version of one library into a branch of another; done twice, it adds nothing.

    Args:
        library: Where everything goes.
        source: The other library.
        version: The version of it.
        branch: The branch that is added to.
    """

    def __init__(
        self, library: VersionedLibrary, source: VersionedLibrary, version: Snapshot, *, branch: str = MAIN
    ) -> None:
        head = library.history.head(branch)
        self._library, self._source, self._version, self._branch = library, source, version, branch
        self._target = library.snapshot(head)
        self._known = dict(head.files) if head else {}
        self._scenes = ForeignScenes(library, source, version, self._known)
        self.added: Counter[str] = Counter()
        """Rows by table."""
        self.refused: dict[str, str] = {}
        """Scenes that were left out -> why."""
        self.conflicts = 0
        """Decisions that differ from those made here; those made here stay."""

    def run(self, message: str, *, noted: Callable[[int], None] = lambda _: None) -> Commit | None:
        """Merge; return the last commit, or None if nothing was new.

        Args:
            message: What the commits say.
            noted: Told how many rows were looked at since it was told last.

        Raises:
            LibraryError: A file or row of the source is damaged, or this library cannot be written.
            UnsafeStage, UnreadableStage, InvalidRecord: A part, cell, robot or record of the source is not what it
                must be.
        """
        changes, last = Changes(files=self._records()), None
        for name in _ORDER:
            for rows in self._fresh(name, noted):
                changes.add({name: rows})
                changes.files |= self._scenes.files
                if sum(map(len, changes.rows.values())) >= ROWS:
                    last, changes = self._publish(changes, message) or last, Changes()
        return self._publish(changes, message) or last

    def _publish(self, changes: Changes, message: str) -> Commit | None:
        changes.files = {path: facts for path, facts in changes.files.items() if path not in self._known}
        commit = self._library.publish(changes, Signature.here(message), branch=self._branch)
        self.added.update(commit.added if commit else {})
        return commit

    def _fresh(self, name: str, noted: Callable[[int], None]) -> Iterator[list[Columns]]:
        """Iterate over the rows of a table that are not here yet, each proved, in batches."""
        table = self._version.table(name)
        self._require_own_files(table)
        for batch in table.batches():
            rows = [{key: value for key, value in row.items() if value is not None} for row in batch.to_pylist()]
            unproved = next((row for row in rows if not is_proved(row)), None)
            if unproved is not None:
                raise self._wrong(name, unproved, "does not match its own hash")
            fresh = self._sound(name, self._target.table(name).absent(rows))
            noted(len(rows))
            if fresh:
                yield fresh

    def _require_own_files(self, table: LanceTable) -> None:
        """Refuse a table whose data lie elsewhere: Lance can refer to other places."""
        for fragment in table.dataset.get_fragments() if table.dataset is not None else ():
            if any(file.base_id is not None for file in fragment.metadata.files):
                what = str(self._source.files.local(table.table.path))
                raise LibraryError(what, "its data lie outside of the library", "take a library you trust")

    def _sound(self, name: str, rows: list[Columns]) -> list[Columns]:
        """Return the rows that are taken.

        Raises:
            LibraryError: A row is not what it must be.
        """
        if name == SCENARIOS.name:
            return [row for row in rows if self._is_written(self._row(row))]
        for row in rows:
            try:
                _require_sound(name, row)
            except (KeyError, TypeError, ValueError, RecursionError):
                raise self._wrong(name, row, "holds what it must not") from None
        return [row for row in rows if name != CURATION.name or self._is_undecided(row)]

    def _row(self, columns: Columns) -> Row:
        try:
            return Row.of(columns)
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
            raise self._wrong(SCENARIOS.name, columns, "holds what it must not") from None

    def _is_written(self, row: Row) -> bool:
        reason = self._scenes.write(row)
        if reason is not None:
            self.refused[row.scenario_id] = reason
        return reason is None

    def _is_undecided(self, row: Columns) -> bool:
        """Tell whether nothing was decided here about a subject: of a row that comes later more would count."""
        ours = self._target.curated.latest[Action(row["action"])].get(row["subject"])
        self.conflicts += ours is not None and ours["value"] != row["value"]
        return ours is None

    def _records(self) -> dict[str, FileFacts]:
        """Copy the records, each proved by the id that is its name."""
        files: dict[str, FileFacts] = {}
        for path in self._version.commit.files if self._version.commit else ():
            name = PurePosixPath(path)
            if name.parent.name == RECORDS and path not in self._known:
                local = self._source.files.local(path)
                data = read_plain(local, root=self._source.folder)
                parse_json(data, what=str(local))
                if content_hash(data) != name.stem or path != f"{RECORDS}/{name.stem}.json":
                    raise damaged(str(local), "its content does not match its name")
                files |= self._library.keep_file(path, data)
        return files

    def _wrong(self, name: str, row: Columns, what: str) -> LibraryError:
        return damaged(str(self._source.files.local(TABLES[name].path)), f"the row {row.get(ROW_HASH)!r} {what}")


def _require_sound(name: str, row: Columns) -> None:
    """Refuse a row that later readers would stumble over.

    Raises:
        ValueError, KeyError, TypeError, RecursionError: It is not what a row of that table must be.
    """
    if name == CURATION.name:
        Action(row["action"])
    elif name == VERDICTS.name:
        KeptVerdict.of(row)
    elif name == FACET_RECORDS.name:
        parse_json(row["json"], what=row["facet_id"])
        if content_hash(row["json"].encode()) != row["facet_id"]:
            raise ValueError


def _is_inside(folder: Path, path: str) -> bool:
    """Tell whether a path that a commit names is a plain file in the library's folder, if it is there."""
    if path.startswith("/") or "\\" in path or ".." in PurePosixPath(path).parts:
        return False
    real, root = os.path.realpath(folder / path), os.path.realpath(folder)
    return os.path.commonpath([real, root]) == root and (os.path.isfile(real) or not os.path.lexists(real))
