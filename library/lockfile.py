"""`library.lock`: one version of a library as a small text file with its hashes, for somebody's own git.

The commit's file lists the SHA-256 of every file of its version but the layers of scenes, whose hashes stand in rows of
a table. So the lock holds a digest for each group of files: the SHA-256 over the lines `<sha256>  <path>` (as
`sha256sum` prints them), sorted by path. Whatever is replaced, with or without its commit, one of them differs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Self

from library.commit import Commit, CommitRef, FileFacts, file_hash
from library.contents import layer_paths
from library.files import library_error
from library.lance_table import check_file
from library.snapshot import Snapshot
from library.tables import SCENARIOS
from library.versioned import VersionedLibrary
from scenegen.errors import InvalidRecord, LibraryError
from scenegen.record import Record

LOCK_FORMAT = "scenegen-library-lock"
LOCK_VERSION = 1
LAYERS = "layers"
"""The group of the scenes' layers."""
_LAYER_COLUMNS = ("scenario_id", "cell_id", "assets", "layout_id", "layout_sha256", "scene_sha256")

Progress = Callable[[], object]
"""Told about each file that was read."""


class Digest(Record):
    """Some files, as one hash."""

    files: int
    sha256: str
    """Over the lines `<sha256>  <path>` of all files, sorted by path."""

    @classmethod
    def of(cls, hashes: Mapping[str, str]) -> Self:
        """Make the digest of files.

        Args:
            hashes: Path -> SHA-256.
        """
        total = hashlib.sha256()
        for path in sorted(hashes):
            total.update(f"{hashes[path]}  {path}\n".encode())
        return cls(files=len(hashes), sha256=total.hexdigest())


class Lock(Record):
    """What a library must be to be the very version that was locked."""

    format: str = LOCK_FORMAT
    version: int = LOCK_VERSION
    library: str
    """Its name."""
    library_format: int
    commit: CommitRef
    commit_sha256: str
    """Of the commit's file."""
    fingerprint: str
    """What the version holds, whatever its history."""
    scenes: int
    """Members of the set: without what was dropped, is in quarantine or was rejected."""
    tables: dict[str, int]
    """Rows by table."""
    digests: dict[str, Digest]
    """By group: a table, `records`, `usd`, or `layers` for the layers of scenes."""
    packages: dict[str, str]
    """Versions of the packages that made the commit."""

    @classmethod
    def of(cls, library: VersionedLibrary, commit: Commit) -> Self:
        """Lock a version: what its commit and its rows say that its files are.

        Raises:
            LibraryError: A table is damaged.
        """
        snapshot = library.snapshot(commit)
        groups: dict[str, dict[str, str]] = {LAYERS: dict(layer_hashes(snapshot))}
        for path, facts in commit.files.items():
            groups.setdefault(_group(path), {})[path] = facts.sha256
        return cls(
            library=library.name,
            library_format=commit.format,
            commit=commit.ref,
            commit_sha256=file_hash(commit.to_file()),
            fingerprint=commit.fingerprint,
            scenes=snapshot.scenes,
            tables={name: table.rows for name, table in commit.tables.items()},
            digests={name: Digest.of(hashes) for name, hashes in groups.items()},
            packages=commit.packages,
        )

    def to_file(self) -> bytes:
        """Return the bytes of `library.lock`: JSON, sorted, a fact a line."""
        return (json.dumps(self.model_dump(mode="json"), indent=2, sort_keys=True) + "\n").encode()

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """Read a `library.lock`.

        Raises:
            LibraryError: It cannot be read.
            InvalidRecord: It is no lock, or of a newer version.
        """
        try:
            data = json.loads(path.read_bytes())
        except OSError as error:
            raise library_error(path, error) from error
        except ValueError:
            raise InvalidRecord(str(path), ["no JSON - accepted: a file that `scenegen library lock` wrote"]) from None
        known = (data.get("format"), data.get("version")) if isinstance(data, dict) else (None, None)
        if known != (LOCK_FORMAT, LOCK_VERSION):
            accepted = f"accepted: {LOCK_FORMAT!r}, {LOCK_VERSION}"
            raise InvalidRecord(str(path), [f"format, version: {known[0]!r}, {known[1]!r} - {accepted}"])
        return cls.from_data(data, what=str(path))


def differences(lock: Lock, library: VersionedLibrary, *, progress: Progress) -> Iterator[str]:
    """Hold a library against a lock: every file of the version is read again and hashed.

    Yields:
        A sentence a difference; none where the library has that very version.
    """
    try:
        commit = library.history.read(lock.commit.branch, lock.commit.number)
    except LibraryError as error:
        yield str(error)
        return
    if commit.content_id != lock.commit.id:
        yield f"{_at(lock.commit)} is commit {commit.content_id}, not {lock.commit.id}"
        return
    broken = list(_damaged(library, {path: facts.sha256 for path, facts in commit.files.items()}, progress))
    yield from broken
    try:
        found = Lock.of(library, commit)
        layers = dict(layer_hashes(library.snapshot(commit)))
    except LibraryError as error:  # a damaged table was named above
        yield from [] if broken else [str(error)]
        return
    yield from _facts_that_differ(lock, found)
    yield from _damaged(library, layers, progress)


def layer_hashes(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """Iterate over the layers of a version's scenes: path and SHA-256; those that were never written are left out."""
    for batch in snapshot.table(SCENARIOS.name).batches(columns=_LAYER_COLUMNS):
        for row in batch.to_pylist():
            hashes = (row["layout_sha256"], row["scene_sha256"])
            yield from ((path, sha256) for path, sha256 in zip(layer_paths(row), hashes, strict=True) if sha256)


def _facts_that_differ(lock: Lock, found: Lock) -> Iterator[str]:
    mine, theirs = lock.model_dump(mode="json"), found.model_dump(mode="json")
    digests, others = mine.pop("digests"), theirs.pop("digests")
    for name in mine:
        if mine[name] != theirs[name] and name != "library":
            yield f"{name}: locked {mine[name]}, found {theirs[name]}"
    for group in sorted(digests.keys() | others.keys()):
        if digests.get(group) != others.get(group):
            yield f"{group}: the files are others than those that were locked"


def _damaged(library: VersionedLibrary, hashes: Mapping[str, str], progress: Progress) -> Iterator[str]:
    for path, sha256 in hashes.items():
        target = library.files.local(path)
        try:
            size = target.stat().st_size if target.is_file() else 0
            check_file(library.files, path, FileFacts(size=size, sha256=sha256), again=True)
        except LibraryError as error:
            yield str(error)
        progress()


def _group(path: str) -> str:
    """Name the group that a file of a commit belongs to."""
    first, _, rest = path.partition("/")
    return rest.partition(".lance/")[0] if first == "tables" else first


def _at(ref: CommitRef) -> str:
    return f"{ref.branch}@{ref.number}"
