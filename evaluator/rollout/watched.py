"""A line that is watched: a simulator that hangs ends the command instead of the night."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from evaluator.rollout.line import Line, LineState
from scenegen.geometry import Array
from scenegen.scenario import Scenario

LIMIT_S = 900.0
"""Longest that a call of a simulator may take [s]: kernels for a new number of slots compile for up to 5 minutes."""


class WatchedLine:
    """Passes everything on to a line, and calls for help where a call does not come back.

    Args:
        line: The line.
        hung: Called once, from another thread, with how long a call has taken [s]; it is not expected to return.
        limit_s: How long a call may take [s].
    """

    def __init__(self, line: Line, hung: Callable[[float], None], *, limit_s: float = LIMIT_S) -> None:
        self._line, self._hung, self._limit_s = line, hung, limit_s
        self._since: float | None = None
        self._ended = threading.Event()
        threading.Thread(target=self._watch, daemon=True, name="watchdog").start()
        self.count, self.rate_hz, self.slots, self.fixtures = line.count, line.rate_hz, line.slots, line.fixtures

    def close(self) -> None:
        """Stop watching."""
        self._ended.set()

    def put(self, scenarios: Mapping[int, Scenario]) -> None:
        """Put scenarios into some worlds."""
        with self._timed():
            self._line.put(scenarios)

    def command(self, joints_rad: Array, opening: Array) -> None:
        """Set the targets of all worlds."""
        with self._timed():
            self._line.command(joints_rad, opening)

    def tick(self) -> None:
        """Simulate one tick."""
        with self._timed():
            self._line.tick()

    def state(self) -> LineState:
        """Return what all worlds do now."""
        with self._timed():
            return self._line.state()

    def images(self, worlds: Sequence[int], cameras: Sequence[str]) -> Mapping[str, Any]:
        """Photograph some worlds."""
        with self._timed():
            return self._line.images(worlds, cameras)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._since = None

    def _watch(self) -> None:
        while not self._ended.wait(min(1.0, self._limit_s / 4)):
            since = self._since
            if since is not None and time.monotonic() - since > self._limit_s:
                self._hung(time.monotonic() - since)
                return
