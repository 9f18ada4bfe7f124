"""The USD file of a robot of one's own: found beside the cell's file, and whole in itself."""

from __future__ import annotations

from pathlib import Path

from pxr import Sdf, Tf, UsdUtils

from scenegen.cell import Cell
from scenegen.errors import InvalidRecord

ACCEPTED = "one USD file that is whole in itself, beside the cell file"
"""A library keeps one file for a robot: what that refers to would be left behind."""


def robot_bytes(cell: Cell, beside: Path) -> bytes | None:
    """Read the robot's file that a cell names; None where it names none.

    Args:
        cell: The cell.
        beside: The cell's file; the robot's path is relative to its folder, wherever the command runs.

    Raises:
        InvalidRecord: There is no such file, it is no USD, or it refers to other files.
    """
    if cell.robot.usd is None:
        return None
    path = beside.parent / cell.robot.usd
    if not path.is_file():
        raise _refused(beside, f"{cell.robot.usd} - accepted: a file beside the cell file")
    try:
        Sdf.Layer.OpenAsAnonymous(str(path))
    except Tf.ErrorException as error:
        raise _refused(beside, f"{cell.robot.usd} cannot be opened as USD - accepted: {ACCEPTED}") from error
    needed = sorted({name for names in UsdUtils.ExtractExternalReferences(str(path)) for name in names})
    if needed:
        others = f" and {len(needed) - 1} more" if len(needed) > 1 else ""
        raise _refused(beside, f"{cell.robot.usd} refers to {needed[0]}{others} - accepted: {ACCEPTED}; flatten it")
    return path.read_bytes()


def _refused(beside: Path, sentence: str) -> InvalidRecord:
    return InvalidRecord(str(beside), [f"robot.usd: {sentence}"])
