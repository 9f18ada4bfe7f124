"""What code in another thread asks the thread that waits for it to do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

_LOOK_S = 0.2
"""Time between looks whether anybody still waits [s]."""


class NobodyWaits(Exception):
    """Something was asked for when nobody waited any more."""

    def __init__(self) -> None:
        super().__init__("nobody waits for an answer any more")


class Errand:
    """One thing to do: `run` by the one who waits, `result` for the one who asked.

    Args:
        function: What to do.
    """

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function, self._done = function, threading.Event()
        self._value: Any = None
        self.error: Exception | None = None
        """What it raised."""

    def run(self) -> float:
        """Do it; returns how long that took [s]."""
        start = time.perf_counter()
        try:
            self._value = self._function()
        except Exception as error:  # whoever waits raises it once the call has ended
            self.error = error
        finally:
            self._done.set()
        return time.perf_counter() - start

    def result(self, given_up: threading.Event) -> Any:
        """Wait until it was done, and return what it gave.

        Args:
            given_up: Set once nobody does it any more.

        Raises:
            Exception: It raised it.
            NobodyWaits: Nobody does it any more.
        """
        while not self._done.wait(_LOOK_S):
            if given_up.is_set():
                raise NobodyWaits
        if self.error is not None:
            raise self.error
        return self._value
