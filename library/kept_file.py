"""A file of a version, read after it was proved."""

from __future__ import annotations

from library.commit import damaged
from library.lance_table import check_file
from library.snapshot import Snapshot
from library.versioned import VersionedLibrary
from scenegen.errors import LibraryError


def read_kept(store: VersionedLibrary, snapshot: Snapshot, path: str) -> bytes:
    """Read a file of a version after its hash was checked.

    Raises:
        LibraryError: It is none of the version's files, missing, or damaged.
    """
    known = snapshot.commit.files if snapshot.commit else {}
    if path not in known:
        reason = f"{path} is not a file of this version"
        raise LibraryError(snapshot.name, reason, "the scene cannot be made again without it")
    check_file(store.files, path, known[path])
    try:
        return store.files.read(path)
    except FileNotFoundError:
        raise damaged(str(store.files.local(path)), "the file is missing") from None
