"""A thread in which other people's code runs, so that it can be given up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from evaluator.policies.errand import Errand, NobodyWaits

PATIENCE = 3
"""How often in a row a call that was given up is waited for once more: a batch that takes long costs no later ones."""


@dataclass(frozen=True)
class Outcome:
    """How a call ended: with a value or with what it raised, or not at all within the deadline."""

    value: Any = None
    error: BaseException | None = None
    stalled: bool = False
    errands_s: float = 0.0
    """How much of its time the caller spent on what it was asked to do meanwhile [s]."""


class _Job:
    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.outcome = Outcome(stalled=True)
        self.ended = threading.Event()
        self.given_up = threading.Event()
        self.messages: SimpleQueue[Errand | None] = SimpleQueue()
        """What the caller is asked to do meanwhile; None once it ended."""


class Worker:
    """Runs one call after another in one thread of its own.

    A call that does not end in time is left to itself: Python cannot stop it. Until it does end, every further call is
    given up as well, since the code may not be entered twice; the first `PATIENCE` of them wait for it as long as they
    would for themselves. The thread does not keep the process alive.

    Args:
        name: For the thread.
    """

    def __init__(self, name: str) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._now: _Job | None = None
        self._waited = 0
        """How many calls in a row found the thread taken."""
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def call(self, function: Callable[[], Any], *, deadline_s: float) -> Outcome:
        """Run a function and wait for it; what it asks for by `on_caller` is done here, and its time does not count.

        Args:
            function: What to call.
            deadline_s: How long to wait [s].

        Raises:
            Exception: What was asked for raised it: that is no fault of the function, whatever it made of it.
        """
        if self._taken(deadline_s):
            return Outcome(stalled=True)
        job = self._now = _Job(function)
        self._jobs.put(job)
        left_s, errands_s, failed = deadline_s, 0.0, None
        while True:
            start = time.perf_counter()
            try:
                errand = job.messages.get(timeout=max(left_s, 0.0))
            except Empty:
                job.given_up.set()
                return Outcome(stalled=True)
            if errand is None:
                break
            left_s -= time.perf_counter() - start
            errands_s += errand.run()
            failed = failed or errand.error
        if failed is not None:
            raise failed
        return Outcome(job.outcome.value, job.outcome.error, errands_s=errands_s)

    def on_caller(self, function: Callable[[], Any]) -> Any:
        """Have something done by the thread that waits for the present call; where it ended in time, do it here.

        Args:
            function: What to do.

        Returns:
            What it returned; what it raised is raised here, too.

        Raises:
            NobodyWaits: The call was given up.
        """
        job = self._now
        if job is None or (job.ended.is_set() and not job.given_up.is_set()):
            return function()
        if job.given_up.is_set():
            raise NobodyWaits
        errand = Errand(function)
        job.messages.put(errand)
        return errand.result(job.given_up)

    def close(self) -> None:
        """End the thread once it has nothing to do."""
        self._jobs.put(None)

    def _taken(self, deadline_s: float) -> bool:
        """Tell whether a call that was given up still holds the thread; the first ones to ask wait for it."""
        if self._now is None or self._now.ended.wait(deadline_s if self._waited < PATIENCE else 0.0):
            self._waited = 0
            return False
        self._waited += 1
        return True

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job.outcome = Outcome(job.function())
            except BaseException as error:  # even SystemExit: it came from somebody else's code
                job.outcome = Outcome(error=error)
            job.ended.set()
            job.messages.put(None)
