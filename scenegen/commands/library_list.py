"""`scenegen library list`: the scenes of a version."""

from __future__ import annotations

from collections import Counter, deque

import typer
from rich.console import Console
from rich.table import Table

from scenegen.axes.registry import axis_named
from scenegen.commands.describe import describe_axes
from scenegen.commands.opened import LIBRARY, VERSION, open_version

app = typer.Typer()


@app.command("list")
def list_scenes(
    library: str = LIBRARY,
    version: str = VERSION,
    axis: str = typer.Option("", help="Only scenes that vary this axis."),
    limit: int = typer.Option(20, min=1, help="Most scenes to print."),
    everything: bool = typer.Option(False, "--all", help="Also what was dropped or is in quarantine."),
    as_json: bool = typer.Option(False, "--json", help="Print every scene's row as a JSON line."),
) -> None:
    """List scenes, newest last, and how many there are by axis and level."""
    _, snapshot = open_version(library, version)
    rows = snapshot.rows(where=varies(axis), everything=everything)
    if as_json:
        for row in rows:
            typer.echo(row.canonical_json())
        return
    last, counts = deque(maxlen=limit), Counter[str]()
    for row in rows:
        last.append(row)
        counts[describe_axes(row)[0] or "base"] += 1
    out = Console()
    table = Table("scenario", "kind", "axes", "severity", "base")
    for row in last:
        table.add_row(row.scenario_id[:12], row.kind, *describe_axes(row), row.provenance.base_id[:12])
    out.print(table)
    out.print(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())), highlight=False)
    if counts.total() > limit:
        out.print(f"the last {limit} of {counts.total()}; --limit shows more", highlight=False)


def varies(axis: str) -> str | None:
    """Return the condition for scenes that vary an axis, alone or with others; None for no axis."""
    if not axis:
        return None
    name = axis_named(axis).name
    return f"axis = '{name}' OR axis LIKE '{name}+%' OR axis LIKE '%+{name}' OR axis LIKE '%+{name}+%'"
