"""`scenegen evaluate`: roll a policy out over the scenes of a library, and keep every episode."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from evaluator.judging.episode import Episode, EpisodeKey
from evaluator.judging.scorecard import Scorecard, score
from evaluator.judging.stability import repeated_flip_rate
from evaluator.report.grids import SHORT, causes_grid
from evaluator.report.run_report import Causes
from evaluator.rollout.attempts import Attempts
from evaluator.rollout.explain import Explainer
from evaluator.rollout.film import FilmMaker
from evaluator.rollout.film_choice import FilmsOf
from evaluator.rollout.films import Films
from evaluator.rollout.kept import episodes_of_run
from evaluator.rollout.kept_uses import use_of_run
from evaluator.rollout.loaded import loaded
from evaluator.rollout.run import Run
from evaluator.rollout.runner import Runner, Setting, Task
from evaluator.rollout.scene_set import scene_set
from evaluator.rollout.simulators import Simulator
from library.certificate import certified
from library.commit import MAIN
from library.layers import Layers
from library.row import Row
from library.snapshot import Snapshot
from scenegen.commands.episode_progress import EpisodeProgress
from scenegen.commands.exits import EXIT_FINDINGS
from scenegen.commands.library_list import varies
from scenegen.commands.opened import LIBRARY, VERSION, open_version
from scenegen.commands.printed import print_grids, print_score
from scenegen.commands.progress import progress_style
from scenegen.errors import InvalidOption, LibraryError
from scenegen.scenario import Scenario
from scenegen.streams import stream
from validators.intervals import Rate

app = typer.Typer()


@app.command()
def evaluate(
    library: str = LIBRARY,
    version: str = VERSION,
    policy: str = typer.Option(
        ..., help="oracle, vision, noop, random, python:MODULE:ATTR, openpi:ws://…, groot:tcp://…"
    ),
    n: int = typer.Option(0, min=0, help="Most scenes; 0 takes all."),
    axis: list[str] = typer.Option([], help="Only scenes that vary this axis, and their twins; repeat it for several."),
    where: str = typer.Option("", help="A condition in SQL, for example \"axis = 'lighting' AND level >= 3\"."),
    simulator: Simulator = typer.Option(
        Simulator.NEWTON.value, help="newton (Isaac Lab), or kinematic: no physics, a dry run in seconds."
    ),
    num_envs: int = typer.Option(4, min=1, help="Worlds that run side by side."),
    device: str = typer.Option("cpu", help="cpu, or cuda:0."),
    latency: str = typer.Option("measured", help="measured, seconds, or a file with a target device's times."),
    repeats: int = typer.Option(1, min=1, help="How often each scene is rolled out; the first counts."),
    solvable: bool = typer.Option(False, "--certified", help="Only scenes that the oracle sorted in this simulator."),
    explain: bool = typer.Option(False, help="Roll failed scenes out again with one thing changed, to tell causes."),
    videos: int = typer.Option(0, min=0, help="Film so many episodes, a minute or more each."),
    videos_of: FilmsOf = typer.Option(
        FilmsOf.FAILURES_FIRST.value, help="Which ones; failures-first films others where failures are too few."
    ),
    seed: int = typer.Option(0, help="For policies that draw numbers, and for latencies."),
    branch: str = typer.Option(MAIN, help="Branch that the episodes are committed to."),
    as_json: bool = typer.Option(False, "--json", help="Progress and scorecard as JSON."),
) -> None:
    """Roll a policy out, every scene once; run it again to continue.

    Episodes are committed to the library as they end. Exit code 1 if so many are missing that the run shows nothing.
    """
    store, snapshot = open_version(library, version)
    chosen = scenes(snapshot, where=where, axes=axis)
    assert snapshot.commit is not None, "a version with scenes is a commit"
    run = Run.here(
        policy=policy,
        version=scene_set(store, snapshot.commit).content_id,
        latency=latency,
        seed=seed,
        device=device,
        simulator=simulator.versions,
    )
    if solvable:
        chosen = certified(chosen, store.at(branch), simulator=run.simulator)
    chosen = chosen[: n or None]
    layers, frame = Layers(store, snapshot), one_cell(chosen, name=snapshot.name)
    (cell, parts), robot = layers.cell_and_parts(frame), layers.robot(frame)
    setting = Setting(cell, parts, simulator.lines(cell, parts, device=device, robot=robot), num_envs, device)
    attempts = Attempts(
        run.content_id, seed=seed, repeats=repeats, episodes=episodes_of_run(store.at(branch), run.content_id)
    )
    tasks = [(row, key) for row in chosen for key in attempts.missing(row.scenario_id)]
    total = len(chosen) * repeats
    films = Films(FilmMaker(cell, parts, robot), Path("videos", run.content_id[:SHORT]), videos, of=videos_of)
    with films:
        with EpisodeProgress(total, done=total - len(tasks), style=progress_style(as_json)) as progress:
            if tasks and simulator.opening:
                progress.say(simulator.opening)
            runner = Runner(store, branch=branch, setting=setting, say=progress.say, ticked=progress.tick, films=films)
            for episode in runner.roll(run, loaded(snapshot, tasks), len(tasks)):
                attempts.add(episode)
                progress.ended(episode)
        if films.waiting:
            typer.echo(f"all episodes are kept; videos left to draw: {films.waiting}, a minute or more each", err=True)
    if videos and not tasks:
        typer.echo("no videos: all episodes were kept before, and an episode is filmed as it ends", err=True)
    for path in films.written:
        typer.echo(f"video: {path}", err=True)
    for path, reason in films.left_out.items():
        typer.echo(f"video left out: {path}: {reason}", err=True)
    causes = None
    if explain:
        causes = _explain(Explainer(store, store.at(branch), run.content_id), runner, as_json=as_json)
    origins = {row.scenario_id: row.provenance for row in chosen}
    found = attempts.of(row.scenario_id for row in chosen)
    machine = use_of_run(store.at(branch), run.content_id)
    card = score(found, origins, cell.limits, rng=stream(seed, "scorecard"), machine=machine)
    flips = repeated_flip_rate([attempts.ranked(rank) for rank in range(repeats)]) if repeats > 1 else None
    _print(run, card, flips, causes, as_json=as_json)
    if card.refusal:
        raise typer.Exit(EXIT_FINDINGS)


def scenes(snapshot: Snapshot, *, where: str, axes: Sequence[str]) -> list[Row]:
    """Choose scenes of a version, in the order in which they were kept.

    Args:
        snapshot: The version.
        where: A condition in SQL; empty for none.
        axes: Scenes vary one of these, alone or with others, or are the unperturbed twin of one that does; empty for
            all scenes.

    Raises:
        UnknownName: There is no such axis.
        LibraryError: The condition cannot be read.
        InvalidOption: There is no such scene.
    """
    if not axes:
        if not (found := list(snapshot.rows(where=where or None))):
            raise InvalidOption("--where", where, "a condition that some scenes of the version meet")
        return found
    varied = " OR ".join(str(varies(axis)) for axis in axes)
    asked = f"({varied}) AND ({where})" if where else varied
    found = list(snapshot.rows(where=f"({asked}) OR kind = 'base'"))
    twins = {row.provenance.base_id for row in found if row.provenance.axes}
    if not twins:
        both = " ".join([", ".join(axes), *([f"with --where {where}"] if where else [])])
        raise InvalidOption("--axis", both, "axes of which the version holds scenes")
    return [row for row in found if row.provenance.axes or row.scenario_id in twins]


def one_cell(rows: list[Row], *, name: str) -> Row:
    """Return a row that stands for the cell and the part files of all.

    Args:
        rows: Scenes, one at least.
        name: What the library is called in errors.

    Raises:
        LibraryError: They are of several cells, or of several files of one part.
    """
    cells = {row.cell_id for row in rows}
    assets = {(asset.part, asset.content): asset for row in rows for asset in row.assets}
    if len(cells) > 1 or len({part for part, _ in assets}) < len(assets):
        of = f"{len(cells)} cells" if len(cells) > 1 else "one cell with several files of a part"
        raise LibraryError(name, f"the scenes are of {of}", "choose those of one with --where or --version")
    return rows[0].replaced(assets=tuple(asset for _, asset in sorted(assets.items())))


def _explain(explainer: Explainer, runner: Runner, *, as_json: bool) -> Causes:
    """Roll out the twins of failed episodes that are missing, and say what the failures come from."""
    total = sum(len(twins) for twins in explainer.missing.values())
    with EpisodeProgress(total, done=0, style=progress_style(as_json)) as progress:

        def roll_out(run: Run, scenarios: Iterator[Scenario], count: int) -> Iterator[Episode]:
            tasks = (
                Task(one, EpisodeKey(run_id=run.content_id, scenario_id=one.id, seed=run.seed)) for one in scenarios
            )
            for episode in runner.roll(run, tasks, count):
                progress.ended(episode)
                yield episode

        explainer.roll(roll_out)
        for reason, count in explainer.broken.items():
            progress.say(f"{count} episodes explain nothing, {reason}")
    return Causes.of(explainer.explained())


def _print(run: Run, card: Scorecard, flips: Rate | None, causes: Causes | None, *, as_json: bool) -> None:
    if as_json:
        facts = {"event": "done", "run": run.content_id, **card.model_dump(mode="json")}
        facts |= {"causes": causes.model_dump(mode="json")} if causes else {}
        typer.echo(json.dumps({**facts, "flips": flips.model_dump(mode="json") if flips else None}))
        return
    print_score(run, run.content_id, card)
    if causes is not None and card.categories:
        print_grids([causes_grid(causes)])
    if flips is not None:
        typer.echo(f"outcomes that flip when the same scene is rolled out again: {flips}")
    typer.echo(f"more: scenegen report {run.content_id[:SHORT]}")
