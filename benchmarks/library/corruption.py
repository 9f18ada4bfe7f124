"""Damage every kind of file of a library in every way, and count what is noticed.

For each mutation two things are asked. `verify` must name exactly the files that were changed. Reads must give what
the undamaged library gives, or refuse with a `LibraryError`: never another answer, never another error. A file is
changed in place and its time of change is put back, as when bits rot; each case is read as a new process reads it,
without what an earlier one remembers of files that it has checked.

    python benchmarks/library/corruption.py [--count 200] [--processes 2] [--kind KIND] [--mutation MUTATION]
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from library import lance_table
from library.commit import COPIES
from library.curated import DROPPED, Action, decision
from library.journal import STAGING, Journal
from library.layers import Layers
from library.row import Line, Row, attempt_columns
from library.snapshot import Snapshot
from library.tables import CURATION, VERDICTS
from library.verify import open_damaged, verify
from library.versioned import MARKER, USD, Changes, Signature, VersionedLibrary
from scenegen.errors import LibraryError
from scenegen.record import content_hash
from scenegen.streams import stream
from scenegen.usd.files import ASSETS, CELLS, LAYOUTS, SCENES

RESULT = Path(__file__).with_name("corruption.md")
PAGE = 4096
BACKGROUND = "Lance bookkeeping"
"""Files that Lance writes and no version is read from: damage to them is no damage."""
JOURNAL = "journal"

Data = dict[str, bytes | None]
"""Files by path with what they hold; None for one that is not there."""


# --- the library ------------------------------------------------------------------------------------------------------


def make_library(folder: Path) -> None:
    """Make a small library with every kind of file, as users make one."""
    expand = [sys.executable, "-m", "scenegen", "expand", "--library", str(folder), "--processes", "1", "--n"]
    for words in (["3", "--axis", "pose"], ["2", "--axis", "lighting", "--levels", "2,4"]):
        subprocess.run([*expand, *words], check=True, capture_output=True, text=True)
    library = VersionedLibrary.open(folder)
    first, snapshot = library.history.find("main@0"), library.at()
    library.tag("v1", first, note="the first")
    library.tag("v2", library.history.find("main"))
    rows = list(snapshot.rows())
    dropped = decision(Action.DROP, rows[-1].scenario_id, DROPPED, note="", author="", time="2026-01-01")
    library.publish(Changes({CURATION.name: [dropped]}), Signature("drop one"))
    library.branch("trial", first, Signature("a branch"))
    for number in range(2):
        expansion = content_hash(str(number).encode())
        with Journal(folder, expansion) as journal:
            journal.add(
                Line(
                    index,
                    row.scenario_id,
                    row.provenance.base_id,
                    {},
                    {
                        "scenarios": [row.columns()],
                        "attempts": [attempt_columns(expansion, index, row.scenario_id, {})],
                    },
                )
                for index, row in enumerate(rows[number::2])
            )


def kinds_of(library: VersionedLibrary) -> dict[str, list[str]]:
    """Sort the files of a library by kind."""
    named = {path for commit in library.history.all() for path in commit.files}
    kinds: dict[str, list[str]] = {}
    for listed in library.files.list(""):
        kind = _kind(listed.path, named)
        if kind is not None and listed.size:
            kinds.setdefault(kind, []).append(listed.path)
    return {
        kind: sorted(paths) for kind, paths in sorted(kinds.items(), key=lambda one: (one[0] == BACKGROUND, one[0]))
    }


def _kind(path: str, named: set[str]) -> str | None:
    if path.startswith("tables/"):
        if path not in named:
            return BACKGROUND
        return next(
            kind
            for part, kind in {
                "/data/": "Lance data",
                "/_indices/": "Lance index",
                "/_versions/": "Lance manifest",
            }.items()
            if part in path
        )
    folders = {
        "branches/": "commit",
        "tags/": "tag",
        "records/": "record",
        f"{COPIES}/": "second copy",
        f"{STAGING}/": JOURNAL,
        f"{USD}/{CELLS}/": "cell layer" if path.endswith(".usda") else "cell specification",
        f"{USD}/{ASSETS}/": "part asset",
        f"{USD}/{LAYOUTS}/": "layout layer",
        f"{USD}/{SCENES}/": "scene layer",
        MARKER: MARKER,
    }
    return next((kind for begin, kind in folders.items() if path.startswith(begin)), None)


# --- mutations --------------------------------------------------------------------------------------------------------


def flipped(data: bytes, rng: np.random.Generator) -> bytes:
    """Flip one bit."""
    at = int(rng.integers(len(data)))
    return data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :]


def zeroed(data: bytes, rng: np.random.Generator) -> bytes:
    """Fill a page with zeros: of 4 KiB, or up to the end of the file."""
    at = int(rng.integers(len(data)))
    length = min(PAGE, len(data) - at)
    return data[:at] + bytes(length) + data[at + length :]


def cut(data: bytes, rng: np.random.Generator) -> bytes:
    """Cut the tail off."""
    return data[: int(rng.integers(len(data)))]


def emptied(data: bytes, rng: np.random.Generator) -> bytes:
    """Leave nothing."""
    return b""


Mutation = Callable[[Path, list[str], np.random.Generator], Data]


def of_bytes(change: Callable[[bytes, np.random.Generator], bytes]) -> Mutation:
    """Make a mutation of one file of a change of bytes."""

    def mutate(folder: Path, paths: list[str], rng: np.random.Generator) -> Data:
        path = paths[int(rng.integers(len(paths)))]
        return {path: change((folder / path).read_bytes(), rng)}

    return mutate


def swapped(folder: Path, paths: list[str], rng: np.random.Generator) -> Data:
    """Exchange two files of a kind."""
    if len(paths) < 2:
        return {}
    one, two = (paths[int(at)] for at in rng.choice(len(paths), 2, replace=False))
    return {one: (folder / two).read_bytes(), two: (folder / one).read_bytes()}


def removed(folder: Path, paths: list[str], rng: np.random.Generator) -> Data:
    """Remove a file."""
    return {paths[int(rng.integers(len(paths)))]: None}


MUTATIONS: dict[str, Mutation] = {
    "bit flipped": of_bytes(flipped),
    "page zeroed": of_bytes(zeroed),
    "tail cut": of_bytes(cut),
    "swapped": swapped,
    "emptied": of_bytes(emptied),
    "removed": removed,
}


def cases(folder: Path, paths: list[str], mutation: Mutation, count: int, rng: np.random.Generator) -> Iterator[Data]:
    """Yield mutations that change something, no two alike: as many as asked for, or as there are."""
    seen: set[str] = set()
    for _ in range(20 * count):
        changed = mutation(folder, paths, rng)
        real = {path: data for path, data in changed.items() if data is None or data != (folder / path).read_bytes()}
        key = content_hash(*(f"{path} {data!r}".encode() for path, data in sorted(real.items())))
        if real and key not in seen:
            seen.add(key)
            yield real
        if len(seen) == count:
            return


# --- what is asked ----------------------------------------------------------------------------------------------------


def answers(folder: Path) -> dict[str, Any]:
    """Read a library in every way; what is refused with a `LibraryError` is `None`."""
    library = VersionedLibrary(folder)
    found: dict[str, Any] = {"open": _asked(lambda: VersionedLibrary.open(folder).name)}
    for revision in ("main", "v1", "main@0", "main~1", "v2", "trial"):
        found[revision] = _asked(lambda name=revision: library.history.find(name).content_id)
        if found[revision] is None:
            continue
        snapshot = library.at(revision)
        rows = _asked(lambda of=snapshot: list(of.rows(everything=True)))
        found[f"{revision} rows"] = rows and [row.canonical_json() for row in rows]
        found[f"{revision} hidden"] = _asked(lambda of=snapshot: sorted(of.curated.hidden))
        if rows and revision in ("main", "v1"):
            found |= {f"{revision} {name}": answer for name, answer in _version(library, snapshot, rows).items()}
    for listed in library.files.list(STAGING):
        journal = Journal(folder, Path(listed.path).stem)
        found[listed.path] = _asked(lambda of=journal: [line.text() for line in of.lines()])
    return found


def _version(library: VersionedLibrary, snapshot: Snapshot, rows: list[Row]) -> dict[str, Any]:
    """Ask for what scenes are made of: all of the newest version, some of an older one, whose files are the same."""
    newest = snapshot.commit is not None and snapshot.commit.number > 0
    layers, some = Layers(library, snapshot), rows if newest else rows[:2]
    found = {
        "find": _asked(lambda: snapshot.find(rows[0].scenario_id).canonical_json()),
        "verdict": _asked(lambda: snapshot.verdict(rows[0])),
        "verdicts": _asked(lambda: snapshot.table(VERDICTS.name).scan().to_pylist()),
        "scenarios": _asked(lambda: [scenario.canonical_json() for scenario in snapshot.scenarios(some)]),
    }
    if newest:
        found |= {f"layers {row.scenario_id}": _asked(lambda row=row: _layers(layers, row)) for row in rows}
    return found


def _layers(layers: Layers, row: Row) -> list[str]:
    """Return the hashes of all files that the scene is made of."""
    scene = layers.scene(row)
    root = scene.parents[2]
    names = [f"{CELLS}/{row.cell_id}.usda", *(f"{ASSETS}/{one.part}_{one.content}.usdc" for one in row.assets)]
    texts = [(root / name).read_bytes() for name in names]
    return [content_hash(scene.read_bytes()), content_hash(*texts)]


def _asked(question: Callable[[], Any]) -> Any:
    try:
        return question()
    except LibraryError:
        return None


@dataclass
class Tally:
    """What came of the mutations of one kind of file in one way."""

    kind: str
    mutation: str
    outcomes: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def add(self, outcome: str, changed: Data, text: str = "") -> None:
        """Count one mutation."""
        self.outcomes[outcome] += 1
        if outcome not in ("named", "harmless"):
            self.examples.append(f"{self.kind}, {self.mutation}: {outcome}: {sorted(changed)} {text}"[:600])


def judge(folder: Path, kind: str, changed: Data, right: dict[str, Any]) -> tuple[str, str]:
    """Tell what a mutation came to.

    Returns:
        `named` (verify names exactly these files, reads are right or refused), `harmless` (nothing that a version needs
        was changed, and all reads are right), `silent` (a read gives another answer), `missed` (verify does not name
        exactly these files) or `crashed` (another error); and what happened.
    """
    lance_table._checked.clear()
    library, fault = open_damaged(folder)
    named = {one.path for one in verify(library, marker_fault=fault).damage}
    lance_table._checked.clear()
    given = answers(folder)
    for name, answer in given.items():
        if answer is not None and answer != right[name] and not _is_prefix(name, answer, right[name]):
            return "silent", name
    if named == set(changed):
        return "named", ""
    if not named and None not in given.values() and (kind in (BACKGROUND, JOURNAL) or _is_lost_copy(changed)):
        return "harmless", ""
    return "missed", f"named {sorted(named)}"


def _is_lost_copy(changed: Data) -> bool:
    """A second copy that is not there is what a kill between a commit and its copy leaves; `restore` writes it."""
    return all(path.startswith(COPIES) and data is None for path, data in changed.items())


def _is_prefix(name: str, answer: Any, right: Any) -> bool:
    """Journals may lose lines at their end, as when a run is killed: their scenes are made again."""
    return name.startswith(STAGING) and answer == right[: len(answer)]


def measure(
    folder: Path, kind: str, mutation: str, *, count: int, rng: np.random.Generator, right: dict[str, Any] | None = None
) -> Tally:
    """Mutate files of a kind in one way and judge each; the library is as before afterwards.

    Args:
        folder: The library.
        kind: The kind of files.
        mutation: The way.
        count: How many mutations.
        rng: Chooses them.
        right: What the undamaged library answers, where that is known.
    """
    library, tally = VersionedLibrary.open(folder), Tally(kind, mutation)
    paths = kinds_of(library)[kind]
    right = right or answers(folder)
    journals = {path: (folder / path).read_bytes() for path in (one.path for one in library.files.list(STAGING))}
    for changed in list(cases(folder, paths, MUTATIONS[mutation], count, rng)):
        before = {path: ((folder / path).read_bytes(), (folder / path).stat()) for path in changed}
        try:
            for path, data in changed.items():
                _write(folder / path, data, before[path][1])
            tally.add(*_judged(folder, kind, changed, right))
        finally:
            for path, (data, facts) in before.items():
                _write(folder / path, data, facts)
            for path, data in journals.items():  # reading cuts a torn last line off
                if kind == JOURNAL:
                    (folder / path).write_bytes(data)
    return tally


def _judged(folder: Path, kind: str, changed: Data, right: dict[str, Any]) -> tuple[str, Data, str]:
    try:
        outcome, text = judge(folder, kind, changed, right)
    except Exception as error:  # whatever it is: it counts as a crash
        outcome, text = "crashed", f"{type(error).__name__}: {error}"
    return outcome, changed, text


def _write(path: Path, data: bytes | None, facts: os.stat_result) -> None:
    """Change a file in place and put its time of change back."""
    if data is None:
        path.unlink()
        return
    with path.open("r+b" if path.exists() else "wb") as file:
        file.write(data)
        file.truncate()
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


# --- the measurement --------------------------------------------------------------------------------------------------


def _task(original: str, count: int, task: tuple[str, str]) -> Tally:
    kind, mutation = task
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(shutil.copytree(original, Path(scratch, "scenes")))
        return measure(folder, kind, mutation, count=count, rng=stream("corruption", kind, mutation))


def main() -> int:
    """Measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="mutations of each kind of file in each way")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--mutation", action="append", choices=MUTATIONS, help="only this way; repeat it for several")
    parser.add_argument("--kind", action="append", help="only this kind of file; repeat it for several")
    options = parser.parse_args()
    start, folder = time.monotonic(), Path(tempfile.mkdtemp()) / "scenes"
    try:
        make_library(folder)
        kinds = kinds_of(VersionedLibrary.open(folder))
        tasks = [(kind, mutation) for kind in options.kind or kinds for mutation in options.mutation or MUTATIONS]
        tallies = []
        with ProcessPoolExecutor(options.processes, multiprocessing.get_context("spawn")) as pool:
            for tally in pool.map(partial(_task, str(folder), options.count), tasks):
                tallies.append(tally)
                print(
                    f"{time.monotonic() - start:.0f} s {tally.kind}, {tally.mutation}: {dict(tally.outcomes)}",
                    flush=True,
                )
    finally:
        shutil.rmtree(folder.parent)
    text = report(tallies, files={kind: len(paths) for kind, paths in kinds.items()}, seconds=time.monotonic() - start)
    if not options.kind and not options.mutation:
        RESULT.write_text(text, encoding="utf-8")
    print(text)
    return int(any(tally.examples for tally in tallies))


