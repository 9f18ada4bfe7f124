"""Any policy, held to its word: every answer is checked, every call has a deadline, nothing it raises gets out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.policies.action_range import ActionRange
from evaluator.policies.answer import Answer
from evaluator.policies.served import served
from evaluator.policies.timed import Timed
from evaluator.policies.unanswered import Unanswered
from evaluator.policies.worker import Worker
from evaluator.policy import Observation, Policy, PolicySpec, as_numpy
from scenegen.errors import PolicyError

DEADLINE_S = 90.0
"""How long an answer may take [s]: longer than a remote policy's own deadline, so that the better sentence wins."""


class Checked:
    """Wraps a policy; what is wrong with an answer becomes a `PolicyError` of the worlds concerned.

    Checked are shape, kind of number, finiteness and range (see `ActionRange`); an exception, or no answer before the
    deadline, concerns all worlds that were asked about. The policy runs in one thread of its own, which is given up
    when it stalls; images that it asks for are taken by the thread that called, and count neither as its time nor
    against its deadline.

    Args:
        policy: Any policy.
        allowed: What an action may ask for.
        deadline_s: How long a call may take [s]; for a `Timed` policy, which asks for one world after another, how long
            each world may take.
    """

    def __init__(self, policy: Policy, allowed: ActionRange, *, deadline_s: float = DEADLINE_S) -> None:
        self._policy, self._allowed, self._deadline_s = policy, allowed, deadline_s
        self.spec: PolicySpec = policy.spec
        self._worker: Worker | None = Worker(f"policy {self.spec.name}")
        self._errands_s = 0.0
        """How long the last call waited for images [s]."""

    @property
    def numbers(self) -> int:
        """How many numbers an action has."""
        return self._allowed.numbers

    def reset(self, worlds: Sequence[int], instructions: Sequence[str]) -> None:
        """Begin new episodes.

        Raises:
            PolicyError: The policy raised something, or did not come back.
        """
        self._call(lambda: self._policy.reset(worlds, instructions))

    def act(self, observation: Observation) -> Answer:
        """Ask for a chunk for each world; never raises on account of the policy.

        Raises:
            Exception: The worlds raised it when they were to be photographed.
        """
        worlds, spec = observation.worlds, self.spec
        chunks = np.full((len(worlds), spec.horizon, self._allowed.numbers), np.nan, np.float32)
        self._errands_s, start = 0.0, time.perf_counter()
        try:
            in_a_row = len(worlds) if isinstance(self._policy, Timed) else 1
            shown = served(observation, self._worker.on_caller) if self._worker else observation
            given = self._call(lambda: as_numpy(self._policy.act(shown)), in_a_row)
            errors = self._keep(given, chunks, worlds)
        except Unanswered as error:
            errors = {**self._keep(error.chunks, chunks, worlds), **error.errors}
        except PolicyError as error:
            errors = dict.fromkeys(worlds, error)
        took_s = max(0.0, time.perf_counter() - start - self._errands_s)
        lost = [row for row, world in enumerate(worlds) if world in errors]
        chunks[lost] = np.nan
        return Answer(worlds, chunks, errors, self._seconds(len(worlds), took_s))

    def close(self) -> None:
        """Close the policy and end its thread; a second time does nothing.

        Raises:
            PolicyError: The policy raised something, or did not come back.
        """
        if self._worker is None:
            return
        try:
            self._call(self._policy.close)
        finally:
            self._worker.close()
            self._worker = None

    def _call(self, function: Callable[[], Any], in_a_row: int = 1) -> Any:
        if self._worker is None:
            raise PolicyError(self.spec.name, "it was closed", "no call after that")
        deadline_s = self._deadline_s * in_a_row
        outcome = self._worker.call(function, deadline_s=deadline_s)
        self._errands_s = outcome.errands_s
        if outcome.stalled:
            raise PolicyError(self.spec.name, "no answer in time", f"an answer within {deadline_s:g} s")
        if isinstance(outcome.error, PolicyError):
            raise outcome.error
        if outcome.error is not None:
            said = " ".join(f"{type(outcome.error).__name__}: {outcome.error}".split())[:300]
            raise PolicyError(self.spec.name, f"it raised {said}", "an answer") from outcome.error
        return outcome.value

    def _keep(self, given: NDArray[Any], chunks: NDArray[np.float32], worlds: Sequence[int]) -> dict[int, PolicyError]:
        """Copy what was given into `chunks`; return what is wrong with it, by world."""
        if given.dtype.kind != "f" or given.shape != chunks.shape:
            reason = f"an answer of {given.dtype} with shape {list(given.shape)}"
            error = PolicyError(self.spec.name, reason, f"float32 with shape {list(chunks.shape)}")
            return dict.fromkeys(worlds, error)
        with np.errstate(over="ignore"):
            chunks[:] = given
        return {
            worlds[row]: PolicyError(self.spec.name, reason, accepted)
            for row, (reason, accepted) in self._allowed.faults(chunks).items()
        }

    def _seconds(self, count: int, took_s: float) -> NDArray[np.float64]:
        """Each world's own time where the policy knows it, else that of the whole call [s], shape [n]."""
        if isinstance(self._policy, Timed) and len(self._policy.answered_in_s) == count:
            return self._policy.answered_in_s
        return np.full(count, took_s)
