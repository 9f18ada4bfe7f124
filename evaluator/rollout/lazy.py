"""A mapping in which some values are made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any


class Lazy(Mapping[str, Any]):
    """Values by name.

    Args:
        known: Values that are there.
        made: What makes the others, each once.
    """

    def __init__(self, known: Mapping[str, Any], made: Mapping[str, Callable[[], Any]]) -> None:
        self._known, self._made = dict(known), made

    def __getitem__(self, name: str) -> Any:
        """Return a value."""
        if name not in self._known and name in self._made:
            self._known[name] = self._made[name]()
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        """Tell whether there is a value, without making it."""
        return name in self._known or name in self._made

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(dict.fromkeys([*self._known, *self._made]))

    def __len__(self) -> int:
        """Return how many values there are."""
        return len({*self._known, *self._made})
