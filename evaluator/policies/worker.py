"""A thread in which other people's code runs, so that it can be given up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """How a call ended: with a value or with what it raised, or not at all within the deadline."""

    value: Any = None
    error: BaseException | None = None
    stalled: bool = False


class _Job:
    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.ended = threading.Event()
        self.outcome = Outcome(stalled=True)


class Worker:
    """Runs one call after another in one thread of its own.

    A call that does not end in time is left to itself: Python cannot stop it. Until it does end, every further call is
    given up as well, since the code may not be entered twice. The thread does not keep the process alive.

    Args:
        name: For the thread.
    """

    def __init__(self, name: str) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._stuck: _Job | None = None
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def call(self, function: Callable[[], Any], *, deadline_s: float) -> Outcome:
        """Run a function and wait for it.

        Args:
            function: What to call.
            deadline_s: How long to wait [s].
        """
        if self._stuck is not None and not self._stuck.ended.is_set():
            return Outcome(stalled=True)
        job = _Job(function)
        self._jobs.put(job)
        self._stuck = None if job.ended.wait(deadline_s) else job
        return job.outcome if self._stuck is None else Outcome(stalled=True)

    def close(self) -> None:
        """End the thread once it has nothing to do."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job.outcome = Outcome(job.function())
            except BaseException as error:  # even SystemExit: it came from somebody else's code
                job.outcome = Outcome(error=error)
            job.ended.set()
