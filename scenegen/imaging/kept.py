"""The latest used results of something, by key."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any


class Kept:
    """Keeps the latest used results; older ones are forgotten.

    Args:
        size: How many are kept.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._known: OrderedDict[Hashable, Any] = OrderedDict()

    def get[T](self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what is kept under a key, or make it."""
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        made = self._known[key] = make()
        if len(self._known) > self._size:
            self._known.popitem(last=False)
        return made
