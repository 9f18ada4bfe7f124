"""Stream numbered work through processes: results come back in order, and never more is begun than is wanted."""

from __future__ import annotations

import gc
import multiprocessing
import multiprocessing.connection
import multiprocessing.forkserver
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenegen.errors import ProcessLost
from scenegen.handed import handed, take

Worker = Callable[[list[int]], list[Any]]
"""From some indices to one result each, in their order."""

_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
"""What keeps numpy to one thread in each process: there are as many processes as cores."""

_workers: list[Worker] = []
"""The worker of this process, once it was started."""


@dataclass
class Demand:
    """How much is still wanted; the consumer lowers `wanted` while it iterates over results."""

    wanted: int
    """Results that are still wanted; a result that does not count leaves it as it is."""
    end: int
    """No index at or beyond this one is begun."""
    skip: frozenset[int] = frozenset()
    """Indices that are done already."""
    cursor: int = field(default=0, init=False)
    """The next index to begin."""

    def next_chunk(self, size: int, in_flight: int) -> list[int]:
        """Take the next indices to begin: at most up to a multiple of `size`, at most as many as are missing."""
        missing = self.wanted - in_flight
        chunk: list[int] = []
        while len(chunk) < missing and self.cursor < self.end:
            if self.cursor not in self.skip:
                chunk.append(self.cursor)
            self.cursor += 1
            if self.cursor % size == 0 and chunk:
                break
        return chunk


def run_ordered(
    make_worker: Callable[[], Worker], demand: Demand, *, processes: int, chunk: int, forks: bool = True
) -> Generator[tuple[int, Any]]:
    """Yield (index, result) in the order of the indices until the demand is met.

    Args:
        make_worker: Called once in each process; picklable.
        demand: Read before every new chunk; the consumer changes it while it iterates.
        processes: Number of processes; 1 works in this process.
        chunk: Most indices a chunk; chunks end at multiples of it, so that neighbours share a process.
        forks: Whether processes may fork from one that has imported everything; not for what opens Lance tables, whose
            threads do not survive a fork.

    Raises:
        ProcessLost: A process ended, for want of memory or since somebody ended it.
    """
    if processes == 1:
        worker = make_worker()
        while indices := demand.next_chunk(chunk, 0):
            yield from zip(indices, worker(indices), strict=True)
        return
    one_thread()
    context = multiprocessing.get_context("forkserver" if forks else "spawn")
    if forks:
        begin_imports(make_worker.__module__)
    with (
        handed(make_worker) as recipe,
        ProcessPoolExecutor(processes, mp_context=context, initializer=_start, initargs=(recipe,)) as pool,
    ):
        pending: deque[tuple[list[int], Future[list[Any]]]] = deque()
        done = False
        try:
            while True:
                in_flight = sum(len(indices) for indices, _ in pending)
                while len(pending) < 3 * processes and (indices := demand.next_chunk(chunk, in_flight)):
                    with _interrupts_held():
                        pending.append((indices, pool.submit(_work, indices)))
                    in_flight += len(indices)
                if not pending:
                    done = True
                    return
                indices, future = pending.popleft()
                yield from zip(indices, future.result(), strict=True)
        except BrokenProcessPool as error:
            raise ProcessLost(processes) from error
        finally:
            if not done:  # interrupted, failed, or no longer wanted
                for process in multiprocessing.active_children():
                    process.terminate()


def begin_imports(module: str) -> None:
    """Let what processes fork from import all that they need, once, while this process goes on.

    Args:
        module: Where the workers' maker is defined.
    """
    one_thread()
    multiprocessing.get_context("forkserver").set_forkserver_preload(["__main__", module])
    multiprocessing.forkserver.ensure_running()


def one_thread() -> None:
    """Let processes that are started from now on compute in one thread each."""
    for name in _ONE_THREAD:
        os.environ.setdefault(name, "1")


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold an interrupt back; a process that is started meanwhile never sees one, and leaves it to its parent."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(recipe: Path) -> None:
    """Build this process' worker.

    Args:
        recipe: File with what makes it: a parent goes on while a new process imports all that is in it, so that
            processes start side by side.
    """
    end_with_parent()
    _workers[:] = [take(recipe)()]
    gc.freeze()  # what was built lives as long as the process: the garbage collector need not go through it


def end_with_parent() -> None:
    """Let this process end when its parent is gone, even if that was killed."""
    threading.Thread(target=_watch_parent, daemon=True).start()


def _watch_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    multiprocessing.connection.wait([parent.sentinel])
    os._exit(1)


def _work(indices: list[int]) -> list[Any]:
    return _workers[0](indices)
