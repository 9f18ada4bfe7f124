"""The arguments by which commands name a library and a version of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from library.commit import MAIN
from library.snapshot import Snapshot
from library.versioned import VersionedLibrary

LIBRARY: Any = typer.Argument("scenarios", help="Folder of the library, or folder@version.")
LIBRARY_OPTION: Any = typer.Option("scenarios", "--library", help="Folder of the library, or folder@version.")
VERSION: Any = typer.Option(
    "", "--version", "-V", help="A tag, a branch, branch@7, branch~2 or a commit's id; by default the newest of main."
)


def open_version(library: str, version: str = "") -> tuple[VersionedLibrary, Snapshot]:
    """Open a library at a version.

    Args:
        library: Its folder, or `folder@version`.
        version: The version, unless `library` names it.

    Raises:
        LibraryError, UnknownName: There is no such library, or no such version.
    """
    folder, at = split_version(library)
    store = VersionedLibrary.open(folder)
    return store, store.at(version or at or MAIN)


def open_library(library: str) -> VersionedLibrary:
    """Open a library for reading and writing; a version behind its folder does not matter.

    Raises:
        LibraryError: There is no such library.
    """
    return VersionedLibrary.open(split_version(library)[0])


def split_version(library: str) -> tuple[str, str]:
    """Split `folder@version`; the longest beginning that is a folder is the folder, and the version may hold an @."""
    ends = [at for at, letter in enumerate(library) if letter == "@"]
    for end in (len(library), *reversed(ends)):
        if Path(library[:end]).exists():
            return library[:end], library[end + 1 :]
    return (library[: ends[0]], library[ends[0] + 1 :]) if ends else (library, "")
