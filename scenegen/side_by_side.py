"""Run jobs that take turns, so that the scenes which they want settled come to rest together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from scenegen.errors import SceneGenError
from scenegen.physics.settle import Settled
from scenegen.physics.settling import SettleAnswer, SettleRequest, SettlesMany
from scenegen.scenario import Layout, Matter

AHEAD = 4
"""How many times as many jobs as run at once may be begun before the oldest is done: results wait for their turn."""


class _Stopped(Exception):
    """A job is not wanted any more; raised where it waits."""


@dataclass
class _Job:
    """A job in a thread of its own, which works only while it has its turn."""

    index: int
    turn: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    future: Future[Any] | None = None
    asks: SettleRequest | None = None
    answer: SettleAnswer | _Stopped | None = None


class SideBySide:
    """Lets jobs use one settler as if each had it alone.

    A job works until it calls `settle`; then another one has its turn. What all of them wait for is settled together.
    No two jobs ever work at the same time, and turns change nowhere else: what they share needs no locks.

    Example:
        >>> together = SideBySide(many, at_once=512)  # doctest: +SKIP
        >>> verdicts = list(together.run(partial(check, scenario) for scenario in scenarios))  # doctest: +SKIP
    """

    def __init__(self, many: SettlesMany, *, at_once: int) -> None:
        """Share a settler.

        Args:
            many: The settler.
            at_once: Most jobs that are begun and not done.
        """
        self._many, self._at_once = many, at_once
        self._back = threading.Semaphore(0)
        self._current: _Job | None = None

    @property
    def engine(self) -> str:
        """The settler's simulators and versions."""
        return self._many.engine

    def settle(self, layout: Layout, matter: Matter, *, limit_s: float = 2.0, nudge: bool = True) -> Settled:
        """Settle a scene; within a job, together with those of the other jobs. See `Settler.settle`."""
        job = self._current
        if job is None:
            return self._many.settle(layout, matter, limit_s=limit_s, nudge=nudge)
        job.asks = SettleRequest(layout, matter, limit_s, nudge)
        self._back.release()
        job.turn.acquire()
        answer, job.answer = job.answer, None
        if isinstance(answer, SceneGenError | _Stopped):
            raise answer
        assert answer is not None
        return answer

    def run[T](self, jobs: Iterable[Callable[[], T]]) -> Iterator[T]:
        """Run jobs side by side.

        Args:
            jobs: Taken one after the other, as others are done.

        Yields:
            Their results, in their order; what a job raises is raised in its place, and ends all others.
        """
        waiting, results, due = enumerate(jobs), dict[int, Future[T]](), 0
        open_jobs: dict[int, _Job] = {}
        with ThreadPoolExecutor(self._at_once) as pool:
            try:
                begun, more = 0, True
                while more or open_jobs or results:
                    while more and len(open_jobs) < self._at_once and begun < due + AHEAD * self._at_once:
                        index, work = next(waiting, (-1, None))
                        if work is None:
                            more = False
                            break
                        begun = index + 1
                        self._begin(pool, work, index, open_jobs, results)
                    while due in results:
                        yield results.pop(due).result()
                        due += 1
                    for ticket, answer in self._many.advance() if open_jobs else ():
                        self._go_on(open_jobs[ticket], answer, open_jobs, results)
            finally:
                self._stop(open_jobs)

    def _begin[T](
        self,
        pool: ThreadPoolExecutor,
        work: Callable[[], T],
        index: int,
        open_jobs: dict[int, _Job],
        results: dict[int, Future[T]],
    ) -> None:
        job = open_jobs[index] = self._current = _Job(index)
        job.future = pool.submit(work)
        job.future.add_done_callback(lambda _: self._back.release())
        self._wait(job, open_jobs, results)

    def _go_on(
        self, job: _Job, answer: SettleAnswer, open_jobs: dict[int, _Job], results: dict[int, Future[Any]]
    ) -> None:
        self._current, job.answer = job, answer
        job.turn.release()
        self._wait(job, open_jobs, results)

    def _wait(self, job: _Job, open_jobs: dict[int, _Job], results: dict[int, Future[Any]]) -> None:
        """Wait until a job asks for a settle or is done."""
        self._back.acquire()
        self._current = None
        if job.asks is not None:
            asks, job.asks = job.asks, None
            self._many.submit(job.index, asks)
            return
        assert job.future is not None
        results[job.index] = open_jobs.pop(job.index).future or job.future

    def _stop(self, open_jobs: dict[int, _Job]) -> None:
        """End the jobs that still wait, and forget what they asked for."""
        working, self._current = self._current, None
        if working is not None:  # interrupted while a job worked: it works on until it asks or is done
            self._back.acquire()
            if working.asks is None:
                open_jobs.pop(working.index)
        for job in open_jobs.values():
            job.answer = _Stopped()
            job.turn.release()
            self._back.acquire()
        self._many.forget()
