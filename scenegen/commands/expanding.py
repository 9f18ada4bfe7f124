"""Runs an expansion: makes scenes index by index, keeps them, reports what came of it."""

from __future__ import annotations

import json
import time
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial

import typer
from rich.console import Console
from rich.table import Table

from library.commit import Commit
from library.intake import Intake
from library.row import Line
from scenegen.commands.asker import Asker, Talk
from scenegen.commands.counted import pace
from scenegen.commands.progress import SceneProgress, progress_style
from scenegen.commands.recipe import CHUNK, Recipe
from scenegen.errors import BudgetSpent, VlmError
from scenegen.expand import NO_MORE, NO_PROPOSAL, Expansion
from scenegen.pool import Demand, Worker, run_ordered

WRITE_EVERY_S = 1.0
"""Time between writes to the journal [s]: what a kill can cost; an interruption costs nothing that was made."""
GIVE_UP_AFTER = 20
"""Exhausted indices after which an expansion that hardly gives anything stops."""
BASES_AT_ONCE = 16
"""Most bases that a model is asked about before scenes are made of what it proposed."""
REASONS = 10
"""Most reasons for dropped proposals that the report names."""


@dataclass
class Expanding:
    """One run of an expansion, which may continue an earlier one.

    Args:
        intake: Keeps what is made.
        recipe: Makes it.
        n: How many scenes are wanted in all.
        processes: How many processes work.
        as_json: Whether progress and report are JSON.
    """

    intake: Intake
    recipe: Recipe
    n: int
    processes: int
    as_json: bool
    _pending: list[Line] = field(default_factory=list)
    _worker: Worker | None = None

    def run(self, asker: Asker | None = None) -> None:
        """Make scenes until n are kept, in the order of their indices, publish them, and report.

        Args:
            asker: Asks a model for proposals; None draws by level.

        Raises:
            VlmError: A model that is asked gave no reply; what was made is kept and reported.
            BudgetSpent: A model may cost no more; what was made is kept and reported.
        """
        self._before, self._written, commit = self.intake.tally.kept, time.monotonic(), None
        stopped: VlmError | BudgetSpent | None = None
        with SceneProgress(self.n, done=self._before, style=progress_style(self.as_json)) as self._progress:
            try:
                if asker is None:
                    self._make(self.recipe, end=3 * self.n + 100)
                else:
                    asker.say = self._progress.say
                    self._propose(asker)
            except (VlmError, BudgetSpent) as error:
                stopped = error
            finally:
                self.intake.add(self._pending)
                self.intake.attach(asker.files if asker else {})
                commit = self.intake.publish(self._message())
        _report(self, commit, asker.talk if asker else None, stopped=stopped is not None)
        if stopped is not None:
            raise stopped

    @property
    def progress(self) -> SceneProgress:
        """What shows how far it is."""
        return self._progress

    def _propose(self, asker: Asker) -> None:
        """Ask about as many bases as are needed, make what was proposed; ask about more while scenes are missing."""
        per_base, tally, first = self.recipe.expansion.per_base, self.intake.tally, 0
        most = 5 * -(-self.n // per_base) + 5
        expander = self.recipe.expander()
        recipe = replace(self.recipe, proposals=asker.ways, review=asker.review if asker.judges else None)
        while tally.kept < self.n and first < most and not self._hopeless():
            bases = range(first, min(most, first + BASES_AT_ONCE, first + -(-(self.n - tally.kept) // per_base)))
            first = bases.stop
            open_ = [b for b in bases if not tally.indices.issuperset(range(b * per_base, (b + 1) * per_base))]
            failed = asker.ask(expander, open_)
            self.intake.attach(asker.files)  # before any scene is published that names them
            unanswered = frozenset(i for b in failed for i in range(b * per_base, (b + 1) * per_base))
            self._make(recipe, end=first * per_base, skip=unanswered)
            for error in failed.values():
                raise error

    def _make(self, recipe: Recipe, *, end: int, skip: frozenset[int] = frozenset()) -> None:
        """Make the indices below an end, but for some, until enough scenes are kept."""
        tally = self.intake.tally
        demand = Demand(wanted=self.n - tally.kept, end=end, skip=skip | tally.indices)
        processes = 1 if recipe.review else max(1, min(self.processes, -(-demand.wanted // max(recipe.chunk, CHUNK))))
        worker = recipe if processes > 1 else partial(self._own_worker, recipe)
        with closing(run_ordered(worker, demand, processes=processes, chunk=recipe.chunk)) as made:
            for _, line in made:
                tally.add_line(line)
                self._pending.append(line)
                kept = line.scenario_id is not None
                demand.wanted -= kept
                self._progress.add_index(kept=kept, rejected=sum(line.rejected.values()))
                if self._hopeless():
                    demand.wanted = 0
                if time.monotonic() > self._written + WRITE_EVERY_S:
                    self._write()

    def _own_worker(self, recipe: Recipe) -> Worker:
        """Build this process' worker, once: what is proposed later reaches it."""
        if self._worker is None:
            self._worker = recipe()
        return self._worker

    def _write(self) -> None:
        self.intake.add(self._pending)
        self._pending, self._written = [], time.monotonic()
        if self.intake.due:
            self.intake.publish(self._message())

    def _message(self) -> str:
        expansion: Expansion = self.recipe.expansion
        levels = f" levels {','.join(map(str, expansion.levels))}" if expansion.proposer is None else " by proposals"
        return f"expand {', '.join(expansion.axes)}{levels}: {self.intake.tally.kept} of {self.n} scenes"

    def _hopeless(self) -> bool:
        """Tell whether hardly any index gives a scene, so that going on would only burn time.

        Indices for which nothing, or nothing more, was proposed do not count: they burn none.
        """
        tally = self.intake.tally
        exhausted = tally.exhausted - tally.rejected[NO_PROPOSAL] - tally.rejected[NO_MORE]
        return exhausted >= GIVE_UP_AFTER and exhausted > 4 * (tally.kept - self._before)


def _report(run: Expanding, commit: Commit | None, talk: Talk | None, *, stopped: bool) -> None:
    recipe, tally, n, progress = run.recipe, run.intake.tally, run.n, run.progress
    attempts = tally.kept + sum(tally.rejected.values())
    facts = {
        "event": "done",
        "library": recipe.folder,
        "commit": commit.content_id if commit else None,
        "expansion": recipe.expansion.content_id,
        "kept": tally.kept,
        "n": n,
        "twins": len(tally.bases),
        "exhausted_indices": tally.exhausted,
        "rejected": dict(tally.rejected.most_common()),
        "seconds": round(progress.seconds, 2),
        "scenes_per_s": round(progress.rate, 1),
    }
    if talk is not None:
        facts["asked"] = vars(talk)
    if run.as_json:
        typer.echo(json.dumps(facts))
        return
    typer.echo(
        f"kept {tally.kept} of {n} scenes with {len(tally.bases)} unperturbed twins in {recipe.folder} "
        f"({pace(progress.rate, 'scenes/s')}, {progress.seconds:.1f} s)"
    )
    if commit:
        typer.echo(f"committed as {commit.branch}@{commit.number} ({commit.content_id[:12]})")
    if talk is not None:
        _report_talk(talk)
    if tally.rejected:
        table = Table("rejected by", "times", "of attempts", title="rejected attempts", title_justify="left")
        for reason, count in tally.rejected.most_common():
            table.add_row(reason, str(count), f"{count / attempts:.1%}")
        Console().print(table)
    if tally.kept < n and not stopped:  # an error that stopped it says why
        worst = tally.rejected.most_common(1)[0][0] if tally.rejected else "nothing"
        typer.echo(
            f"scenegen: only {tally.kept} of {n} scenes; {tally.exhausted} indices gave none, most often for {worst}"
            " - widen the cell's envelope, lower --levels, or look at one with `scenegen check`",
            err=True,
        )


def _report_talk(talk: Talk) -> None:
    at_once, once, twice = talk.valid_after
    money = "" if talk.usd is None else f", {talk.usd:.4g} USD"
    typer.echo(
        f"the model: {talk.calls} replies, {talk.tokens} tokens{money}, {talk.seconds:.0f} s; proposals: "
        f"{talk.accepted} accepted ({at_once} at once, {once} after one repair, {twice} after two), "
        f"{talk.dropped} dropped"
    )
    for reason, count in talk.reasons.most_common(REASONS):
        typer.echo(f"dropped{f' {count} times' if count > 1 else ''}: {reason}")
    if talk.judged:
        unread = f", {talk.unread} opinions could not be read" if talk.unread else ""
        typer.echo(f"{talk.judged} scenes judged, {talk.rejected} rejected{unread}")
