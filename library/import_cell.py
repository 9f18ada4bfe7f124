"""A cell from elsewhere: its specification and its robot's file are looked at before anything of ours uses them."""

from __future__ import annotations

import re
from pathlib import Path

from library.import_json import read_json
from scenegen.cell import Cell
from scenegen.errors import InvalidRecord, UnsafeStage
from scenegen.usd.files import CELLS
from scenegen.usd.untrusted import refuse_unsafe

CELL_BYTES = 4 * 2**20
"""Greatest size of a cell's specification; one of forty slots has a hundredth of it."""
_ROBOT = re.compile(r"[\w-][\w. -]*(/[\w-][\w. -]*)*\.(usd|usda|usdc)", re.ASCII)


def refuse_unsafe_cells(root: Path) -> None:
    """Refuse a folder of scenes if a cell's specification in it is no plain file of a bearable size and depth.

    Raises:
        InvalidRecord: Names the file.
    """
    for path in sorted((root / CELLS).glob("*.json")):
        read_json(path, root=root, most_bytes=CELL_BYTES)


def refuse_unsafe_robot(cell: Cell, root: Path, *, library: Path) -> None:
    """Refuse a cell whose robot is not a harmless USD file beside the cell, or not the library's of that name.

    Args:
        cell: The cell, as it came.
        root: Root of the USD files that it came with.
        library: Root of the USD files of the library that it is to go to.

    Raises:
        UnsafeStage: The name leads elsewhere, or the file breaks a rule for untrusted input.
        InvalidRecord: Another robot of that name is in the library.
    """
    usd = cell.robot.usd
    if usd is None:
        return
    if not _ROBOT.fullmatch(usd):
        file = str(root / CELLS / f"{cell.content_id}.json")
        raise UnsafeStage(file, "path", f"robot.usd {usd!r} - accepted: a plain path to a USD file beside the cell")
    theirs, ours = root / CELLS / usd, library / CELLS / usd
    refuse_unsafe(theirs, root=root)
    if theirs.is_file() and ours.is_file() and theirs.read_bytes() != ours.read_bytes():
        raise InvalidRecord(
            str(theirs), ["another robot of that name is in the library - rename yours, in its cell too"]
        )
