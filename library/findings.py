"""Collects damage while a library is checked: each file once, with the versions and scenes that need it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from library.commit import FileFacts
from library.damage import Damage, remedy_of
from library.files import Files
from library.lance_table import check_file
from library.lineage import Place
from scenegen.errors import LibraryError

Progress = Callable[[int], None]
"""Told how many bytes were read since it was told last."""


@dataclass
class _Found:
    reason: str
    places: set[Place] = field(default_factory=set)
    scenes: set[str] = field(default_factory=set)


@dataclass
class Findings:
    """What is damaged, and what was checked.

    Args:
        files: The library's files.
        progress: Told how many bytes were read.
    """

    files: Files
    progress: Progress
    checked: Counter[str] = field(default_factory=Counter)
    found: dict[str, _Found] = field(default_factory=dict)

    def add(self, path: str, reason: str, *, places: Iterable[Place] = (), scenes: Iterable[str] = ()) -> None:
        """Note that a file is damaged; the first reason stays, versions and scenes come together."""
        one = self.found.setdefault(path, _Found(reason))
        one.places.update(places)
        one.scenes.update(scenes)

    def wrong(self, path: str, sha256: str, *, size: int | None = None) -> str | None:
        """Read a file, whatever was read of it before, and hold it against its hash.

        Args:
            path: The file.
            sha256: What it must be.
            size: What it must be [byte], where that is known.

        Returns:
            What is wrong; None if nothing is.
        """
        try:
            found = self.files.local(path).stat().st_size
        except OSError:
            found = 0
        try:
            check_file(self.files, path, FileFacts(size=found, sha256=sha256), again=True)
        except LibraryError as error:
            if size is not None and found != size and "missing" not in error.reason:
                return f"it has {found} bytes, not {size}"
            return error.reason.removeprefix("damaged: ")
        finally:
            self.progress(found)
        self.checked["bytes"] += found
        return None

    def damage(self, scenes_of: Callable[[str, set[Place]], int | None]) -> tuple[Damage, ...]:
        """Return all damage by path.

        Args:
            scenes_of: Tells how many scenes need a file that no row names.
        """
        return tuple(
            Damage(
                path=path,
                reason=one.reason,
                versions=tuple(f"{branch}@{number}" for branch, number in sorted(one.places)),
                scenes=len(one.scenes) if one.scenes else scenes_of(path, one.places),
                remedy=remedy_of(path),
            )
            for path, one in sorted(self.found.items())
        )
