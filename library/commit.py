"""Commits: the one place where a version of a library comes into being, and the proof that it is whole.

A commit is a file `branches/<branch>/<number>.json`, created if absent: it is there, whole, or it is not. It names the
version of each table, the hash of every file of that version, and the commit before it. Layers of scenes are not in its
list: their hashes stand in the rows of the tables, whose files are.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated

from pydantic import Field

from scenegen.errors import LibraryError
from scenegen.record import Record, Text, canonical_text

FORMAT = 2
"""Version of the library's format; 1 was the folder with one manifest of scenegen 0.1."""

BRANCH_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
BranchName = Annotated[str, Field(pattern=BRANCH_PATTERN)]
MAIN = "main"
COPIES = "copies"
"""Folder of second copies of commits, tags and `library.json`: written after the file itself, so that the loss of one,
even of the newest commit, is seen and can be mended."""


def file_hash(data: bytes) -> str:
    """Return the SHA-256 of a file's bytes, as `sha256sum` prints it."""
    return hashlib.sha256(data).hexdigest()


class FileFacts(Record):
    """What a file must be."""

    size: int
    """[byte]"""
    sha256: str


class TableVersion(Record):
    """One table at one version."""

    version: int
    """Lance's own version number: `lance.dataset(path, version=…)` opens it. Detached, so that no version number is
    ever used twice and no branch disturbs another."""
    rows: int


class CommitRef(Record):
    """Where another commit stands."""

    branch: BranchName
    number: Annotated[int, Field(ge=0)]
    id: str


class Commit(Record):
    """One version of a library."""

    format: int
    branch: BranchName
    number: Annotated[int, Field(ge=0)]
    """Position on its branch, from 0; a new branch goes on counting from where it left."""
    parent: CommitRef | None = None
    message: Text = ""
    author: Text = ""
    time: str
    """When it was made, ISO 8601, UTC. Commits are ordered by number, never by time."""
    command: tuple[str, ...] = ()
    """The command line that made it."""
    packages: dict[str, str] = {}
    """Versions of the packages that made it."""
    tables: dict[str, TableVersion] = {}
    files: dict[str, FileFacts] = {}
    """Every file of this version besides the layers of scenes: path -> what it must be."""
    fingerprint: str = "0" * 64
    """What the version holds, whatever its history: the sum of the hashes of all rows modulo 2^256 (an additive
    multiset hash, Bellare and Micciancio 1997, AdHash), in hexadecimal."""
    added: dict[str, int] = {}
    """Rows that this commit added, by table."""
    closed: bool = False
    """The branch was given up: it takes no more commits, and `gc` may clear what only it needs."""

    @property
    def ref(self) -> CommitRef:
        """Where this commit stands."""
        return CommitRef(branch=self.branch, number=self.number, id=self.content_id)

    @property
    def path(self) -> str:
        """The commit's file."""
        return commit_path(self.branch, self.number)

    def canonical_json(self) -> str:
        """Return the commit's JSON without what is at its default, so that a later field leaves old ids as they are."""
        return canonical_text(self.model_dump(mode="json", exclude_defaults=True))

    def to_file(self) -> bytes:
        """Return the bytes of the commit's file: the record and its own hash."""
        return json.dumps({"id": self.content_id, "commit": json.loads(self.canonical_json())}, indent=1).encode()

    @classmethod
    def from_file(cls, data: bytes, *, what: str) -> Commit:
        """Read a commit's file and prove it by its own hash.

        Raises:
            LibraryError: The file is damaged, or of a newer format.
        """
        try:
            content = json.loads(data)
            claimed, record = content["id"], content["commit"]
            version = record["format"]
        except (ValueError, KeyError, TypeError):
            raise damaged(what, "it is no commit") from None
        if isinstance(version, int) and version > FORMAT:
            raise too_new(what, version)
        try:
            commit = cls.from_data(record, what=what)
        except ValueError as error:
            raise damaged(what, str(error)) from None
        if commit.content_id != claimed or data != commit.to_file():
            raise damaged(what, "its content does not match its hash")
        return commit


def commit_path(branch: str, number: int) -> str:
    """Return the path of a commit's file."""
    return f"branches/{branch}/{number:08d}.json"


def damaged(path: str, reason: str) -> LibraryError:
    """Say that a file is not what was kept."""
    return LibraryError(path, f"damaged: {reason}", "`scenegen library verify` names all damage and what can be done")


def too_new(path: str, version: object) -> LibraryError:
    """Say that a library comes from a newer scenegen."""
    return LibraryError(
        path,
        f"format {version} is newer than this scenegen knows ({FORMAT})",
        "install a newer scenegen; nothing was changed",
    )


def advanced(fingerprint: str, added: list[str]) -> str:
    """Add rows to a fingerprint.

    Args:
        fingerprint: 64 hexadecimal digits.
        added: Row hashes.
    """
    total = int(fingerprint, 16) + sum(int.from_bytes(hashlib.sha256(one.encode()).digest()) for one in added)
    return f"{total % 2**256:064x}"
