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
    folder, at = _split(library)
    store = VersionedLibrary.open(folder)
    return store, store.at(version or at or MAIN)


def open_library(library: str) -> VersionedLibrary:
    """Open a library for reading and writing; a version behind its folder does not matter.

    Raises:
        LibraryError: There is no such library.
    """
    return VersionedLibrary.open(_split(library)[0])


def _split(library: str) -> tuple[str, str]:
    """Split `folder@version`; a folder that is there under the whole name is that folder."""
    folder, at, version = library.rpartition("@")
    return (folder, version) if at and not Path(library).exists() else (library, "")