def report(tallies: list[Tally], *, files: dict[str, int], seconds: float) -> str:
    """Lay the result out as Markdown."""
    total = sum((tally.outcomes for tally in tallies), Counter[str]())
    lines = [
        "# Corruption: what is noticed",
        "",
        f"`{' '.join(['python', 'benchmarks/library/corruption.py', *sys.argv[1:]])}`, {seconds:.0f} s,"
        f" Python {platform.python_version()}.",
        "",
        f"{total.total()} mutations: {total['named']} named by `verify` (exactly the files that were changed), with",
        f"every read right or refused; {total['harmless']} harmless; {total['missed']} not or wrongly named;"
        f" {total['silent']} silent; {total['crashed']} other errors.",
        "",
        f"| kind of file (how many) | {' | '.join(MUTATIONS)} |",
        f"|---|{'---|' * len(MUTATIONS)}",
    ]
    cells = {(tally.kind, tally.mutation): tally for tally in tallies}
    for kind in dict.fromkeys(tally.kind for tally in tallies):
        row = [_cell(cells[kind, mutation].outcomes) if (kind, mutation) in cells else "" for mutation in MUTATIONS]
        lines.append(f"| {kind} ({files[kind]}) | {' | '.join(row)} |")
    notes = [
        "Each cell: mutations, no two alike; where fewer are possible (a file is removed once), all of them.",
        "Files are changed in place, and their time of change is put back, as when bits rot; each case is read without "
        "what the process remembers of files it has checked. A process that has checked a file trusts it for as long "
        "as size, time and inode stay: bits that rot while it runs are found by the next process, or by `verify`, "
        "which reads every byte anew.",
        "Harmless: no version is read from Lance's bookkeeping; a journal that lost its end is what a killed run "
        "leaves, and the scenes of the lost lines are made again, the same; a second copy that is missing is written "
        "by `restore`.",
    ]
    lines += ["", *(f"- {note}" for note in notes)]
    failures = [example for tally in tallies for example in tally.examples]
    if failures:
        lines += ["", "## Not as it must be", "", *(f"- {one}" for one in failures[:50])]
    return "\n".join([*lines, ""])


def _cell(outcomes: Counter[str]) -> str:
    if not outcomes:
        return "–"
    return ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))


if __name__ == "__main__":
    sys.exit(main())
