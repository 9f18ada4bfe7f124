"""Progress of commands that work through things one by one: a bar on a terminal, plain or JSON lines elsewhere."""

from __future__ import annotations

import json
import time
from types import TracebackType
from typing import Literal, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

Style = Literal["bar", "lines", "json"]
LINE_EVERY_S = 2.0


class Counted:
    """Shows how many of some things are done, and how fast; writes to standard error.

    Args:
        what: The things, in the plural.
        total: How many there are; None if nobody knows.
        style: How to show it.
        done: How many were done before.
        extra: More columns of the bar.
    """

    def __init__(
        self, what: str, total: int | None, *, style: Style, done: int = 0, extra: tuple[ProgressColumn, ...] = ()
    ) -> None:
        self._what, self._total, self._style = what, total, style
        self.done = done
        self._start = time.monotonic()
        self._last_line = self._start
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), *extra, TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True)) if style == "bar" else None
        self._task = self._bar.add_task(what, total=total, completed=done, rate="") if self._bar else None

    def __enter__(self) -> Self:
        """Show the bar."""
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar."""
        if self._bar:
            self._bar.stop()

    @property
    def seconds(self) -> float:
        """Time since the start [s]."""
        return time.monotonic() - self._start

    def add(self, count: int = 1) -> None:
        """Count things that are done."""
        self.done += count
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=self.done)
        elif time.monotonic() - self._last_line > LINE_EVERY_S:
            self._last_line = time.monotonic()
            self._line()

    def _line(self) -> None:
        rate = self.done / max(self.seconds, 1e-9)
        if self._style == "json":
            facts = {"event": "progress", "done": self.done, "total": self._total, "per_s": round(rate, 1)}
            typer.echo(json.dumps(facts))
            return
        of = f"/{self._total}" if self._total is not None else ""
        typer.echo(f"{self.done}{of} {self._what}, {pace(rate)}", err=True)


def pace(rate: float, each: str = "a second") -> str:
    """Say how fast things are done: how many a second, or, of slow ones, how long each takes.

    Args:
        rate: How many a second.
        each: What follows a number of things a second.
    """
    if 0 < rate < 1:
        return f"{1 / rate:.{0 if rate <= 0.1 else 1}f} s each"
    return f"{rate:.{0 if rate >= 10 else 1}f} {each}"
