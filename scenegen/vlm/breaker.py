"""A circuit breaker: a back end that keeps failing is left alone for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from scenegen.errors import VlmError
from scenegen.vlm.chat import BackEnd, Chat, Reply
from scenegen.vlm.wrapped import Wrapped

FAILURES = 5
"""After so many failed calls in a row it opens."""
REST_S = 30.0
"""After so long [s] one call is tried again."""


class Breaker(Wrapped):
    """Passes calls on until several failed in a row; then refuses them, and tries a single one now and then.

    Args:
        back_end: What answers.
        clock: Gives the time [s].
    """

    def __init__(self, back_end: BackEnd, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(back_end)
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._opened_s: float | None = None
        self._trial = False
        """Whether a call is under way that tells if it may close."""
        self._last = ""

    def reply(self, chat: Chat) -> Reply:
        """Answer, unless the breaker is open.

        Raises:
            VlmError: The back end failed, or it failed too often just now and was not asked.
            BudgetSpent: As the back end says.
        """
        trial = self._admit()
        try:
            reply = self._back_end.reply(chat)
        except VlmError as error:
            self._failed(error.reason, trial)
            raise
        else:
            self._succeeded()
            return reply
        finally:
            if trial:
                self._trial = False

    def _admit(self) -> bool:
        """Let a call pass; tell whether it is a trial."""
        with self._lock:
            if self._opened_s is None:
                return False
            left = self._opened_s + REST_S - self._clock()
            if left > 0 or self._trial:
                reason = f"not asked, because {FAILURES} calls in a row failed (the last: {self._last})"
                raise VlmError(self.model, reason, f"it is tried again in {max(left, 0):.0f} s")
            self._trial = True
            return True

    def _failed(self, reason: str, trial: bool) -> None:
        with self._lock:
            self._failures += 1
            self._last = reason
            if trial or (self._failures >= FAILURES and self._opened_s is None):
                self._opened_s = self._clock()

    def _succeeded(self) -> None:
        with self._lock:
            self._failures, self._opened_s = 0, None
