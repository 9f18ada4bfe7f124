"""Holds a library against its commits: every file, every row, every layer, and how versions hang together."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path

from library.call_files import CALLS
from library.commit import COPIES, FORMAT, Commit, FileFacts, commit_path
from library.contents import Contents
from library.damage import Report
from library.files import Listed
from library.findings import Findings, Progress
from library.journal import STAGING, journal_line
from library.lance_table import is_bookkeeping
from library.lineage import Lineage, Place
from library.tables import FACET_RECORDS, SCENARIOS
from library.versioned import MARKER, USD, VersionedLibrary
from scenegen.cell import Cell
from scenegen.errors import LibraryError
from scenegen.record import ID_LENGTH, canonical_text, content_hash
from scenegen.usd.files import ASSETS, CELLS, cell_record_path

OWN = (COPIES, STAGING, CALLS, "scratch", "cache", "branches", "tags")
"""Folders whose files no commit names, and which are not in the way."""


def open_damaged(folder: str | Path) -> tuple[VersionedLibrary, str | None]:
    """Open a library even if its `library.json` is damaged.

    Returns:
        The library, and what is wrong with its `library.json`; None if nothing is.

    Raises:
        LibraryError: There is no library, or its format is another one.
    """
    library = VersionedLibrary(folder)
    try:
        return VersionedLibrary.open(folder), None
    except LibraryError as error:
        if not any((library.folder / name).is_dir() for name in ("branches", COPIES)) or _is_of_other_format(library):
            raise
        missing = not (library.folder / MARKER).is_file()
        return library, "the file is missing" if missing else error.reason.removeprefix("damaged: ")


def verify(
    library: VersionedLibrary,
    *,
    revision: str | None = None,
    deep: bool = False,
    marker_fault: str | None = None,
    progress: Progress = lambda _: None,
) -> Report:
    """Hold a library against its commits. Nothing is changed; a damaged file keeps nothing else from being checked.

    Args:
        library: The library.
        revision: Only this version; all by default.
        deep: Also build every scenario from its facets.
        marker_fault: What is wrong with `library.json`, as `open_damaged` says.
        progress: Told how many bytes were read since it was told last.

    Raises:
        UnknownName, InvalidOption: No version has that name.
        LibraryError: A file is there and cannot be listed.
    """
    findings, lineage = Findings(library.files, progress), Lineage.read(library)
    if marker_fault:
        findings.add(MARKER, marker_fault, places=lineage.commits)
    chosen = _chosen(library, lineage, findings, revision)
    expired = _check_files(findings, chosen, lineage.live)
    contents = Contents(library, findings, set(findings.found) | expired.keys(), deep=deep)
    tips = lineage.tips({(one.branch, one.number) for one in chosen})
    for tip in tips:
        contents.check(lineage.chain(tip) if revision is None else [tip])
    loose: list[Listed] = []
    if revision is None:
        _check_journals(library, findings)
        lost = any(path.startswith("branches/") for path in lineage.damage)  # what lost commits need is not known
        loose = [] if lost else _loose(library, chosen, contents)
    findings.checked["commits"], findings.checked["tags"] = len(chosen), len(lineage.tags)
    if lineage.uncopied:
        findings.checked["second copies missing"] = lineage.uncopied
    cleared = sorted({place for places in expired.values() for place in places})
    return Report(
        checked=dict(sorted(findings.checked.items())),
        damage=findings.damage(lambda path, places: _scenes(library, lineage, contents, path, places)),
        expired=tuple(f"{branch}@{number}" for branch, number in cleared),
        unreferenced=tuple(sorted(one.path for one in loose)),
        unreferenced_bytes=sum(one.size for one in loose),
    )


def _is_of_other_format(library: VersionedLibrary) -> bool:
    """Tell a library of another format from one whose `library.json` is damaged: the other one's hash is right."""
    try:
        facts = json.loads((library.folder / MARKER).read_bytes())
        claimed = facts.pop("id")
        return facts["version"] > FORMAT and claimed == content_hash(canonical_text(facts).encode())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _chosen(library: VersionedLibrary, lineage: Lineage, findings: Findings, revision: str | None) -> list[Commit]:
    """Return the commits to check, and note the damaged ones among them and before them."""
    chosen, concerned = list(lineage.commits.values()), set(lineage.damage)
    if revision is not None:
        try:
            chosen = [library.history.find(revision)]
            last = lineage.chain(chosen[0])[-1].parent
            concerned &= {f"tags/{revision}.json", commit_path(last.branch, last.number) if last else ""}
        except LibraryError:
            chosen = []  # what it names is damaged: it is among what is noted now
    for path in concerned:
        reason, places = lineage.damage[path]
        findings.add(path, reason, places=places)
    return chosen


