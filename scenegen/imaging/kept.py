"""The latest used results of something, by key."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

_MISSING: Any = object()
"""Stands for what is not kept."""


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
        return self._keep(key, make())

    def each[T](self, keys: Sequence[Hashable], make: Callable[[list[int]], Sequence[T]]) -> list[T]:
        """Return what is kept under each of some keys; `make` is told which are missing and makes them together."""
        found = [self._known.get(key, _MISSING) for key in keys]
        missing = [index for index, one in enumerate(found) if one is _MISSING]
        if missing:
            for index, made in zip(missing, make(missing), strict=True):
                found[index] = made
        return [self._keep(key, one) for key, one in zip(keys, found, strict=True)]

    def _keep[T](self, key: Hashable, made: T) -> T:
        self._known[key] = made
        self._known.move_to_end(key)
        if len(self._known) > self._size:
            self._known.popitem(last=False)
        return made
