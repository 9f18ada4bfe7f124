"""Progress of long commands: a bar on a terminal, plain lines elsewhere, JSON lines for machines."""

from __future__ import annotations

import json
import sys
import time
from types import TracebackType
from typing import Literal, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Style = Literal["bar", "lines", "json"]
LINE_EVERY_S = 2.0


def progress_style(as_json: bool) -> Style:
    """Choose how to show progress: what was asked for, or what the terminal can do."""
    if as_json:
        return "json"
    return "bar" if sys.stderr.isatty() else "lines"


class SceneProgress:
    """Shows scenes kept, scenes/s, pass rate and time left; writes to standard error."""

    def __init__(self, total: int, *, done: int, style: Style) -> None:
        self._total, self._kept, self._style = total, done, style
        self._done_before = done
        self._attempts = 0
        self._start = time.monotonic()
        self._last_line = float("inf")
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=Console(stderr=True)) if style == "bar" else None
        self._task = self._bar.add_task("scenes", total=total, completed=done, rate="") if self._bar else None

    def __enter__(self) -> Self:
        """Show the bar."""
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar, or print the last line."""
        if self._bar:
            self._bar.stop()
        elif self._kept > self._done_before:
            self._line()

    @property
    def seconds(self) -> float:
        """Time since the start [s]."""
        return time.monotonic() - self._start

    @property
    def rate(self) -> float:
        """Scenes kept a second by this run."""
        return (self._kept - self._done_before) / max(self.seconds, 1e-9)

    def add(self, *, kept: bool, rejected: int) -> None:
        """Count one index: whether it gave a scene, and how many attempts were rejected."""
        self._last_line = min(self._last_line, time.monotonic())  # the processes have started: now rates mean something
        self._kept += kept
        self._attempts += kept + rejected
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=self._kept, rate=self._rates())
        elif time.monotonic() - self._last_line > LINE_EVERY_S:
            self._last_line = time.monotonic()
            self._line()

    def _rates(self) -> str:
        share = (self._kept - self._done_before) / max(self._attempts, 1)
        return f"{self.rate:.0f} scenes/s, {share:.0%} pass"

    def _line(self) -> None:
        if self._style == "json":
            share = (self._kept - self._done_before) / max(self._attempts, 1)
            event = {"event": "progress", "kept": self._kept, "n": self._total, "scenes_per_s": round(self.rate, 1)}
            typer.echo(json.dumps({**event, "pass_rate": round(share, 4)}))
            return
        left = (self._total - self._kept) / max(self.rate, 1e-9)
        typer.echo(f"{self._kept}/{self._total} scenes, {self._rates()}, {left:.0f} s left", err=True)
