"""The versioned library: a folder of tables and files, published commit by commit.

```
library.json                          format, name
branches/<branch>/<number>.json       commits, created if absent: the only publish points
tags/<tag>.json                       names of versions, given once
tables/<table>.lance                  Lance datasets; only versions that a commit names count
records/<id>.json                     check plans, expansions, proposals of models that rows name, and calls behind them
calls/<model>.jsonl                   what a model was asked and replied: `--vlm replay:FILE` repeats it
usd/v1/{cells,assets,layouts,scenes}  USD files, named by the content that they are made of
copies/                               second copies of library.json, commits and tags
staging/<expansion>.jsonl             journals: what unfinished expansions have made so far
scratch/, cache/                      files that are being written; files that can be made again
```

Files are written first, the commit last. Two writers may work at once: the one that comes second finds its commit's
number taken, and publishes again on top of the first.
"""

from __future__ import annotations

import datetime
import errno
import getpass
import importlib.metadata
import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from library.commit import COPIES, FORMAT, MAIN, Commit, FileFacts, advanced, damaged, file_hash, too_new
from library.files import USD, FolderFiles, library_error, require_usable, unreadable
from library.history import History, Tag, require_branch_name
from library.lance_table import LanceTable
from library.row import ROW_HASH
from library.snapshot import Snapshot
from library.tables import TABLES, Columns
from scenegen.errors import LibraryError, UnknownName
from scenegen.record import Record, canonical_text, content_hash

NAME = "scenegen-library"
MARKER = "library.json"
TRIES = 200
"""Commits by others that a writer survives in a row before it gives up."""
PACKAGES = ("scenegen", "pylance", "usd-exchange", "mujoco", "numpy", "isaaclab")
OLD_FORMAT = "scenegen-folder-library"


@dataclass
class Changes:
    """What a commit brings: rows by table, and files that were written durably beforehand."""

    rows: dict[str, list[Columns]] = field(default_factory=dict)
    files: dict[str, FileFacts] = field(default_factory=dict)

    def add(self, rows: Mapping[str, Iterable[Columns]]) -> None:
        """Add rows by table."""
        for table, some in rows.items():
            self.rows.setdefault(table, []).extend(some)


@dataclass(frozen=True)
class Signature:
    """Who commits what for, and with what."""

    message: str
    author: str = ""
    command: tuple[str, ...] = ()
    packages: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def here(cls, message: str) -> Self:
        """Sign with this process' user, command line and installed packages."""
        command = (Path(sys.argv[0]).name, *sys.argv[1:])
        command = tuple(one.encode(errors="backslashreplace").decode() for one in command)
        return cls(message, author=author(), command=command, packages=installed())


def author() -> str:
    """Return who works here: SCENEGEN_AUTHOR, or the user's name."""
    try:
        name = os.environ.get("SCENEGEN_AUTHOR") or getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
    return "".join(one if one.isprintable() else "?" for one in name)[:200]


def installed() -> dict[str, str]:
    """Return the versions of the packages that decide what a scene is and whether it is valid."""
    found = {name: _version(name) for name in PACKAGES}
    return {name: version for name, version in found.items() if version}


