"""When a request is sent again, and after how long: at most four tries, as patient as the server asks."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import tenacity

MOST_TRIES = 4
MOST_DEADLINES = 2
"""How many tries may run into the deadline."""
MOST_PATIENCE_S = 30.0
"""The longest wait that a server may ask for [s]."""
RETRIED = {408, 409, 429}
"""Statuses below 500 after which the same request may well succeed."""
_GROWING = tenacity.wait_exponential(multiplier=0.5, max=8) + tenacity.wait_random(0, 0.5)


class TryFailed(Exception):
    """One try failed in a way that may pass.

    Args:
        reason: What happened.
        remedy: What to do if it does not pass.
        status: The HTTP status; 0 where there was none.
        wait_s: How long the server asks to wait [s].
        deadline: Whether the time ran out.
    """

    def __init__(
        self, reason: str, remedy: str, *, status: int = 0, wait_s: float | None = None, deadline: bool = False
    ) -> None:
        self.reason, self.remedy, self.status, self.wait_s, self.deadline = reason, remedy, status, wait_s, deadline
        super().__init__(reason)


def try_often[T](once: Callable[[int], T], sleep: Callable[[float], None]) -> T:
    """Do something until it succeeds or has failed too often.

    Args:
        once: What to do, given the number of the try, from 1; raises `TryFailed` where another try is worth it.
        sleep: Waits some time [s].

    Raises:
        TryFailed: The last failure, its reason with how often was tried.
    """
    deadlines = 0

    def is_enough(state: tenacity.RetryCallState) -> bool:
        nonlocal deadlines
        failed = _failure(state)
        deadlines += failed.deadline
        impatient = failed.wait_s is not None and failed.wait_s > MOST_PATIENCE_S
        return impatient or deadlines >= MOST_DEADLINES or state.attempt_number >= MOST_TRIES

    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(TryFailed), stop=is_enough, wait=_pause, sleep=sleep, reraise=True
    )
    number = 0

    def numbered() -> T:
        nonlocal number
        number += 1
        return once(number)

    try:
        return retrying(numbered)
    except TryFailed as failed:
        if number > 1:
            failed.reason = f"{failed.reason}, {number} times"
        raise


def asked_wait_s(header: str | None) -> float | None:
    """Return what a `Retry-After` asks for [s]: seconds or a date; None where it is neither."""
    if header is None:
        return None
    try:
        wait = float(header)
    except ValueError:
        wait = _until(header)
    return wait if wait >= 0 else None


def _until(header: str) -> float:
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return math.nan
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((moment - datetime.fromtimestamp(time.time(), UTC)).total_seconds(), 0.0)


def _pause(state: tenacity.RetryCallState) -> float:
    asked = _failure(state).wait_s
    return _GROWING(state) if asked is None else asked


def _failure(state: tenacity.RetryCallState) -> TryFailed:
    assert state.outcome is not None
    failed = state.outcome.exception()
    assert isinstance(failed, TryFailed)
    return failed
