"""The seam between scenegen and whatever keeps scenarios: a folder now, a versioned store later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from library.row import Line, Row
from scenegen.record import Record


class Store(Protocol):
    """Keeps files by path and rows by commit; a row is published only together with all that it names."""

    def write(self, path: str, data: bytes) -> str:
        """Write one file (all of it or nothing) and return its content hash; not published until a row names it."""
        ...

    def commit(self, lines: Iterable[Line], *, records: Mapping[str, Record]) -> None:
        """Publish rows, and the shared records (cells, plans, expansions) by path, atomically and durably."""
        ...

    def rows(self) -> Iterator[Row]:
        """Iterate over all published rows in the order of their commits."""
        ...
