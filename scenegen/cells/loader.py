"""Read a cell from its YAML file, or a built-in one by name."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import yaml

from scenegen.cell import Cell
from scenegen.errors import InvalidRecord, UnknownName

BUILTIN = ("fasteners", "rings")
"""Names of the built-in cells."""


def load_cell(name_or_path: str) -> Cell:
    """Read a cell.

    Args:
        name_or_path: The name of a built-in cell, or the path of a YAML file.

    Raises:
        UnknownName: Neither a built-in cell nor a file.
        InvalidRecord: The file is no YAML, or a field is not valid.
    """
    if name_or_path in BUILTIN:
        return parse_cell(builtin_text(name_or_path), what=name_or_path)
    path = Path(name_or_path)
    if not path.is_file():
        if path.suffix in (".yaml", ".yml"):
            raise InvalidRecord(name_or_path, ["no such file - write one with `scenegen init`"])
        raise UnknownName("cell", name_or_path, BUILTIN)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRecord(name_or_path, [f"cannot be read as UTF-8 text ({error})"]) from error
    return parse_cell(text, what=name_or_path)


def builtin_text(name: str) -> str:
    """Return the annotated YAML text of a built-in cell."""
    return files("scenegen.cells").joinpath(f"{name}.yaml").read_text(encoding="utf-8")


def parse_cell(text: str, *, what: str) -> Cell:
    """Build a cell from YAML text; `what` names it in errors.

    Raises:
        InvalidRecord: The text is no YAML, or a field is not valid.
    """
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidRecord(what, [f"not YAML ({' '.join(str(error).split())})"]) from error
    return Cell.from_data(data, what=what)
