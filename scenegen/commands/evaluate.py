"""`scenegen evaluate`: roll a policy out over the scenes of a library, and keep every episode."""

from __future__ import annotations

import json
from collections.abc import Iterator

import typer
from rich.console import Console
from rich.table import Table

from evaluator.judging.episode import Episode
from evaluator.judging.estimate import Estimate
from evaluator.judging.scorecard import Scorecard, score
from evaluator.judging.stability import flip_rate
from evaluator.rollout.attempts import Attempts
from evaluator.rollout.run import Run
from evaluator.rollout.runner import Runner, Setting, Task
from evaluator.rollout.simulators import Simulator
from library.commit import MAIN
from library.layers import Layers
from library.snapshot import Snapshot
from library.tables import EPISODES
from scenegen.commands.episode_progress import EpisodeProgress
from scenegen.commands.exits import EXIT_FINDINGS
from scenegen.commands.opened import LIBRARY, VERSION, open_version
from scenegen.commands.progress import progress_style
from scenegen.errors import InvalidOption, LibraryError
from scenegen.streams import stream

app = typer.Typer()


@app.command()
def evaluate(
    library: str = LIBRARY,
    version: str = VERSION,
    policy: str = typer.Option(
        ..., help="oracle, vision, noop, random, python:MODULE:ATTR, openpi:ws://…, groot:tcp://…"
    ),
    n: int = typer.Option(0, min=0, help="Most scenes; 0 takes all."),
    where: str = typer.Option("", help="A condition in SQL, for example \"axis = 'lighting' AND level >= 3\"."),
    simulator: Simulator = typer.Option(
        Simulator.NEWTON.value, help="newton (Isaac Lab), or kinematic: no physics, a dry run in seconds."
    ),
    num_envs: int = typer.Option(4, min=1, help="Worlds that run side by side."),
    device: str = typer.Option("cpu", help="cpu, or cuda:0."),
    latency: str = typer.Option("measured", help="measured, seconds, or a file with a target device's times."),
    repeats: int = typer.Option(1, min=1, help="How often each scene is rolled out; the first counts."),
    seed: int = typer.Option(0, help="For policies that draw numbers, and for latencies."),
    branch: str = typer.Option(MAIN, help="Branch that the episodes are committed to."),
    as_json: bool = typer.Option(False, "--json", help="Progress and scorecard as JSON."),
) -> None:
    """Roll a policy out, every scene once; run it again to continue.

    Episodes are committed to the library as they end. Exit code 1 if so many are missing that the run shows nothing.
    """
    store, snapshot = open_version(library, version)
    chosen = [row for row in snapshot.rows(where=where or None)][: n or None]
    if not chosen or snapshot.commit is None:
        raise InvalidOption("--where", where, "a condition that some scenes of the version meet")
    if (cells := len({row.frame for row in chosen})) > 1:
        raise LibraryError(str(store.folder), f"the scenes are of {cells} cells", "choose those of one: --where")
    cell, parts = Layers(store, snapshot).cell_and_parts(chosen[0])
    run = Run.here(
        policy=policy, version=snapshot.commit.content_id, latency=latency, seed=seed, device=device,
        simulator=simulator.versions,
    )  # fmt: skip
    attempts = Attempts(run.content_id, seed=seed, repeats=repeats, episodes=episodes_of(store.at(branch), run))
    left = [(row, key) for row in chosen for key in attempts.missing(row.scenario_id)]
    if left:
        setting = Setting(cell, parts, simulator.lines(cell, parts, device=device), num_envs)
        tasks = (Task(snapshot.scenario(row), key) for row, key in left)
        total = len(chosen) * repeats
        with EpisodeProgress(total, done=total - len(left), style=progress_style(as_json)) as progress:
            runner = Runner(store, branch=branch, setting=setting, say=progress.say, ticked=progress.tick)
            for episode in runner.roll(run, tasks, len(left)):
                attempts.add(episode)
                progress.ended(episode)
    found = attempts.of(row.scenario_id for row in chosen)
    origins = {row.scenario_id: row.provenance for row in chosen}
    card = score(found, origins, cell.limits, rng=stream(seed, "scorecard"))
    flips = flip_rate(attempts.ranked(0), attempts.ranked(1)) if repeats > 1 else None
    _print(run, card, as_json=as_json)
    if flips is not None:
        typer.echo(f"outcomes that flip when a scene is rolled out again: {flips}", err=as_json)
    if card.refusal:
        raise typer.Exit(EXIT_FINDINGS)


def episodes_of(snapshot: Snapshot, run: Run) -> Iterator[Episode]:
    """Yield the kept episodes of a run."""
    for batch in snapshot.table(EPISODES.name).batches(where=f"run_id = '{run.content_id}'"):
        for columns in batch.to_pylist():
            yield Episode.of(columns)


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
