"""Films episodes of a run in a process of its own; what becomes of that process never touches the run."""

from __future__ import annotations

import importlib.util
import multiprocessing
import signal
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evaluator.judging.episode import Episode
from evaluator.rollout.film import FilmMaker
from evaluator.rollout.film_choice import FilmChoice, FilmsOf
from evaluator.rollout.stream import Finished
from evaluator.rollout.video_draft import draft_of
from scenegen.errors import MissingExtra, SceneGenError
from scenegen.pool import end_with_parent, one_thread

STALL_S = 120.0
"""Without a new picture for so long [s] a film is given up: the first one, which builds the scene, takes up to 30 s."""
LOOK_EVERY_S = 0.5
LOSSES = 2
"""After so many processes are lost, the films that are left are given up, too."""


@dataclass(frozen=True, eq=False)
class _Reel:
    """A video that is to be written."""

    finished: Finished
    path: Path


class _Studio:
    """One process that writes videos, one after another."""

    def __init__(self, maker: FilmMaker) -> None:
        one_thread()
        # Threads and CUDA do not survive a fork.
        context = multiprocessing.get_context("spawn")
        self._tasks: Any = context.Queue()
        self.answers, theirs = context.Pipe(duplex=False)
        self._pictures: Any = context.Value("Q", 0, lock=False)
        self._process = context.Process(
            target=_work, args=(self._tasks, theirs, self._pictures), daemon=True, name="films"
        )
        # Little is handed over at the start: that would block for ever if the process stopped before it took it.
        self._process.start()
        theirs.close()
        self._tasks.put(maker)

    @property
    def pictures(self) -> int:
        """How many pictures were drawn."""
        return self._pictures.value

    def put(self, reel: _Reel) -> None:
        """Hand over an episode; does not wait."""
        self._tasks.put((reel.finished.scenario, reel.finished.recorded, reel.path))

    def end(self, path: Path | None = None) -> str:
        """End the process, stopped or not, remove what it left of a video, and say how it had ended."""
        self._process.join(LOOK_EVERY_S)
        code = self._process.exitcode
        self._process.kill()
        self._process.join()
        self._tasks.cancel_join_thread()
        self._tasks.close()
        self.answers.close()
        if path is not None:
            draft_of(path, self._process.pid or 0).unlink(missing_ok=True)
        return f"its process ended with exit code {code}"


class Films:
    """Writes videos of some of the episodes that end, in a process of its own.

    A video that cannot be written is left out with a reason, whatever became of the process: killed, stopped, or
    without memory.

    Args:
        maker: Draws them.
        folder: Where they go; made with the first one.
        count: How many.
        of: Of which episodes.
        stall_s: How long a picture may take [s].

    Raises:
        MissingExtra: Some are wanted, and PyAV, which comes with the extra `isaac`, is not installed.

    Example:
        >>> with Films(FilmMaker(cell, parts), Path("videos"), 3) as films:  # doctest: +SKIP
        ...     for finished in stream.run(scenarios, ticked=ticked):
        ...         films.add(finished, judge(finished, key))
        >>> films.written, films.left_out  # doctest: +SKIP
    """

    def __init__(
        self,
        maker: FilmMaker,
        folder: Path,
        count: int,
        *,
        of: FilmsOf = FilmsOf.FAILURES_FIRST,
        stall_s: float = STALL_S,
    ) -> None:
        if count and importlib.util.find_spec("av") is None:
            raise MissingExtra("Writing videos", "isaac")
        self._maker, self._folder, self._stall_s = maker, folder, stall_s
        self._choice = FilmChoice[_Reel](of, count)
        self._studio: _Studio | None = None
        self._reels: list[_Reel] = []
        """Those that are still to be written, in order."""
        self._losses = 0
        self.written: list[Path] = []
        self.left_out: dict[Path, str] = {}
        """Videos that there will not be, and why."""

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Film what is left to be filmed and wait for it; after an error, drop it."""
        try:
            if error is None:
                for reel in self._choice.rest():
                    self._begin(reel)
            while error is None and self._reels:
                self._wait()
        finally:
            self._choice.end()
            if self._studio is not None:
                self._studio.end(self._reels[0].path if self._reels else None)
                self._studio = None

    @property
    def waiting(self) -> int:
        """How many videos are still to be written, as far as it was looked."""
        return len(self._reels) + self._choice.waiting

    def add(self, finished: Finished, episode: Episode) -> None:
        """Hand over an episode that ended and was judged; those beyond the count are left out. Does not wait.

        Its file is named by its scene, its place among the run's episodes, and how it came out.
        """
        how = episode.category or episode.outcome
        reel = _Reel(finished, self._folder / f"{finished.scenario.id[:12]}-{finished.index}-{how}.mp4")
        if self._choice.take(reel, success=episode.counts):
            self._begin(reel)

    def _begin(self, reel: _Reel) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self.left_out[reel.path] = f"its folder cannot be made: {error.strerror}"
            return
        self._reels.append(reel)
        if self._studio is None:
            self._studio = _Studio(self._maker)
        self._studio.put(reel)

    def _wait(self) -> None:
        """Wait for the first of the videos that are being written."""
        assert self._studio is not None
        reel, since, pictures = self._reels[0], time.monotonic(), self._studio.pictures
        while time.monotonic() < since + self._stall_s:
            if self._studio.answers.poll(LOOK_EVERY_S):
                try:
                    self._ended(reel, self._studio.answers.recv())
                except EOFError:
                    self._lose(reel, self._studio.end(reel.path))
                return
            if self._studio.pictures != pictures:
                since, pictures = time.monotonic(), self._studio.pictures
        self._studio.end(reel.path)
        self._lose(reel, f"its process drew no picture for {self._stall_s:g} s")

    def _ended(self, reel: _Reel, reason: str | None) -> None:
        self._reels.remove(reel)
        if reason is None:
            self.written.append(reel.path)
        else:
            self.left_out[reel.path] = reason

    def _lose(self, reel: _Reel, reason: str) -> None:
        """Leave out a video whose process is gone; another process writes the others."""
        self._ended(reel, reason)
        self._studio, self._losses = None, self._losses + 1
        if self._losses >= LOSSES:
            for one in list(self._reels):
                self._ended(one, "processes before it were lost")
        if self._reels:
            self._studio = _Studio(self._maker)
            for one in self._reels:
                self._studio.put(one)


def _work(tasks: Any, answers: Connection, pictures: Any) -> None:
    """Write videos until the process is ended."""
    end_with_parent()
    # Who interrupts the command interrupts its parent, which ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def drawn() -> None:
        pictures.value += 1

    maker: FilmMaker = tasks.get()
    while True:
        scenario, recorded, path = tasks.get()
        try:
            maker.write(scenario, recorded, path, drawn=drawn)
            reason = None
        except (SceneGenError, OSError, MemoryError, ValueError) as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        answers.send(reason)
