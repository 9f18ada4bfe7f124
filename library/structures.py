"""What all scenes of a cell share in a library: the cell's layer and specification, its robot, its parts."""

from __future__ import annotations

from pathlib import Path

from library.commit import FileFacts, file_hash
from library.files import USD
from library.versioned import VersionedLibrary
from scenegen.cell import Cell
from scenegen.errors import LibraryError
from scenegen.parts.catalogue import Catalogue
from scenegen.usd.files import CELLS, asset_path, cell_path, cell_record_path
from scenegen.usd.part_file import part_bytes
from scenegen.usd.robot_file import robot_bytes
from scenegen.usd.writer import SceneWriter


def keep_structures(
    library: VersionedLibrary, cell: Cell, parts: Catalogue, *, beside: Path | None = None
) -> dict[str, FileFacts]:
    """Write what all scenes of a cell share, durably; files that are there already keep their content.

    They are written again nevertheless: `gc` tells by their age that nobody uses them.

    Args:
        library: The library.
        cell: The cell.
        parts: The parts of its inventory.
        beside: The cell's file; the robot's USD file that the cell names lies in its folder.

    Returns:
        The files, for a commit.

    Raises:
        InvalidRecord: The robot's file is missing, no USD, or not whole in itself.
        LibraryError: Another file of its name is there, or the disk is full or not writable.
    """
    cell_id = cell.content_id
    files = _keep(library, cell_path(cell_id), SceneWriter(cell, parts).cell_layer().encode())
    files |= _keep(library, cell_record_path(cell_id), cell.canonical_json().encode())
    for part in parts.values():
        path = f"{USD}/{asset_path(part)}"
        if library.files.local(path).exists():  # other versions of OpenUSD may write other bytes for the same part
            files |= library.keep_file(path, library.files.read(path))
        else:
            files |= library.keep_file(path, part_bytes(part))
    return files | _robot(library, cell, beside)


def _robot(library: VersionedLibrary, cell: Cell, beside: Path | None) -> dict[str, FileFacts]:
    """Keep the robot's USD file, which the cell's layer refers to."""
    data = robot_bytes(cell, beside) if beside is not None else None
    return _keep(library, f"{CELLS}/{cell.robot.usd}", data) if data is not None else {}


def _keep(library: VersionedLibrary, name: str, data: bytes) -> dict[str, FileFacts]:
    path = f"{USD}/{name}"
    facts = FileFacts(size=len(data), sha256=file_hash(data))
    target = library.files.local(path)
    if target.exists() and library.files.digest(path) != facts.sha256:
        raise LibraryError(
            str(target), "another file of that name is in the library", "rename yours, or choose another --library"
        )
    return library.keep_file(path, data)
