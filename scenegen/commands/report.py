"""`scenegen report`: what a run showed, as tables and as one HTML page."""

from __future__ import annotations

import json
import os
from pathlib import Path

import typer

from evaluator.report import grids
from evaluator.report.page import page
from evaluator.report.run_report import RunReport, run_report
from evaluator.rollout.kept import KeptRun, find_run, kept_runs, own_runs
from library.files import library_error
from scenegen.commands.exits import EXIT_FINDINGS
from scenegen.commands.opened import LIBRARY_OPTION, VERSION, open_version
from scenegen.commands.printed import print_grids, print_headline
from scenegen.commands.report_pictures import scene_pictures
from scenegen.errors import InvalidOption

SUFFIXES = (".html", ".htm")
_UNSAID = {"episode": {"events", "items", "latencies"}}
"""What `--json` leaves out of single episodes: `library query` has it."""

app = typer.Typer()


@app.command()
def report(
    run: str = typer.Argument("", help="A run's id, its first digits, or latest; without it, the runs are listed."),
    library: str = LIBRARY_OPTION,
    version: str = VERSION,
    output: Path | None = typer.Option(
        None, "-o", "--output", help="Page to write; report_RUN.html by default, none with --json."
    ),
    against: str = typer.Option("", help="Another run, to compare with on the scenes and seeds that both played."),
    pictures: bool = typer.Option(True, help="Draw the scenes that the page shows."),
    as_json: bool = typer.Option(False, "--json", help="Print what the run showed as JSON."),
) -> None:
    """Tell what a run showed: success, retention against twins, failures and their causes, worst scenes, measures.

    The page is one file that needs no network. Exit code 1 if so many episodes are missing that the run shows nothing.
    """
    target = page_target(output) if output else None
    store, snapshot = open_version(library, version)
    runs = kept_runs(store, snapshot)
    if not run:
        _list(own_runs(runs), as_json=as_json)
        return
    kept = find_run(runs, run, library=snapshot.name)
    other = find_run(runs, against, library=snapshot.name) if against else None
    if other is not None and other.id == kept.id:
        raise InvalidOption("--against", against, "another run than the one that is reported")
    found = run_report(store, snapshot, kept, other=other)
    if target is None and not as_json:
        target = Path(f"report_{kept.id[: grids.SHORT]}.html")
    if target is not None:
        drawn = scene_pictures(store, snapshot, found.pictured, as_json=as_json) if pictures else {}
        write_page(page(found, drawn), target)
    if as_json:
        typer.echo(json.dumps(_facts(found)))
    else:
        _print(found)
        typer.echo(f"wrote {target}")
    if found.card.refusal:
        raise typer.Exit(EXIT_FINDINGS)


def page_target(path: Path) -> Path:
    """Return a path that a page can be written to, the path itself.

    Raises:
        InvalidOption: It ends as no page does.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidOption("--output", path, f"a file that ends in {' or '.join(SUFFIXES)}")
    return path


def write_page(text: str, target: Path) -> None:
    """Write a page; the file appears whole or not at all, and its folder if it is not there.

    Raises:
        LibraryError: It cannot be written.
    """
    part = target.with_name(f".{os.getpid()}_{target.name}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        part.replace(target)
    except OSError as error:
        raise library_error(target, error) from error
    finally:
        part.unlink(missing_ok=True)


def _list(runs: list[KeptRun], *, as_json: bool) -> None:
    if as_json:
        for one in runs:
            outcomes = {outcome.value: count for outcome, count in one.outcomes.items()}
            ended = one.commits[-1].time if one.commits else None
            facts = {"run": one.id, "conditions": one.run.model_dump(mode="json"), "outcomes": outcomes}
            typer.echo(json.dumps({**facts, "ended": ended}))
        return
    if not runs:
        typer.echo("no runs yet: roll a policy out with `scenegen evaluate --policy …`")
        return
    print_grids([grids.runs_grid(runs)])


def _print(found: RunReport) -> None:
    card = found.card
    print_headline(found.run, found.run_id, card)
    if found.against is not None:
        print_grids(grids.against_grids(found.against))
    bins = [one.name for one in found.cell.bins]
    print_grids(
        [
            grids.levels_grid(card),
            grids.retention_grid([*found.axes, *found.retention]),
            grids.confusion_grid(card.confusion, bins),
            grids.failures_grid(card),
            grids.reasons_grid(card),
            *([grids.causes_grid(found.causes)] if card.categories else []),
            grids.worst_grid(found.worst),
            *(grids.measures_grid(card, name) for name in grids.DIMENSIONS),
        ]
    )


def _facts(found: RunReport) -> dict[str, object]:
    cases = {"worst": {"__all__": _UNSAID}, "timelines": True, "examples": True, "cell": True}
    return {
        "event": "report",
        **found.model_dump(mode="json", exclude=cases),
        "cell": found.cell.content_id,
        "examples": {name: [case.scenario_id for case in ones] for name, ones in found.examples.items()},
    }
