"""How commands name commits, and the arguments of those that give versions a name."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from library.commit import Commit, CommitRef
from library.versioned import MARKER, VersionedLibrary
from scenegen.errors import LibraryError

SHORT = 12
"""Digits of an id on a terminal."""


def at(ref: Commit | CommitRef) -> str:
    """Name a commit by its place, `main@7`."""
    return f"{ref.branch}@{ref.number}"


def when(time: str) -> str:
    """Show a time as people read it, to the second, UTC."""
    return datetime.fromisoformat(time).strftime("%Y-%m-%d %H:%M:%S")


def citation(library: VersionedLibrary, name: str, commit: Commit) -> str:
    """Return the words by which a version is cited: its name, and what proves it."""
    scenes = library.snapshot(commit).scenes
    return (
        f"{library.name}@{name} (commit {commit.content_id[:SHORT]}, {scenes} scenes, fingerprint {commit.fingerprint})"
    )


def committed(commit: Commit | None, library: str) -> Commit:
    """Return the commit of a version that must have one.

    Raises:
        LibraryError: Nothing was ever committed.
    """
    if commit is None:
        raise LibraryError(library, "nothing was committed yet", "make scenes with `scenegen expand`")
    return commit


def name_and_library(name: str, library: str) -> tuple[str, str]:
    """Sort out the arguments `[NAME] [LIBRARY]`: a folder that is a library is no name."""
    return ("", name) if (Path(name) / MARKER).is_file() else (name, library)
