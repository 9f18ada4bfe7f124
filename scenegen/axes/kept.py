"""The last few results of pure functions of large things, by key."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

MOST = 8
"""How many results of each kind are kept: variants share a layout with those made just before."""


class Kept:
    """Results of each kind under keys that say all that they depend on; of each kind the latest used are kept.

    Args:
        most: How many results of each kind are kept.

    Example:
        >>> kept = Kept()
        >>> kept.once("square", 3, lambda: 9)
        9
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kinds: dict[str, OrderedDict[Hashable, Any]] = {}

    def once[T](self, kind: str, key: Hashable, make: Callable[[], T]) -> T:
        """Return what is kept under a key, or make it."""
        found = self.get(kind, key)
        return self.put(kind, key, make()) if found is None else found

    def get(self, kind: str, key: Hashable) -> Any:
        """Return what is kept under a key, or None."""
        known = self._kinds.get(kind)
        if known is None or key not in known:
            return None
        known.move_to_end(key)
        return known[key]

    def put[T](self, kind: str, key: Hashable, made: T) -> T:
        """Keep a result, and return it."""
        known = self._kinds.setdefault(kind, OrderedDict())
        known[key] = made
        if len(known) > self._most:
            known.popitem(last=False)
        return made
