"""Progress of long commands: a bar on a terminal, plain lines elsewhere, JSON lines for machines."""

from __future__ import annotations

import json
import sys
import time
from types import TracebackType

import typer
from rich.progress import TextColumn

from scenegen.commands.counted import LINE_EVERY_S, Counted, Style, pace


def progress_style(as_json: bool) -> Style:
    """Choose how to show progress: what was asked for, or what the terminal can do."""
    if as_json:
        return "json"
    return "bar" if sys.stderr.isatty() else "lines"


class SceneProgress(Counted):
    """Shows scenes kept, scenes/s, pass rate and time left; writes to standard error."""

    def __init__(self, total: int, *, done: int, style: Style) -> None:
        super().__init__("scenes", total, style=style, done=done, extra=(TextColumn("{task.fields[rate]}"),))
        self._wanted = total
        self._done_before = done
        self._attempts = 0
        self._last_line = float("inf")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar, or print the last line."""
        super().__exit__(kind, error, trace)
        if not self._bar and self.done > self._done_before:
            self._line()

    def say(self, sentence: str) -> None:
        """Tell a sentence."""
        if self._bar:
            self._bar.console.print(sentence, markup=False, highlight=False)
        elif self._style != "json":
            typer.echo(sentence, err=True)

    @property
    def rate(self) -> float:
        """Scenes kept a second by this run."""
        return (self.done - self._done_before) / max(self.seconds, 1e-9)

    def add_index(self, *, kept: bool, rejected: int) -> None:
        """Count one index: whether it gave a scene, and how many attempts were rejected."""
        self._last_line = min(self._last_line, time.monotonic())  # the processes have started: now rates mean something
        self.done += kept
        self._attempts += kept + rejected
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=self.done, rate=self._rates())
        elif time.monotonic() - self._last_line > LINE_EVERY_S:
            self._last_line = time.monotonic()
            self._line()

    def _rates(self) -> str:
        share = (self.done - self._done_before) / max(self._attempts, 1)
        return f"{pace(self.rate, 'scenes/s')}, {share:.0%} pass"

    def _line(self) -> None:
        if self._style == "json":
            share = (self.done - self._done_before) / max(self._attempts, 1)
            event = {"event": "progress", "kept": self.done, "n": self._wanted, "scenes_per_s": round(self.rate, 1)}
            typer.echo(json.dumps({**event, "pass_rate": round(share, 4)}))
            return
        left = f", {(self._wanted - self.done) / self.rate:.0f} s left" if self.rate > 0 else ""
        typer.echo(f"{self.done}/{self._wanted} scenes, {self._rates()}{left}", err=True)
