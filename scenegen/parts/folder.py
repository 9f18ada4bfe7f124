"""Built-in parts together with the parts that a user has added to a folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from scenegen.errors import UnknownName
from scenegen.parts.builtin import builtin_ids, builtin_part
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Part
from scenegen.usd.part_file import read_part


def added_ids(folder: Path) -> tuple[str, ...]:
    """Return the ids of the parts in a folder, sorted; empty where there is no such folder."""
    return tuple(sorted(path.stem for path in folder.glob("*.usdc") if not path.name.startswith(".")))


def part_from(part_id: str, folder: Path) -> Part:
    """Build a built-in part, or read a part that was added to the folder.

    Raises:
        UnknownName: There is neither.
        UnreadableStage: The part's file is damaged.
    """
    if part_id in builtin_ids():
        return builtin_part(part_id)
    if part_id not in added_ids(folder):
        raise UnknownName("part", part_id, (*builtin_ids(), *added_ids(folder)))
    return read_part(folder / f"{part_id}.usdc")


def catalogue_with_folder(ids: Iterable[str], folder: Path) -> Catalogue:
    """Build the parts of these ids, each once; only the files of parts that are asked for are read.

    Raises:
        UnknownName: A part is neither built in nor in the folder.
    """
    return Catalogue(part_from(part_id, folder) for part_id in dict.fromkeys(ids))
