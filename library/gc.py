"""Removes the files of a library that no version needs, and that are old enough not to belong to work under way.

Versions in use are those of branches that are not closed, and of tags, with all before them. Commits, tags and
`library.json` are never removed: the versions of closed branches stay listed, and `verify` calls them expired.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from library.commit import COPIES
from library.contents import layer_paths
from library.files import SCRATCH, Listed
from library.journal import STAGING, is_held, journal_line
from library.lance_table import is_bookkeeping
from library.lineage import Lineage
from library.tables import SCENARIOS
from library.versioned import USD, VersionedLibrary
from scenegen.errors import LibraryError
from scenegen.usd.files import ASSETS, CELLS

GRACE_S = 24 * 3600.0
"""Age below which a file stays by default [s]: whoever writes it has not named it yet."""
SHORT_S = 3600.0
"""Shortest grace while an expansion runs [s]."""
SHARED = (f"{USD}/{CELLS}/", f"{USD}/{ASSETS}/", "records/")
"""What scenes in journals need besides their layers."""
CLEARED = ("tables/", "usd/", "records/", f"{SCRATCH}/")
"""Where files are removed."""


@dataclass(frozen=True)
class Cleared:
    """What was removed, or would be."""

    paths: tuple[str, ...]
    bytes: int
    young: int
    """Files that no version needs either, and that are younger than the grace."""


def clear(
    library: VersionedLibrary,
    *,
    now_s: float,
    grace_s: float = GRACE_S,
    dry_run: bool = False,
    progress: Callable[[], None] = lambda: None,
) -> Cleared:
    """Remove what no version in use, no tag and no journal needs.

    Files are listed before the versions are read, the versions are read once more before the first file goes, and each
    file's age is looked at again then: what a writer publishes meanwhile stays. A version that is made of files which
    nothing named for longer than the grace, in the very moment in which they go, is not protected.

    Args:
        library: The library.
        now_s: The time [s since 1970].
        grace_s: Files that were changed less than this ago stay [s]; those with a time in the future as well.
        dry_run: Remove nothing.
        progress: Told of each file that is removed.

    Raises:
        LibraryError: Something is damaged, so that what is needed cannot be known; or an expansion is running, and the
            grace is short. Nothing is removed then.
    """
    _require_quiet(library, grace_s)
    listed = [one for folder in CLEARED for one in library.files.list(folder.rstrip("/"))]
    state, needed = _state(library), _needed(library)
    loose = [one for one in listed if one.path not in needed and not is_bookkeeping(one.path)]
    old = [one for one in loose if one.modified_s <= now_s - grace_s]
    if (again := _state(library)) != state and not dry_run:
        needed = _needed(library)
        old = [one for one in old if one.path not in needed]
        state = again
    removed = old if dry_run else [one for one in old if _remove(library, one, progress)]
    return Cleared(
        paths=tuple(sorted(one.path for one in removed)),
        bytes=sum(one.size for one in removed),
        young=len(loose) - len(old),
    )


def _require_quiet(library: VersionedLibrary, grace_s: float) -> None:
    if grace_s >= SHORT_S:
        return
    for listed in library.files.list(STAGING):
        if is_held(library.files.local(listed.path)):
            raise LibraryError(
                str(library.files.local(listed.path)),
                "an expansion is running, and its newest files are named nowhere yet",
                "wait for it, or take --grace 1h or longer",
            )


def _state(library: VersionedLibrary) -> set[tuple[str, int]]:
    """Return what changes when anything is published or made."""
    folders = ("branches", "tags", STAGING)
    return {(listed.path, listed.size) for folder in folders for listed in library.files.list(folder)}


def _needed(library: VersionedLibrary) -> set[str]:
    """Return the files that versions in use, tags and journals need.

    Raises:
        LibraryError: A commit, a tag, a table or a journal is damaged.
    """
    lineage = Lineage.read(library)
    damage = next(((path, why) for path, (why, _) in lineage.damage.items() if not path.startswith(COPIES)), None)
    if damage is not None:
        raise LibraryError(
            str(library.files.local(damage[0])),
            f"damaged: {damage[1]}",
            "run `scenegen library restore` first: what is needed cannot be known, so nothing was removed",
        )
    live = lineage.live
    needed = {path for place in live for path in lineage.commits[place].files}
    for tip in lineage.tips(live):
        columns = ["scenario_id", "cell_id", "assets", "layout_id"]
        for batch in library.snapshot(tip).table(SCENARIOS.name).batches(columns=columns):
            for row in batch.to_pylist():
                needed.update(layer_paths(row))
    return needed | _in_journals(library)


def _in_journals(library: VersionedLibrary) -> set[str]:
    """Return what the scenes in journals need: they are published when their expansion goes on."""
    needed: set[str] = set()
    for listed in library.files.list(STAGING):
        path = library.files.local(listed.path)
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                if raw.endswith(b"\n"):
                    for row in journal_line(path, number, raw).rows.get(SCENARIOS.name, ()):
                        needed.update(layer_paths(row))
    if needed:
        needed.update(one.path for folder in SHARED for one in library.files.list(folder.rstrip("/")))
    return needed


def _remove(library: VersionedLibrary, one: Listed, progress: Callable[[], None]) -> bool:
    """Remove a file unless it was written again since it was listed."""
    path = library.files.local(one.path)
    try:
        if path.stat().st_mtime != one.modified_s:
            return False
    except FileNotFoundError:
        return False
    library.files.delete(one.path)
    progress()
    if "/_indices/" in one.path:
        with suppress(OSError):  # other files are in the folder
            path.parent.rmdir()
    return True


__all__ = ["Cleared", "clear"]
