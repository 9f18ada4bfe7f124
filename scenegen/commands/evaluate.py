"""`scenegen evaluate`: roll a policy out over the scenes of a library, and keep every episode."""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Iterator
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from evaluator.judging.episode import Episode, EpisodeKey
from evaluator.judging.estimate import Estimate
from evaluator.judging.job import Job
from evaluator.judging.judge import judge
from evaluator.judging.scorecard import Scorecard, score
from evaluator.policies.action_range import ActionRange
from evaluator.policies.checked import Checked
from evaluator.policies.context import PolicyContext
from evaluator.policies.latency import parse_latency
from evaluator.policies.registry import make_policy
from evaluator.rollout.run import Run
from evaluator.rollout.stream import Stream
from library.commit import MAIN
from library.layers import Layers
from library.row import Row
from library.snapshot import Snapshot
from library.tables import EPISODES, RUNS, Columns
from library.versioned import Changes, Signature, VersionedLibrary
from scenegen.cell import Cell
from scenegen.commands.exits import EXIT_FINDINGS
from scenegen.commands.opened import LIBRARY, VERSION, open_version
from scenegen.commands.progress import SceneProgress, progress_style
from scenegen.errors import InvalidOption, LibraryError, MissingExtra
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Scenario
from scenegen.streams import stream

PUBLISH_EVERY_S = 10.0
"""Time between commits of episodes [s]: what a kill can cost."""

app = typer.Typer()


@app.command()
def evaluate(
    library: str = LIBRARY,
    version: str = VERSION,
    policy: str = typer.Option(..., help="oracle, noop, random, python:MODULE:ATTR, openpi:ws://…, groot:tcp://…"),
    n: int = typer.Option(0, min=0, help="Most scenes; 0 takes all."),
    where: str = typer.Option("", help="A condition in SQL, for example \"axis = 'lighting' AND level >= 3\"."),
    num_envs: int = typer.Option(4, min=1, help="Worlds that run side by side."),
    device: str = typer.Option("cpu", help="cpu, or cuda:0."),
    latency: str = typer.Option("measured", help="measured, seconds, or a file with a target device's times."),
    seed: int = typer.Option(0, help="For policies that draw numbers, and for latencies."),
    branch: str = typer.Option(MAIN, help="Branch that the episodes are committed to."),
    as_json: bool = typer.Option(False, "--json", help="Progress and scorecard as JSON."),
) -> None:
    """Roll a policy out in Isaac Lab, every scene once; run it again to continue.

    Episodes are committed to the library as they end. Exit code 1 if so many are missing that the run shows nothing.
    """
    store, snapshot = open_version(library, version)
    chosen = [row for row in snapshot.rows(where=where or None)][: n or None]
    if not chosen or snapshot.commit is None:
        raise InvalidOption("--where", where, "a condition that some scenes of the version meet")
    frames = {row.frame for row in chosen}
    if len(frames) > 1:
        raise LibraryError(str(store.folder), f"the scenes are of {len(frames)} cells", "choose those of one: --where")
    cell, parts = Layers(store, snapshot).cell_and_parts(chosen[0])
    run = Run.here(policy=policy, version=snapshot.commit.content_id, latency=latency, seed=seed, device=device)
    known = {episode.key.scenario_id: episode for episode in episodes_of(store.at(branch), run)}
    left = [row for row in chosen if row.scenario_id not in known]
    found = dict(known)
    if left:
        context = PolicyContext(cell, parts, seed)
        made = make_policy(policy, context)
        checked = Checked(made, ActionRange.of(made.spec.action, cell.robot))
        try:
            rollout = _Rollout(store, snapshot, run, cell, parts, branch=branch)
            rollout.roll(
                checked, left, worlds=min(num_envs, len(left)), device=device, latency=latency, as_json=as_json
            )
            found |= rollout.episodes
        finally:
            checked.close()
    origins = {row.scenario_id: row.provenance for row in chosen}
    episodes = [found[row.scenario_id] for row in chosen if row.scenario_id in found]
    card = score(episodes, origins, cell.limits, rng=stream(seed, "scorecard"))
    _print(run, card, as_json=as_json)
    if card.refusal:
        raise typer.Exit(EXIT_FINDINGS)


