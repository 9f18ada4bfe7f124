"""Judge finished episodes in other processes, so that the worlds never wait."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from evaluator.judging.episode import Episode, EpisodeKey
from evaluator.judging.job import Job
from evaluator.judging.judge import judge
from evaluator.rollout.stream import Finished
from scenegen.cell import Cell
from scenegen.handed import handed, take
from scenegen.parts.catalogue import Catalogue
from scenegen.pool import end_with_parent, one_thread
from scenegen.robot import Arm

WAITING = 8
"""Episodes a process that may wait for their verdict: beyond them the worlds wait, since a trace takes megabytes."""

_judges: list[Judge] = []
"""The judge of this process, once it was started."""


@dataclass(frozen=True)
class Judge:
    """Judges episodes of one cell; picklable."""

    cell: Cell
    parts: Catalogue

    def __call__(self, finished: Finished, key: EpisodeKey) -> Episode:
        """Judge one."""
        trace = finished.recorded.trace(finished.end, Arm(self.cell.robot))
        return judge(trace, Job.of(finished.scenario, self.cell, self.parts), key, reason=finished.reason)


class Verdict(NamedTuple):
    """An episode and what it was judged by."""

    episode: Episode
    finished: Finished


class _Case(NamedTuple):
    """An episode that waits for its verdict."""

    finished: Finished
    key: EpisodeKey
    future: Future[Episode]


class Jury:
    """Several judges; use as a context.

    Args:
        judge: Judges one episode.
        processes: How many processes; 0 judges in this one.
    """

    def __init__(self, judge: Judge, *, processes: int) -> None:
        self._judge, self._processes = judge, processes
        self._done: deque[Verdict] = deque()
        self._waiting: deque[_Case] = deque()
        self._pool: ProcessPoolExecutor | None = None
        self._files = ExitStack()

    def __enter__(self) -> Self:
        """Start the processes; they take up work as soon as they are ready."""
        if self._processes:
            one_thread()
            # Threads and CUDA do not survive a fork.
            context = multiprocessing.get_context("spawn")
            file = self._files.enter_context(handed(self._judge))
            self._pool = ProcessPoolExecutor(self._processes, mp_context=context, initializer=_start, initargs=(file,))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes."""
        with self._files:
            if self._pool is not None:
                self._pool.shutdown(cancel_futures=True)

    def add(self, finished: Finished, key: EpisodeKey) -> None:
        """Hand over an episode; waits where too many wait already."""
        if len(self._waiting) >= WAITING * max(self._processes, 1):
            self._done.append(self._verdict(self._waiting.popleft()))
        try:
            if self._pool is not None:
                self._waiting.append(_Case(finished, key, self._pool.submit(_judged, finished, key)))
                return
        except BrokenProcessPool:
            self._pool = None
        self._done.append(Verdict(self._judge(finished, key), finished))

    def judged(self, *, wait: bool = False) -> Iterator[Verdict]:
        """Yield the verdicts on episodes that were judged since the last call.

        Args:
            wait: Also wait for those that are still being judged.
        """
        while self._waiting and (wait or self._waiting[0].future.done()):
            self._done.append(self._verdict(self._waiting.popleft()))
        while self._done:
            yield self._done.popleft()

    def _verdict(self, case: _Case) -> Verdict:
        """Wait for a verdict; where a process was ended from outside, judge here: an episode is never lost for that."""
        try:
            return Verdict(case.future.result(), case.finished)
        except BrokenProcessPool:
            self._pool = None
            return Verdict(self._judge(case.finished, case.key), case.finished)


def judges(worlds: int) -> int:
    """Return how many processes suit so many worlds: none for a few, and one core is left to the simulator."""
    return 0 if worlds < 8 else max(1, min((os.cpu_count() or 1) - 1, worlds // 8))


def _start(file: Path) -> None:
    end_with_parent()
    # Who interrupts the command interrupts its parent, which ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _judges[:] = [take(file)]


def _judged(finished: Finished, key: EpisodeKey) -> Episode:
    return _judges[0](finished, key)