def now() -> str:
    """Return the time, ISO 8601, UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds")


def marker(name: str, *, version: int = FORMAT) -> bytes:
    """Return the bytes of `library.json`: what the folder is, and the hash of that."""
    facts = {"format": NAME, "version": version, "name": name}
    return json.dumps({"id": content_hash(canonical_text(facts).encode()), **facts}, indent=1).encode()


class VersionedLibrary:
    """A library of validated scenes with its history.

    Example:
        >>> library = VersionedLibrary.create("scenarios")  # doctest: +SKIP
        >>> library.publish(changes, Signature.here("first scenes"))  # doctest: +SKIP
        >>> [row.scenario_id for row in library.at("main").rows()]  # doctest: +SKIP
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.files = FolderFiles(folder)
        self.history = History(self.files)

    @classmethod
    def create(cls, folder: str | Path) -> Self:
        """Open a library for writing and make it if it is not there.

        Raises:
            LibraryError: The folder holds something else, is of another format, or cannot be written.
        """
        library = cls(folder)
        require_usable(library.folder)
        try:
            if not (library.folder / MARKER).is_file():
                _require_empty(library.folder)
                library.folder.mkdir(parents=True, exist_ok=True)
                data = marker(library.folder.absolute().name)
                library.files.create(MARKER, data)
                library.files.put(f"{COPIES}/{MARKER}", data, durable=True)
            if not os.access(library.folder, os.W_OK):
                raise PermissionError(errno.EACCES, "no permission")
        except OSError as error:
            raise error if isinstance(error, LibraryError) else library_error(folder, error) from error
        library._check_format()
        return library

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Open an existing library.

        Raises:
            LibraryError: There is no library, or its format is another one.
        """
        library = cls(folder)
        require_usable(library.folder)
        library._check_format()
        return library

    @property
    def name(self) -> str:
        """The library's name, as it is cited: `name@version`."""
        return str(self._facts().get("name") or self.folder.absolute().name)

    @property
    def usd(self) -> Path:
        """Root of the USD files on disk."""
        return self.folder / USD

    def at(self, revision: str = MAIN) -> Snapshot:
        """Return a version for reading; an empty one if nothing was ever committed.

        Raises:
            UnknownName: Nothing has that name.
            LibraryError: The version is damaged.
        """
        try:
            return self.snapshot(self.history.find(revision))
        except UnknownName:
            if revision == MAIN and not self.history.branches():
                return self.snapshot(None)
            raise

    def snapshot(self, commit: Commit | None) -> Snapshot:
        """Return a commit's version for reading."""
        return Snapshot(self.files, commit, name=str(self.folder))

    def record(self, record: Record, *, folder: str = "records") -> dict[str, FileFacts]:
        """Write a record durably, under its content id; return it as a file for a commit."""
        return self.keep_file(f"{folder}/{record.content_id}.json", record.canonical_json().encode())

    def keep_file(self, path: str, data: bytes) -> dict[str, FileFacts]:
        """Write a file durably; return it as a file for a commit."""
        self.files.put(path, data, durable=True)
        return {path: FileFacts(size=len(data), sha256=file_hash(data))}

    def publish(
        self, changes: Changes, signature: Signature, *, branch: str = MAIN, onto: Commit | None = None
    ) -> Commit | None:
        """Add rows and files to a branch as one commit; rows that are there already are left out.

        Args:
            changes: What the commit brings.
            signature: Who commits what for.
            branch: Where to commit.
            onto: For what was concluded from a whole version: commit only if that one is still the branch's newest.

        Returns:
            The commit; None if it would have brought nothing new.

        Raises:
            LibraryError: The disk is full or not writable, the branch is closed, or what is there is damaged. Nothing
                is removed: where the error came after the commit had its name, the next reader finds the commit.
        """
        for _ in range(TRIES):
            head = self.history.head(branch)
            if head is None and branch != MAIN:
                raise UnknownName("branch", branch, self.history.branches())
            if head is not None and head.closed:
                raise LibraryError(str(self.folder), f"branch {branch} is closed", "make another branch")
            if onto is not None and head != onto:
                raise LibraryError(str(self.folder), f"branch {branch} was changed meanwhile", "run the command again")
            commit = self._next(head, changes, signature, branch)
            if commit is None:
                return None
            if self.files.create(commit.path, commit.to_file()) or self.history.read(branch, commit.number) == commit:
                self._copy(commit)
                return commit
        raise LibraryError(
            str(self.folder), f"others committed {TRIES} times while this writer tried", "run the command again"
        )

    def branch(self, name: str, origin: Commit, signature: Signature, *, closed: bool = False) -> Commit:
        """Begin a branch at a commit, or close it.

        Raises:
            InvalidOption: The name cannot be one.
            LibraryError: A branch or a tag of that name exists.
        """
        require_branch_name(name)
        commit = _following(origin, signature, branch=name).replaced(
            tables=origin.tables, files=origin.files, fingerprint=origin.fingerprint, closed=closed
        )
        with self.files.alone():  # two processes may give one name to branches that begin at different numbers
            if not closed and (self.history.head(name) is not None or name in self.history.tags()):
                raise LibraryError(str(self.folder), f"{name} names a branch or a tag already", "choose another name")
            if not self.files.create(commit.path, commit.to_file()):
                raise LibraryError(str(self.folder), f"branch {name} was changed meanwhile", "run the command again")
        self._copy(commit)
        return commit

    def tag(self, name: str, commit: Commit, *, note: str = "") -> Tag:
        """Give a version a name, for good; see `History.tag`."""
        tag = Tag(name=name, commit=commit.ref, note=note, author=author(), time=now())
        self.history.tag(tag)
        return tag

    def _next(self, head: Commit | None, changes: Changes, signature: Signature, branch: str) -> Commit | None:
        """Write a version on top of a commit; only its commit's file is missing then."""
        tables = dict(head.tables) if head else {}
        files = dict(head.files) if head else {}
        fingerprint, added = head.fingerprint if head else "0" * 64, {}
        for name, rows in sorted(changes.rows.items()):
            table = LanceTable(self.files, TABLES[name], tables.get(name), files)
            fresh = table.absent(rows)
            if not fresh:
                continue
            written = table.appended(fresh)
            files = {path: facts for path, facts in files.items() if path not in table.known} | written.files
            tables[name], added[name] = written.version, len(fresh)
            fingerprint = advanced(fingerprint, [row[ROW_HASH] for row in fresh])
        for path in changes.files.keys() & files.keys():
            if changes.files[path] != files[path]:  # a name is given once: what is there now is not what was kept
                raise damaged(str(self.files.local(path)), f"its SHA-256 is not {files[path].sha256[:12]}…")
        files |= changes.files
        if head is not None and not added and files == head.files:
            return None
        return _following(head, signature, branch=branch).replaced(
            tables=tables, files=files, fingerprint=fingerprint, added=added
        )

    def _copy(self, commit: Commit) -> None:
        self.files.put(f"{COPIES}/{commit.path}", commit.to_file(), durable=True)

    def _facts(self) -> dict[str, Any]:
        try:
            data = (self.folder / MARKER).read_bytes()
            facts = json.loads(data)
            if (
                facts["format"] == NAME
                and facts["version"] <= FORMAT
                and data != marker(facts["name"], version=facts["version"])
            ):
                raise damaged(str(self.folder / MARKER), "its content does not match its hash")
        except FileNotFoundError:
            raise LibraryError(str(self.folder), "no library there", "make one with `scenegen expand`") from None
        except OSError as error:
            raise error if isinstance(error, LibraryError) else unreadable(self.folder / MARKER, error) from error
        except (ValueError, KeyError, TypeError) as error:
            raise LibraryError(str(self.folder), f"{MARKER} cannot be read ({error})", "restore the file") from None
        return facts

    def _check_format(self) -> None:
        facts = self._facts()
        if facts["format"] == OLD_FORMAT:
            remedy = f"run `scenegen library migrate {self.folder}`; the old folder stays as it is"
            raise LibraryError(str(self.folder), "a library of format 1", remedy)
        if facts["format"] != NAME or not isinstance(facts["version"], int):
            raise LibraryError(str(self.folder), f"format {facts['format']!r} is not a library's", "restore the file")
        if facts["version"] > FORMAT:
            raise too_new(str(self.folder), facts["version"])


def _following(head: Commit | None, signature: Signature, *, branch: str) -> Commit:
    facts = {
        "format": FORMAT,
        "branch": branch,
        "number": head.number + 1 if head else 0,
        "parent": head.ref if head else None,
        "message": signature.message,
        "author": signature.author,
        "time": now(),
        "command": signature.command,
        "packages": dict(signature.packages),
    }
    return Commit.from_data(facts, what="commit")


def _require_empty(folder: Path) -> None:
    """Refuse to make a library among other files; what an interrupted `create` left does not count."""
    others = folder.is_dir() and any(one.name != "scratch" for one in folder.iterdir())
    if others and not (folder / MARKER).is_file():  # looked for last: another process may make the library meanwhile
        raise LibraryError(
            str(folder), "the folder holds other files and is no library", "choose an empty or a new folder"
        )


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
