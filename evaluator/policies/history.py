"""What a policy saw before, for those that look back."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]


class History:
    """Keeps each world's last observations, and gives them for steps in the past.

    A policy is shown a world only when it is asked, every `stride` steps. For a step in between it gets the latest
    observation before it, and before the episode's first one that first one: as GR00T's own loop does.

    Args:
        deltas: Steps relative to now, at most 0, ascending.
        stride: How many steps lie between two observations of a world.
    """

    def __init__(self, deltas: Sequence[int], *, stride: int) -> None:
        self._deltas, self._stride = tuple(deltas), stride
        self._seen: dict[int, list[dict[str, NDArray[Any]]]] = {}
        self._keep = -min(deltas) // stride + 2

    def reset(self, worlds: Sequence[int]) -> None:
        """Forget what some worlds showed."""
        for world in worlds:
            self._seen.pop(world, None)

    def shown(self, worlds: Sequence[int], now: Arrays) -> dict[str, NDArray[Any]]:
        """Keep what worlds show now, and return it with what they showed before.

        Args:
            worlds: Their numbers, shape [n].
            now: Arrays by key, shape [n, ...].

        Returns:
            Arrays by key, shape [n, steps, ...].
        """
        if self._deltas == (0,):
            return {key: array[:, None] for key, array in now.items()}
        for row, world in enumerate(worlds):
            seen = self._seen.setdefault(world, [])
            seen.append({key: array[row].copy() for key, array in now.items()})
            del seen[: -self._keep]
        picked = [self._picked(self._seen[world]) for world in worlds]
        return {key: np.stack([np.stack([step[key] for step in steps]) for steps in picked]) for key in now}

    def _picked(self, seen: list[dict[str, NDArray[Any]]]) -> list[dict[str, NDArray[Any]]]:
        times = [(index - len(seen) + 1) * self._stride for index in range(len(seen))]
        return [seen[max(bisect_right(times, delta) - 1, 0)] for delta in self._deltas]
