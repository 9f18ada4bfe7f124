"""How long a policy took to answer each world, call by call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

ROOM = 256
"""Calls of an episode for which there is room at first; it doubles where they are more."""


class Calls:
    """Times of the calls of the episodes that play.

    Args:
        worlds: How many worlds there are.
    """

    def __init__(self, worlds: int) -> None:
        self._seconds = np.zeros((worlds, ROOM), np.float32)
        self._count = np.zeros(worlds, int)

    def reset(self, world: int) -> None:
        """Forget the calls of a world."""
        self._count[world] = 0

    def add(self, worlds: Sequence[int], seconds: ArrayLike) -> None:
        """Note one call of some worlds, which took so long [s], shape [n]."""
        rows = np.asarray(worlds, int)
        if self._count[rows].max(initial=0) >= self._seconds.shape[1]:
            self._seconds = np.concatenate([self._seconds, np.zeros_like(self._seconds)], axis=1)
        self._seconds[rows, self._count[rows]] = seconds
        self._count[rows] += 1

    def of(self, world: int) -> NDArray[np.float64]:
        """Return the times of a world's calls [s], in order, shape [calls]."""
        return self._seconds[world, : self._count[world]].astype(np.float64)
