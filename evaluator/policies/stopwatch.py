"""How long each world's answer took, where a policy thinks for one after another."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray


class Stopwatch:
    """Runs from when it is made.

    Args:
        worlds: How many worlds are answered.
    """

    def __init__(self, worlds: int) -> None:
        self._own, self._since, self._aside_s = np.zeros(worlds), time.perf_counter(), 0.0

    @contextmanager
    def only(self, rows: Sequence[int], *, at_once: int = 1) -> Iterator[None]:
        """Time what is done for some worlds alone.

        Args:
            rows: Which of the worlds.
            at_once: How many of them are dealt with at the same time: each waits for all of its group.
        """
        start = time.perf_counter()
        try:
            yield
        finally:
            took_s = time.perf_counter() - start
            self._aside_s += took_s
            if len(rows):
                self._own[list(rows)] += took_s / -(-len(rows) // at_once)

    def answered_in_s(self) -> NDArray[np.float64]:
        """Return how long each answer took so far [s]: its own time, and its share of what was done for all."""
        shared_s = time.perf_counter() - self._since - self._aside_s
        return self._own + shared_s / max(len(self._own), 1)
