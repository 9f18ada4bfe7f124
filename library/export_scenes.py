"""A version's scenes as USD: a folder laid out like a library, or one package a scene; every file proved first."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from library.commit import FileFacts, damaged, file_hash
from library.export_csv import write_csv
from library.export_selection import Selection
from library.export_tables import Noted
from library.layers import Layers
from library.row import Row
from library.snapshot import Snapshot
from library.tables import SCENARIOS
from library.versioned import USD, VersionedLibrary
from scenegen import __version__
from scenegen.cell import Cell
from scenegen.errors import UnsafeStage
from scenegen.facet import Facet, scenario_key
from scenegen.usd.files import asset_path, cell_path, cell_record_path, layout_path, scene_path
from scenegen.usd.package import PACKAGE, needed_files, package_bytes

INDEX = "scenes.csv"
PROVENANCE = "provenance.json"


class SceneFolder:
    """A folder that takes scenes of one version with all that they need.

    Args:
        library: The library.
        snapshot: The version.
        folder: Root of the USD files that are written.
    """

    def __init__(self, library: VersionedLibrary, snapshot: Snapshot, folder: Path) -> None:
        self._files = library.files
        self._known: Mapping[str, FileFacts] = snapshot.commit.files if snapshot.commit else {}
        self._layers = Layers(library, snapshot)
        self._cells: dict[str, tuple[str, ...]] = {}
        self.folder = folder
        self.written: dict[str, FileFacts] = {}
        """Every file of the folder -> what it is."""

    def add(self, row: Row) -> str:
        """Write a scene and what it needs; return the path of its root layer in the folder.

        Raises:
            LibraryError: A file is damaged or missing.
            UnsafeStage: The cell needs a file that is not the library's.
        """
        self.assets(row)
        scene = scene_path(row.scenario_id)
        if scene not in self.written:
            layout = layout_path(scenario_key(row.cell_id, row.assets, {Facet.LAYOUT: row.facets[Facet.LAYOUT]}))
            hashes = {layout: row.layout_sha256, scene: row.scene_sha256}
            made = None if all(hashes.values()) else self._layers.texts(row)
            for name, sha256 in hashes.items():
                if name not in self.written:
                    self._put(name, made[f"{USD}/{name}"] if made else self._proved(name, sha256))
        return scene

    def assets(self, row: Row) -> tuple[str, ...]:
        """Write what all scenes of a row's cell and parts share; return the paths of the parts' files.

        Raises:
            LibraryError: A file is damaged or missing.
            UnsafeStage: The cell needs a file that is not the library's.
        """
        key = row.frame
        if key not in self._cells:
            cell, parts = self._layers.cell_and_parts(row)
            assets = tuple(sorted(asset_path(part) for part in parts.values()))
            for name in (*assets, *_cell_files(cell, self._known)):
                if name not in self.written:
                    facts = self._known.get(f"{USD}/{name}")
                    self._put(name, self._proved(name, facts.sha256 if facts else None))
            needed_files(self.folder / cell_path(row.cell_id), self.folder)
            self._cells[key] = assets
        return self._cells[key]

    def _proved(self, name: str, sha256: str | None) -> bytes:
        """Read a file of the library and hold what was read against its hash."""
        path = f"{USD}/{name}"
        if sha256 is None:
            raise damaged(str(self._files.local(path)), "it is not a file of this version")
        try:
            data = self._files.read(path)
        except FileNotFoundError:
            raise damaged(str(self._files.local(path)), "the file is missing") from None
        if file_hash(data) != sha256:
            raise damaged(str(self._files.local(path)), f"its SHA-256 is not {sha256[:12]}…")
        return data

    def _put(self, name: str, data: bytes) -> None:
        target = self.folder / name
        if ".." in Path(name).parts:
            raise UnsafeStage(
                str(target), "outside", "it would be written beside the export - accepted: files below it"
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        self.written[name] = FileFacts(size=len(data), sha256=file_hash(data))


def export_folder(
    library: VersionedLibrary, snapshot: Snapshot, selection: Selection, folder: Path, *, noted: Noted
) -> dict[str, int]:
    """Write the chosen scenes into a folder laid out like a library's USD root, with `scenes.csv` and provenance.

    Returns:
        How many scenes, and how many files besides the index.

    Raises:
        InvalidOption: The selection cannot be made.
        LibraryError: A file or a row is damaged or missing; names it.
        UnsafeStage: A scene needs a file that is not the library's.
        OSError: A file cannot be written.
    """
    target = SceneFolder(library, snapshot, folder)
    rows = _index(folder, ((columns, target.add(row)) for columns, row in _rows(snapshot, selection, noted)))
    scenes = sum(name.startswith("scenes/") for name in target.written)
    _provenance(folder, library, snapshot, {"rows": rows, "scenes": scenes}, target.written)
    return {"scenes": scenes, "files": len(target.written)}


def export_packages(
    library: VersionedLibrary,
    snapshot: Snapshot,
    selection: Selection,
    folder: Path,
    *,
    scratch: Path,
    noted: Noted,
) -> dict[str, int]:
    """Write each chosen scene as a `.usdz` package that is whole in itself, with `scenes.csv` and provenance.

    Args:
        library: The library.
        snapshot: The version.
        selection: Which of its scenes.
        folder: Where packages go.
        scratch: An empty folder for the files that packages are made of; only what stands there gets into one.
        noted: Told of progress.

    Returns:
        How many scenes.

    Raises:
        InvalidOption: The selection cannot be made.
        LibraryError: A file or a row is damaged or missing; names it.
        UnsafeStage: A scene needs a file that is not the library's; names it.
        OSError: A file cannot be written.
    """
    source = SceneFolder(library, snapshot, scratch)
    written: dict[str, FileFacts] = {}

    def packed() -> Iterator[tuple[Mapping[str, Any], str]]:
        for columns, row in _rows(snapshot, selection, noted):
            name = f"{row.scenario_id}{PACKAGE}"
            if name not in written:
                data = package_bytes(scratch / source.add(row), root=scratch, also=source.assets(row))
                (folder / name).write_bytes(data)
                written[name] = FileFacts(size=len(data), sha256=file_hash(data))
            yield columns, name

    rows = _index(folder, packed())
    _provenance(folder, library, snapshot, {"rows": rows, "scenes": len(written)}, written)
    return {"scenes": len(written), "files": len(written)}


def _cell_files(cell: Cell, known: Mapping[str, FileFacts]) -> list[str]:
    """Name the files of a cell: layer, specification and, where the library keeps one, the robot."""
    names = [cell_path(cell.content_id), cell_record_path(cell.content_id)]
    if cell.robot.usd is not None:
        robot = f"{Path(names[0]).parent}/{cell.robot.usd}"
        names += [robot] if f"{USD}/{robot}" in known else []
    return names


def _rows(snapshot: Snapshot, selection: Selection, noted: Noted) -> Iterator[tuple[Mapping[str, Any], Row]]:
    for batch in selection.batches(snapshot):
        for columns in batch.to_pylist():
            yield columns, Row.of(columns)
            noted(1)


def _index(folder: Path, rows: Iterable[tuple[Mapping[str, Any], str]]) -> int:
    with (folder / INDEX).open("w", encoding="utf-8", newline="") as file:
        return write_csv(file, ["file", *SCENARIOS.schema.names], ({**columns, "file": name} for columns, name in rows))


def _provenance(
    folder: Path, library: VersionedLibrary, snapshot: Snapshot, counts: Mapping[str, int], files: dict[str, FileFacts]
) -> None:
    """Write where the scenes come from and what each file must be."""
    commit = snapshot.commit
    facts = {
        "library": library.name,
        "commit": commit.ref.model_dump(mode="json") if commit else None,
        "fingerprint": commit.fingerprint if commit else None,
        "scenegen": __version__,
        **counts,
        "files": {name: one.model_dump(mode="json") for name, one in sorted(files.items())},
    }
    (folder / PROVENANCE).write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n", encoding="utf-8")