def _check_files(findings: Findings, commits: Iterable[Commit], live: set[Place]) -> dict[str, list[Place]]:
    """Hold all files that commits name against their hashes.

    Returns:
        Files that are gone and that only closed branches need, with the versions that name them.
    """
    claims: dict[str, dict[FileFacts, list[Place]]] = {}
    for commit in commits:
        for path, facts in commit.files.items():
            claims.setdefault(path, {}).setdefault(facts, []).append((commit.branch, commit.number))
    expired: dict[str, list[Place]] = {}
    for path, claimed in sorted(claims.items()):
        findings.checked["files"] += 1
        for facts, places in claimed.items():
            reason = findings.wrong(path, facts.sha256, size=facts.size) or _name_fault(findings, path)
            if reason and "missing" in reason and live.isdisjoint(places):
                expired.setdefault(path, []).extend(places)
            elif reason:
                findings.add(path, reason, places=places)
    return expired


def _name_fault(findings: Findings, path: str) -> str | None:
    """Say whether a record is not the one that its name says."""
    if not path.endswith(".json") or not path.startswith(("records/", f"{USD}/{CELLS}/")):
        return None
    same = content_hash(findings.files.read(path)) == Path(path).stem
    return None if same else "its content id is not its name"


def _check_journals(library: VersionedLibrary, findings: Findings) -> None:
    for listed in library.files.list(STAGING):
        path, faults, number = library.files.local(listed.path), list[str](), 0
        if path.suffix != ".jsonl":
            continue
        try:
            lines = io.BytesIO(library.files.read(listed.path))
        except (LibraryError, FileNotFoundError) as error:
            findings.add(listed.path, error.reason if isinstance(error, LibraryError) else "the file is missing")
            continue
        for number, raw in enumerate(lines, start=1):
            if raw.endswith(b"\n"):  # a last line without its end is being written, or was cut by a kill
                try:
                    journal_line(path, number, raw)
                except LibraryError as error:
                    faults.append(error.reason.removeprefix("damaged: "))
        findings.progress(listed.size)
        findings.checked["journal lines"] += number
        if faults:
            more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
            findings.add(listed.path, f"{faults[0]}{more}")


def _loose(library: VersionedLibrary, commits: Iterable[Commit], contents: Contents) -> list[Listed]:
    """List files that no version names; layers are left out where rows that may name them cannot be read."""
    named = {path for commit in commits for path in commit.files} | {MARKER}
    unsure = (f"{USD}/layouts/", f"{USD}/scenes/") if contents.unread else ()
    return [
        one
        for one in library.files.list("")
        if one.path not in named
        and not is_bookkeeping(one.path)
        and one.path.split("/")[0] not in OWN
        and not one.path.startswith(unsure)
        and not contents.is_named(one.path)
    ]


def _scenes(
    library: VersionedLibrary, lineage: Lineage, contents: Contents, path: str, places: set[Place]
) -> int | None:
    """Count the scenes that need a file."""
    known = [lineage.commits[place] for place in places if place in lineage.commits]
    if path.startswith((f"{SCENARIOS.path}", f"{FACET_RECORDS.path}")) or path == MARKER:
        return max((one.tables[SCENARIOS.name].rows for one in known if SCENARIOS.name in one.tables), default=0)
    if path.startswith("branches/"):
        return None
    if path.startswith(f"{USD}/{CELLS}/"):
        stem = Path(path).stem  # a file beside cells that has no id for a name is a robot's: any cell may need it
        return contents.count_scenes(lambda cell, _: stem == cell or len(stem) != ID_LENGTH)
    if path.startswith(f"{USD}/{ASSETS}/"):
        part = Path(path).stem.rpartition("_")[0]
        return contents.count_scenes(lambda cell, assets: _needs(library, cell, assets, part))
    return 0


def _needs(library: VersionedLibrary, cell_id: str, assets: str, part: str) -> bool:
    """Tell whether scenes of a cell need a part: they hold it, or its inventory does."""
    if part in json.loads(assets):
        return True
    try:
        cell = Cell.from_json(library.files.read(f"{USD}/{cell_record_path(cell_id)}"))
    except (OSError, ValueError):
        return True
    return any(item.part == part for item in cell.inventory)


__all__ = ["open_damaged", "verify"]
