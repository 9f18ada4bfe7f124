"""A table of texts, for a terminal and for a page alike."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """Rows of texts under named columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()
    """Columns that hold numbers: set flush right."""
    note: str = ""
    """What a reader must know to read it."""
