"""A set of parts by id: what a cell's inventory is built from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from scenegen.errors import UnknownName
from scenegen.parts.part import Part


class Catalogue(Mapping[str, Part]):
    """Parts by id, in a fixed order; cheap to send to worker processes.

    Example:
        >>> catalogue = Catalogue([])
        >>> len(catalogue)
        0
    """

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = {part.id: part for part in parts}

    def __getitem__(self, part_id: str) -> Part:
        """Return the part of that id.

        Raises:
            UnknownName: No part has that id.
        """
        try:
            return self._parts[part_id]
        except KeyError:
            raise UnknownName("part", part_id, self._parts) from None

    def __contains__(self, part_id: object) -> bool:
        """Tell whether there is a part of that id."""
        return part_id in self._parts

    def __iter__(self) -> Iterator[str]:
        """Iterate over part ids."""
        return iter(self._parts)

    def __len__(self) -> int:
        """Count the parts."""
        return len(self._parts)

    def labels(self) -> set[str]:
        """Return all semantic classes."""
        return {part.label for part in self._parts.values()}
