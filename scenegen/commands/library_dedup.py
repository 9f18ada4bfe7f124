"""`scenegen library dedup`: find near-duplicates, by distance in physical units, and drop them if asked."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence

import typer
from rich.console import Console
from rich.table import Table

from library.curated import DROPPED, Action
from library.dedup import Near, NearGroup, equal_scenes, near_duplicates
from library.scales import Scale, parse_scales
from scenegen.commands.curating import BRANCH, decide, open_branch, say_committed
from scenegen.commands.library_list import varies
from scenegen.commands.opened import LIBRARY
from scenegen.commands.progress import LINE_EVERY_S

app = typer.Typer()

NEAR = 5
"""Most scenes of a group to print."""


@app.command()
def dedup(
    library: str = LIBRARY,
    threshold: str = typer.Option(
        "", help="Differences that still count as near, for example position=1mm,light=3%; --scales lists all."
    ),
    axis: str = typer.Option("", help="Only scenes that vary this axis."),
    across: bool = typer.Option(False, "--across-axes", help="Compare scenes of different axes as well."),
    touched: bool = typer.Option(
        False, "--touched", help="Compare only what the axes touch: finds one change on several bases."
    ),
    drop: bool = typer.Option(False, "--drop", help="Keep the first of each group and drop the others; bases stay."),
    branch: str = BRANCH,
    limit: int = typer.Option(20, min=1, help="Most groups to print."),
    scales: bool = typer.Option(False, "--scales", help="Print the differences that count as near, and stop."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Find scenes that differ in nothing by more than the thresholds; with `--drop` leave them out of the set."""
    chosen = parse_scales(threshold)
    if scales:
        _print_scales(chosen)
        return
    store, snapshot = open_branch(library, branch)
    rows = list(snapshot.columns(where=varies(axis)))
    groups = near_duplicates(
        snapshot, rows, scales=chosen, touched=touched, across_axes=across, progress=_progress(len(rows), as_json)
    )
    roads = equal_scenes(rows)
    bases = {row["base_id"] for row in rows}
    _report(groups, roads, chosen, limit=limit, as_json=as_json, compared=len({row["scenario_id"] for row in rows}))
    if not drop:
        return
    notes = {
        near.scenario_id: f"near-duplicate of {group.first} (distance {near.text(chosen)})"
        for group in groups
        for near in group.others
        if near.scenario_id not in bases
    }
    message = f"dedup: drop {len(notes)} near-duplicates"
    commit = decide(store, branch, Action.DROP, dict.fromkeys(notes, DROPPED), notes=notes, message=message)
    if not as_json:
        say_committed(f"dropped {len(notes)} scenes", commit)


def _report(
    groups: Sequence[NearGroup],
    roads: Mapping[str, int],
    scales: Mapping[str, Scale],
    *,
    limit: int,
    as_json: bool,
    compared: int,
) -> None:
    if as_json:
        facts = [{"first": group.first, "near": [_facts(near, scales) for near in group.others]} for group in groups]
        typer.echo(json.dumps({"compared": compared, "groups": facts, "equal": roads}))
        return
    out = Console()
    if groups:
        table = Table("kept", "near it", "distance", title="near-duplicates", title_justify="left")
        for group in groups[:limit]:
            for at, near in enumerate(group.others[:NEAR]):
                table.add_row("" if at else group.first[:12], near.scenario_id[:12], near.text(scales))
            if len(group.others) > NEAR:
                table.add_row("", f"and {len(group.others) - NEAR} more", "")
        out.print(table)
    near = sum(len(group.others) for group in groups)
    typer.echo(f"{near} of {compared} scenes are near-duplicates of {len(groups)} others")
    if len(groups) > limit:
        typer.echo(f"the first {limit} groups are shown; --limit shows more")
    if roads:
        typer.echo(f"{len(roads)} scenes were reached by several roads; each is one scene:")
        for one, count in list(roads.items())[:limit]:
            typer.echo(f"  {one[:12]} by {count} roads")


def _facts(near: Near, scales: Mapping[str, Scale]) -> dict[str, object]:
    return {"scenario_id": near.scenario_id, "distance": round(near.distance, 6), "by": near.text(scales)}


def _print_scales(scales: Mapping[str, Scale]) -> None:
    table = Table("quantity", "near within", "units", "what")
    for name, scale in scales.items():
        table.add_row(name, scale.text, ", ".join(filter(None, scale.units)) or "1", scale.doc)
    Console().print(table)


def _progress(total: int, as_json: bool) -> Callable[[str, int], None]:
    """Return what says how far the comparison is, every two seconds."""
    last = time.monotonic()

    def say(step: str, done: int) -> None:
        nonlocal last
        if not as_json and time.monotonic() > last + LINE_EVERY_S:
            last = time.monotonic()
            typer.echo(f"{step} {done} of {total} scenes", err=True)

    return say
