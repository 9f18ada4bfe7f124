"""One table at one version, as a Lance dataset of detached versions whose every file is known by hash.

Lance checks none of its bytes, and two writers may disturb each other's versions. So no commit here is part of Lance's
own history: each is detached, made from the version it follows, and found only through the library's commit that names
it. Lance's data files never change once written.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
from lance.fragment import FragmentMetadata, LanceFragment, write_fragments

from library.commit import FileFacts, TableVersion, damaged
from library.files import Files, library_error
from library.lance_file import require_whole
from library.tables import ROW_HASH, Columns, Table, is_proved
from scenegen.errors import LibraryError

STORAGE_VERSION = "2.1"
"""Lance's file format."""
FRAGMENTS = 24
"""Most fragments of a table before the small ones are joined."""
LARGE = 100_000
"""Rows of a fragment that is not joined any more."""
SEGMENTS = 8
"""Most segments of an index before it is built anew in one: a look-up asks each of them."""
INDEXED_ANEW = 10
"""Rows that are a tenth of what is there, or more, are worth an index in one segment."""
ASKED = 5_000
"""Most values in one lookup."""

_OS_ERROR = re.compile(r"os error (\d+)")
"""How Rust names an error of the operating system in a sentence."""

BOOKKEEPING = re.compile(r"^tables/[^/]+/_versions/(?!d\d+\.manifest$)")

_checked: dict[tuple[str, int, int, int], str] = {}
"""Files that this process has read and hashed: path, size, time of change and inode -> hash."""


@dataclass(frozen=True)
class Written:
    """A new version of a table and the files that it is made of."""

    version: TableVersion
    files: dict[str, FileFacts]


