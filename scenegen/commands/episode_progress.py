"""Progress of rollouts: episodes kept, successes, how far the worlds are and how fast."""

from __future__ import annotations

import json
import time
from types import TracebackType

import typer
from rich.progress import TextColumn

from evaluator.judging.episode import Episode
from evaluator.rollout.pace import Pace
from scenegen.commands.counted import LINE_EVERY_S, Counted, Style

QUIET_S = 30.0
"""A line at least this often [s], although no episode ended."""


class EpisodeProgress(Counted):
    """Shows how rollouts go; writes to standard error."""

    def __init__(self, total: int, *, done: int, style: Style) -> None:
        super().__init__("episodes", total, style=style, done=done, extra=(TextColumn("{task.fields[rate]}"),))
        self._wanted, self._before = total, done
        self._good, self._simulated_s = 0, 0.0
        self._pace = Pace(0, 0.0, 0.0, 0.0)
        self._begun: float | None = None
        self._shown = done
        """How many episodes the last line spoke of."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar, or print the last line."""
        super().__exit__(kind, error, trace)
        if self._bar is None and self.done > self._shown:
            self._show()

    def say(self, sentence: str) -> None:
        """Tell a sentence."""
        typer.echo(sentence, err=True)

    def tick(self, pace: Pace) -> None:
        """Count a tick of the worlds that play."""
        self._begun = self._begun or time.monotonic()
        self._simulated_s, self._pace = self._simulated_s + pace.worlds * pace.tick_s, pace
        if time.monotonic() - self._last_line > QUIET_S:
            self._show()

    def ended(self, episode: Episode) -> None:
        """Count an episode that is kept."""
        self.done += 1
        self._good += episode.counts is True
        if self._bar is not None or time.monotonic() - self._last_line > LINE_EVERY_S:
            self._show()

    def _show(self) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self.done, rate=self._rates())
            return
        self._last_line, self._shown = time.monotonic(), self.done
        if self._style == "json":
            facts = {"event": "progress", "done": self.done, "total": self._wanted, "success": self._good}
            facts |= {"worlds": self._pace.worlds, "simulated_s_per_s": round(self._rate(self._simulated_s), 3)}
            typer.echo(json.dumps({**facts, "oldest_s": round(self._pace.age_s, 2)}))
            return
        typer.echo(f"{self.done}/{self._wanted} episodes, {self._rates()}", err=True)

    def _rates(self) -> str:
        fresh = self.done - self._before
        success = f"{self._good / fresh:.0%} success, " if fresh else ""
        worlds, _, age_s, allowed_s = self._pace
        oldest = f"{worlds} worlds, the oldest episode at {age_s:.0f} of {allowed_s:.0f} s"
        return f"{success}{oldest}, {self._rate(self._simulated_s):.2g} s simulated a second"

    def _rate(self, count: float) -> float:
        return count / max(time.monotonic() - (self._begun or time.monotonic()), 1e-9)
