"""Makes damaged files of a library again: from second copies, from the tables, or from a copy of the whole library.

Nothing is written that has not the very bytes that were kept.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from library.commit import COPIES, Commit, commit_path, file_hash
from library.contents import layer_paths
from library.damage import Report
from library.files import FolderFiles
from library.history import History
from library.journal import Journal, journal_line
from library.layers import Layers
from library.lineage import Lineage
from library.row import Row
from library.verify import open_damaged, verify
from library.versioned import MARKER, USD, VersionedLibrary, marker
from scenegen.cells.loader import BUILTIN, load_cell
from scenegen.errors import LibraryError, SceneGenError
from scenegen.parts.builtin import builtin_ids, builtin_part
from scenegen.usd.files import ASSETS, CELLS, LAYOUTS, SCENES, cell_path
from scenegen.usd.part_file import part_bytes
from scenegen.usd.writer import SceneWriter

ROUNDS = 6
"""Most passes: a file that is back may be what another one is made from."""
ORDER = (MARKER, "branches/", "tags/", COPIES, "records/", "tables/", f"{USD}/{ASSETS}/", f"{USD}/{CELLS}/", "")
"""What is mended first."""
MADE_OTHERWISE = (
    "made again, it has other bytes than those that were kept: other versions of packages write it otherwise"
)


@dataclass
class Restored:
    """What was mended, and what is left."""

    mended: dict[str, str] = field(default_factory=dict)
    """File -> where it came from."""
    refused: dict[str, str] = field(default_factory=dict)
    """File -> why it could not be made again."""
    report: Report = field(default_factory=Report)
    """What is damaged still."""


class Restorer:
    """Mends what a report names.

    Args:
        library: The library.
        copy: A copy of the library, whole or not.
    """

    def __init__(self, library: VersionedLibrary, *, copy: Path | None = None) -> None:
        self._library = library
        self._sources: dict[str, FolderFiles] = {"its second copy": FolderFiles(library.folder / COPIES)}
        if copy is not None:
            self._sources["the copy"] = FolderFiles(copy)
            self._sources["the copy's second copy"] = FolderFiles(copy / COPIES)
        self._refused: dict[str, str] = {}
        self._lineage = Lineage()
        self._rows: dict[str, tuple[Commit, Row]] = {}

    def run(self, check: Callable[[], Report]) -> Restored:
        """Mend in rounds until nothing more can be mended.

        Args:
            check: Verifies the library.

        Raises:
            LibraryError: The disk is full or not writable; what was mended stays.
        """
        result = Restored(report=check())
        for _ in range(ROUNDS):
            mended = self._round(result.report)
            if not mended:
                break
            result.mended |= mended
            result.report = check()
        self._write_copies(result.report)
        result.refused = {one.path: self._refused.get(one.path, "") for one in result.report.damage}
        return result

    def _round(self, report: Report) -> dict[str, str]:
        paths = sorted(
            (one.path for one in report.damage),
            key=lambda path: (next(i for i, begin in enumerate(ORDER) if path.startswith(begin)), path),
        )
        self._lineage = Lineage.read(self._library)
        self._rows = self._find_rows(set(paths))
        mended: dict[str, str] = {}
        for path in paths:
            self._refused.pop(path, None)
            if path.startswith("staging/"):
                mended[path] = self._mend_journal(path)
                continue
            for name, data in self._offers(path):
                self._library.files.put(path, data, durable=True)
                mended[path] = name
                break
        return mended

    def _offers(self, path: str) -> Iterator[tuple[str, bytes]]:
        """Yield bytes for a file, each the ones that were kept, with where they came from."""
        if path == MARKER or path.startswith(("branches/", "tags/", f"{COPIES}/")):
            yield from self._proved_by_itself(path)
            return
        facts = self._facts(path)
        if not facts:
            return
        for name, files in self._sources.items():
            if (data := _read(files, path)) is not None and file_hash(data) in facts:
                yield name, data
        try:
            data = self._made(path)
        except (SceneGenError, FileNotFoundError) as error:
            self._refused[path] = f"it cannot be made again: {error}"
            return
        if data is not None:
            if file_hash(data) in facts:
                yield "made again", data
            else:
                self._refused[path] = MADE_OTHERWISE

    def _facts(self, path: str) -> set[str]:
        """Return the hashes that a file may have."""
        claims = {commit.files[path].sha256 for commit in self._lineage.commits.values() if path in commit.files}
        if path in self._rows and path.startswith((f"{USD}/{LAYOUTS}/", f"{USD}/{SCENES}/")):
            row = self._rows[path][1]
            claims.add((row.layout_sha256 if path.startswith(f"{USD}/{LAYOUTS}/") else row.scene_sha256) or "")
        return claims

    def _proved_by_itself(self, path: str) -> Iterator[tuple[str, bytes]]:
        original = path.removeprefix(f"{COPIES}/")
        sources = {"the file itself": self._library.files} if original != path else self._sources
        for name, files in sources.items():
            try:
                data = self._proved(files, original)
            except (LibraryError, FileNotFoundError):
                continue
            if data is not None:
                yield name, data
        if path == MARKER:
            yield "named after its folder", marker(self._library.folder.absolute().name)

    def _proved(self, files: FolderFiles, path: str) -> bytes | None:
        """Return the bytes of a commit, a tag or `library.json` if they are the right ones."""
        if path == MARKER:
            VersionedLibrary.open(files.folder)
            return files.read(path)
        history = History(files)
        if path.startswith("tags/"):
            return history.read_tag(Path(path).stem).to_file()
        commit = history.read(path.split("/")[1], int(Path(path).stem))
        refs = [one.parent for one in self._lineage.commits.values()] + [
            tag.commit for tag in self._lineage.tags.values()
        ]
        claimed = {ref.id for ref in refs if ref and commit_path(ref.branch, ref.number) == path}
        return commit.to_file() if claimed <= {commit.content_id} else None

    def _made(self, path: str) -> bytes | None:
        """Make a file again; None if it is none that can be made.

        Raises:
            SceneGenError, FileNotFoundError: What it is made from is damaged, too.
        """
        name = Path(path)
        if path.startswith(f"{USD}/{ASSETS}/"):
            part, _, content = name.stem.rpartition("_")
            known = part in builtin_ids() and builtin_part(part).content_id == content
            return part_bytes(builtin_part(part)) if known else None
        if path.startswith(f"{USD}/{CELLS}/") and name.suffix == ".json":
            cells = (load_cell(one) for one in BUILTIN)
            return next((cell.canonical_json().encode() for cell in cells if cell.content_id == name.stem), None)
        if path not in self._rows:
            return None
        commit, row = self._rows[path]
        layers = Layers(self._library, self._library.snapshot(commit))
        if path == f"{USD}/{cell_path(row.cell_id)}":
            return SceneWriter(*layers.cell_and_parts(row)).cell_layer().encode()
        return layers.texts(row)[path]

    def _find_rows(self, paths: set[str]) -> dict[str, tuple[Commit, Row]]:
        """Find a row for each damaged layer, in the newest version that can be read."""
        found: dict[str, tuple[Commit, Row]] = {}
        if not any(path.startswith(f"{USD}/") for path in paths):
            return found
        for tip in self._lineage.tips():
            for commit in self._lineage.chain(tip):
                try:
                    for columns in self._library.snapshot(commit).columns(everything=True):
                        for path in {*layer_paths(columns), f"{USD}/{cell_path(columns['cell_id'])}"} & paths:
                            found.setdefault(path, (commit, Row.of(columns)))
                    break
                except LibraryError:
                    continue
        return found

    def _mend_journal(self, path: str) -> str:
        """Cut damaged lines out of a journal, a torn last one among them."""
        with Journal(self._library.folder, Path(path).stem) as journal:
            lines = list(io.BytesIO(journal.path.read_bytes()))
            whole = [line for number, line in enumerate(lines, start=1) if _is_whole(journal.path, number, line)]
            with journal.path.open("r+b") as file:  # in place: who waits for the journal waits for this very file
                file.write(b"".join(whole))
                file.truncate()
                os.fsync(file.fileno())
        return (
            f"{len(lines) - len(whole)} damaged lines dropped: run `scenegen expand` again, it makes those scenes again"
        )

    def _write_copies(self, report: Report) -> None:
        """Write the second copies that are missing."""
        paths = {one.path for one in report.damage}
        lineage = Lineage.read(self._library)
        originals = {} if MARKER in paths else {MARKER: self._library.files.read(MARKER)}
        originals |= {commit.path: commit.to_file() for commit in lineage.commits.values()}
        originals |= {f"tags/{name}.json": tag.to_file() for name, tag in lineage.tags.items()}
        for path, data in originals.items():
            if path not in lineage.damage and not self._library.files.local(f"{COPIES}/{path}").exists():
                self._library.files.put(f"{COPIES}/{path}", data, durable=True)


def restore(
    folder: str | Path, *, copy: str | Path | None = None, progress: Callable[[int], None] = lambda _: None
) -> Restored:
    """Mend a library as far as that can be done, and verify it.

    Args:
        folder: The library.
        copy: A copy of it, in another folder.
        progress: Told how many bytes were read since it was told last.

    Raises:
        LibraryError: There is no library, or the disk is full or not writable.
    """

    def check() -> Report:
        library, fault = open_damaged(folder)
        return verify(library, marker_fault=fault, progress=progress)

    return Restorer(VersionedLibrary(folder), copy=Path(copy) if copy is not None else None).run(check)


def _is_whole(path: Path, number: int, line: bytes) -> bool:
    try:
        journal_line(path, number, line)
    except LibraryError:
        return False
    return line.endswith(b"\n")


def _read(files: FolderFiles, path: str) -> bytes | None:
    try:
        return files.read(path)
    except (FileNotFoundError, LibraryError):
        return None