class LanceTable:
    """Reads one version of a table and writes the next; every file is held against its hash before it is trusted.

    Rows that are looked up are proved once more by their own hash.
    """

    def __init__(self, files: Files, table: Table, version: TableVersion | None, known: Mapping[str, FileFacts]):
        self.table = table
        self.rows = version.rows if version else 0
        self._files = files
        self._version = version
        self._warmed = set[str]()
        self.known = {path: facts for path, facts in known.items() if path.startswith(f"{table.path}/")}

    @cached_property
    def dataset(self) -> lance.LanceDataset | None:
        """The Lance dataset, after every one of its files was checked; None while the table has no rows.

        Raises:
            LibraryError: A file is damaged or missing; names it.
        """
        if self._version is None:
            return None
        for path, facts in self.known.items():
            check_file(self._files, path, facts)
        with self._lance_errors():
            return lance.dataset(self._uri, version=self._version.version)

    def look_up(self, column: str, values: Iterable[str]) -> list[dict[str, Any]]:
        """Return the rows whose column holds one of the values, each proved by its own hash.

        Raises:
            LibraryError: The table is damaged.
        """
        self._warm(column)
        found = self._ask(column, list(dict.fromkeys(values)))
        wrong = next((row for row in found if not is_proved(row)), None)
        if wrong is not None:
            raise damaged(self._uri, f"the row of {column} {wrong[column]!r} does not match its own hash")
        return found

    def scan(self, *, where: str | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Return rows in the order in which they were kept, of a table that was checked.

        Args:
            where: A condition in SQL, for example `axis = 'pose' AND level = 3`.
            columns: The columns wanted; all by default.

        Raises:
            LibraryError: A file is damaged or missing.
        """
        names = list(columns) if columns is not None else self.table.schema.names
        dataset = self.dataset
        if dataset is None:
            return pa.schema([self.table.schema.field(name) for name in names]).empty_table()
        with self._lance_errors():
            there = [name for name in names if name in dataset.schema.names]
            found = dataset.scanner(columns=there, filter=where, scan_in_order=True).to_table()
        return found if there == names else _fitted(found, pa.schema([self.table.schema.field(name) for name in names]))

    def batches(self, *, where: str | None = None, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Like `scan`, in batches: memory stays flat."""
        dataset = self.dataset
        if dataset is None:
            return
        with self._lance_errors():
            names = list(columns) if columns is not None else None
            yield from dataset.scanner(columns=names, filter=where, scan_in_order=True).to_batches()

    def absent(self, rows: Sequence[Columns]) -> list[Columns]:
        """Return the rows that the table does not hold yet, each once."""
        fresh = {row[ROW_HASH]: row for row in rows}
        for row in self._ask(ROW_HASH, list(fresh), columns=[ROW_HASH]):
            fresh.pop(row[ROW_HASH], None)
        return list(fresh.values())

    def appended(self, rows: Sequence[Columns]) -> Written:
        """Write a new version with more rows; nobody sees it before a commit names it.

        Columns that another version of scenegen wrote, and this one does not know, stay; columns that are new here are
        null in the rows that are there.

        Raises:
            LibraryError: The disk is full or not writable, or this version is damaged.
        """
        with self._lance_errors():
            self._ensure()
            before = self.dataset
            names = self.table.schema.names
            unknown = [field for field in before.schema if field.name not in names] if before is not None else []
            schema = pa.schema([*self.table.schema, *unknown])
            fragments = self._written(_fitted(self.table.arrow(list(rows)), schema))
            if before is None or before.schema != schema or len(_large_and_small(before)[1]) >= FRAGMENTS:
                return self._rewritten(before, fragments, schema)
            if len(rows) * INDEXED_ANEW >= before.count_rows() or _segments(before) >= SEGMENTS:
                kept = [one.metadata for one in before.get_fragments()]
                operation = lance.LanceOperation.Overwrite(schema, [*kept, *fragments])
                return self._indexed(self._commit(operation, None), lambda _: True)
            version = self._commit(lance.LanceOperation.Append(fragments), before.version)
            old = {fragment.fragment_id for fragment in before.get_fragments()}
            return self._indexed(version, lambda fragment: fragment not in old)

    def _rewritten(
        self, before: lance.LanceDataset | None, fresh: list[FragmentMetadata], schema: pa.Schema
    ) -> Written:
        """Join the small fragments at the end of a version into one, and add the fresh ones.

        All fragments are joined where their columns are others than the schema's.
        """
        large, small = _large_and_small(before)
        if before is not None and before.schema != schema:
            large, small = [], [*large, *small]
        joined: list[FragmentMetadata] = []
        if small:
            batches = (
                fitted
                for one in small
                for batch in one.to_batches()
                for fitted in _fitted(pa.Table.from_batches([batch]), schema).to_batches()
            )
            joined = self._written(pa.RecordBatchReader.from_batches(schema, batches))
        fragments = [*(one.metadata for one in large), *joined, *fresh]
        operation = lance.LanceOperation.Overwrite(schema, fragments)
        return self._indexed(self._commit(operation, None), lambda _: True)

    def _written(self, rows: pa.Table | pa.RecordBatchReader) -> list[FragmentMetadata]:
        """Write rows; the numbers of their columns follow from their own schema, whatever others wrote here."""
        return write_fragments(rows, self._uri, mode="overwrite", data_storage_version=STORAGE_VERSION)

    def _indexed(self, dataset: lance.LanceDataset, chosen: Callable[[int], bool]) -> Written:
        fragments = [one.fragment_id for one in dataset.get_fragments() if chosen(one.fragment_id)]
        kinds = [*((name, "BTREE") for name in self.table.lookup), *((name, "BITMAP") for name in self.table.groups)]
        indices = [
            dataset.create_index_uncommitted(one, kind, name=_index_name(one), fragment_ids=fragments, replace=True)
            for one, kind in kinds
        ]
        indexed = self._commit(lance.LanceOperation.CreateIndex(indices, []), dataset.version)
        version = TableVersion(version=indexed.version, rows=indexed.count_rows())
        facts = {path: self._facts(path) for path in self._paths(indexed)}
        return Written(version, facts)

    def _commit(self, operation: Any, read_version: int | None) -> lance.LanceDataset:
        return lance.LanceDataset.commit(self._uri, operation, read_version=read_version, detached=True)

    def _ensure(self) -> None:
        """Make the dataset, empty, if it is not there; detached versions need something to be detached from."""
        versions = self._files.local(f"{self.table.path}/_versions")
        if not _has_versions(versions):
            empty = self.table.schema.empty_table()
            os.makedirs(versions.parent, exist_ok=True)
            try:
                lance.write_dataset(empty, self._uri, mode="create", data_storage_version=STORAGE_VERSION)
            except OSError:  # another writer may have been quicker
                if not _has_versions(versions):
                    raise

    def _paths(self, dataset: lance.LanceDataset) -> Iterator[str]:
        """Name all files that a version is read from."""
        yield f"{self.table.path}/_versions/d{dataset.version}.manifest"
        for fragment in dataset.get_fragments():
            yield from (f"{self.table.path}/data/{one.path}" for one in fragment.metadata.files)
        for index in dataset.describe_indices():
            for segment in index.segments:
                folder = f"{self.table.path}/_indices/{segment.uuid}"
                yield from (one.path for one in self._files.list(folder))

    def _facts(self, path: str) -> FileFacts:
        """Return what a file is; one that was written just now is looked at for gaps and made durable first."""
        if path in self.known:
            return self.known[path]
        require_whole(self._files.local(path))
        self._files.sync(path)
        return FileFacts(size=self._files.local(path).stat().st_size, sha256=self._files.digest(path))

    def _ask(self, column: str, values: Sequence[str], *, columns: list[str] | None = None) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        dataset = self.dataset
        if dataset is None:
            return rows
        for start in range(0, len(values), ASKED):
            quoted = ", ".join("'" + value.replace("'", "''") + "'" for value in values[start : start + ASKED])
            with self._lance_errors():
                rows += dataset.scanner(columns=columns, filter=f"{column} IN ({quoted})").to_table().to_pylist()
        return rows

    def _warm(self, column: str) -> None:
        """Read a column's index into memory before its first use: page by page, each first touch would cost 1 ms."""
        dataset = self.dataset
        if dataset is not None and column in self.table.lookup and column not in self._warmed:
            with self._lance_errors():
                dataset.prewarm_index(_index_name(column))
            self._warmed.add(column)

    @property
    def _uri(self) -> str:
        return os.path.abspath(self._files.local(self.table.path))  # of a relative path Lance might make an address

    @contextmanager
    def _lance_errors(self) -> Iterator[None]:
        """Turn what Lance raises into sentences: a full disk, or damage that the check of hashes has to name."""
        try:
            yield
        except LibraryError:
            raise
        except (OSError, ValueError, RuntimeError, pa.ArrowException) as error:
            raise self._explained(error) from error

    def _explained(self, error: Exception) -> LibraryError:
        found = _OS_ERROR.search(str(error))
        number = (error.errno if isinstance(error, OSError) else None) or (int(found[1]) if found else 0)
        if number not in (0, errno.ENOENT):
            return library_error(self._uri, OSError(number, os.strerror(number)))
        return damaged(self._uri, str(error).splitlines()[0][:200])


def _fitted(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Put columns in a schema's order, with nulls for those that are not there."""
    names = rows.schema.names
    columns = [rows.column(one.name) if one.name in names else pa.nulls(len(rows), one.type) for one in schema]
    return pa.table(columns, schema=schema)


def _index_name(column: str) -> str:
    return f"{column}_index"


def _segments(dataset: lance.LanceDataset) -> int:
    return max((len(index.segments) for index in dataset.describe_indices()), default=0)


def _has_versions(folder: Path) -> bool:
    return folder.is_dir() and any(name.endswith(".manifest") for name in os.listdir(folder))


def is_bookkeeping(path: str) -> bool:
    """Tell Lance's own files of a table from those of a version: made once, and looked for by each writer."""
    return BOOKKEEPING.match(path) is not None


def _large_and_small(dataset: lance.LanceDataset | None) -> tuple[list[LanceFragment], list[LanceFragment]]:
    """Split a version's fragments after its last large one: rows keep their order when the rest is joined."""
    fragments = dataset.get_fragments() if dataset is not None else []
    end = max((at for at, one in enumerate(fragments, start=1) if one.metadata.num_rows >= LARGE), default=0)
    return fragments[:end], fragments[end:]


def check_file(files: Files, path: str, facts: FileFacts, *, again: bool = False) -> None:
    """Hold a file against its size and hash; a file that did not change since is not read twice by one process.

    Bits that rot change neither size nor time: a process that has read a file before does not see that they did.

    Args:
        files: The library's files.
        path: The file.
        facts: What it must be.
        again: Read it whatever was read before.

    Raises:
        LibraryError: The file is damaged, missing or unreadable; names it.
    """
    target = files.local(path)
    try:
        found = os.stat(target)
    except FileNotFoundError:
        raise damaged(str(target), "the file is missing") from None
    except OSError as error:
        raise library_error(target, error) from error
    key = (str(target), found.st_size, found.st_mtime_ns, found.st_ino)
    if again or key not in _checked:
        _checked[key] = files.digest(path)
    if found.st_size != facts.size or _checked[key] != facts.sha256:
        raise damaged(str(target), f"its SHA-256 is not {facts.sha256[:12]}…")