def episodes_of(snapshot: Snapshot, run: Run) -> Iterator[Episode]:
    """Yield the kept episodes of a run."""
    for batch in snapshot.table(EPISODES.name).batches(where=f"run_id = '{run.content_id}'"):
        for columns in batch.to_pylist():
            yield Episode.of(columns)


class _Rollout:
    """Rolls scenes out and commits what they gave."""

    def __init__(
        self, store: VersionedLibrary, snapshot: Snapshot, run: Run, cell: Cell, parts: Catalogue, *, branch: str
    ) -> None:
        self._store, self._snapshot, self._run, self._branch = store, snapshot, run, branch
        self._cell, self._parts = cell, parts
        self._waiting: list[Columns] = []
        self._published = time.monotonic()
        self.episodes: dict[str, Episode] = {}

    def roll(self, policy: Checked, rows: list[Row], *, worlds: int, device: str, latency: str, as_json: bool) -> None:
        typer.echo(f"building {worlds} worlds on {device}: the first time takes minutes", err=True)
        opened = _isaac().open_line(self._cell, self._parts, count=worlds, device=device)
        scenarios = ((index, self._snapshot.scenario(row)) for index, row in enumerate(rows))
        with opened as line, SceneProgress(len(rows), done=0, style=progress_style(as_json)) as progress:
            delay = parse_latency(latency, seed=self._run.seed)
            streamed = Stream(line, policy, self._cell, self._parts, latency=delay)
            try:
                for finished in streamed.run(scenarios, ticked=lambda busy: None):
                    episode = self._judged(finished.scenario, finished.trace, finished.reason)
                    self.episodes[finished.scenario.id] = episode
                    self._waiting.append(episode.columns())
                    progress.add_index(kept=True, rejected=0)
                    if time.monotonic() > self._published + PUBLISH_EVERY_S:
                        self._publish()
            finally:
                self._publish()

    def _judged(self, scenario: Scenario, trace: Any, reason: str | None) -> Episode:
        key = EpisodeKey(run_id=self._run.content_id, scenario_id=scenario.id, seed=self._run.seed)
        return judge(trace, Job.of(scenario, self._cell, self._parts), key, reason=reason)

    def _publish(self) -> None:
        if self._waiting:
            rows: dict[str, list[Columns]] = {EPISODES.name: self._waiting, RUNS.name: [self._run.columns()]}
            message = f"evaluate {self._run.policy}: {len(self._waiting)} episodes"
            self._store.publish(Changes(rows=rows), Signature.here(message), branch=self._branch)
            self._waiting, self._published = [], time.monotonic()


def _isaac() -> Any:
    """Load what needs Isaac Lab."""
    try:
        return importlib.import_module("evaluator.isaac.line")
    except ModuleNotFoundError as error:
        raise MissingExtra("Rolling out", "isaac") from error


def _print(run: Run, card: Scorecard, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"event": "done", "run": run.content_id, **card.model_dump(mode="json")}))
        return
    typer.echo(
        f"run {run.content_id[:12]}: {run.policy}, {card.episodes} episodes, success {_share(card.success.rate)}"
    )
    if card.refusal:
        typer.echo(f"it shows nothing: {card.refusal}")
    table = Table("axis", "level", "success", "failures", title="success by axis and level", title_justify="left")
    for one in card.levels:
        failures = ", ".join(f"{name.value} {count}" for name, count in one.categories.items())
        table.add_row(one.axis or "base", str(one.level), _share(one.success.rate), failures)
    Console().print(table)
    known = Table("measure", "mean", "95 % interval", title="measures", title_justify="left")
    for name, estimate in card.measures.items():
        if estimate.value is not None:
            known.add_row(name, f"{estimate.value:.4g}", _interval(estimate))
    Console().print(known)


def _share(estimate: Estimate) -> str:
    value = "?" if estimate.value is None else f"{estimate.value:.0%}"
    return f"{value} {_interval(estimate)}"


def _interval(estimate: Estimate) -> str:
    low, high = (("?" if one is None else f"{one:.3g}") for one in (estimate.low, estimate.high))
    return f"[{low}, {high}]"
