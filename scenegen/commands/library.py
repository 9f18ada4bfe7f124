"""`scenegen library`: list what is kept, draw contact sheets."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from library.folder import FolderLibrary, library_error
from library.row import Row
from scenegen.axes.registry import AXES
from scenegen.errors import InvalidOption
from scenegen.imaging.sheet import SheetEntry, contact_sheet
from scenegen.units import Unit
from scenegen.usd.reader import read_cell_and_parts, read_scenario
from scenegen.usd.writer import scene_path

app = typer.Typer(no_args_is_help=True, help="List scenes of a library and draw contact sheets.")


@app.command("list")
def list_scenes(
    library: Path = typer.Argument(Path("scenarios"), help="Folder of the library."),
    axis: str = typer.Option("", help="Only scenes that vary this axis."),
    limit: int = typer.Option(20, min=1, help="Most scenes to print."),
    as_json: bool = typer.Option(False, "--json", help="Print every row as a JSON line."),
) -> None:
    """List kept scenes, newest last, and how many there are by axis and level."""
    rows = [row for row in FolderLibrary.open(library).rows() if _wanted(row, axis)]
    if as_json:
        for row in rows:
            typer.echo(row.canonical_json())
        return
    out = Console()
    table = Table("scenario", "kind", "axes", "severity", "base")
    for row in rows[-limit:]:
        table.add_row((row.scenario_id or "")[:12], row.kind, *describe_axes(row), _base(row)[:12])
    out.print(table)
    counts = Counter(setting for row in rows for setting in (describe_axes(row)[0] or "base",))
    out.print(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())), highlight=False)
    if len(rows) > limit:
        out.print(f"the last {limit} of {len(rows)}; --limit shows more", highlight=False)


@app.command()
def sheet(
    library: Path = typer.Argument(Path("scenarios"), help="Folder of the library."),
    output: Path = typer.Option(Path("sheet.png"), "-o", "--output", help="Picture to write."),
    axis: str = typer.Option("", help="Only scenes that vary this axis."),
    count: int = typer.Option(24, min=1, max=200, help="How many scenes to show."),
    camera: str = typer.Option("view", help="A camera of the cell, or `view` for an overview."),
) -> None:
    """Draw a contact sheet: scenes spread evenly over the library, each with its axes and severity."""
    store = FolderLibrary.open(library)
    kept = [row for row in store.rows() if _wanted(row, axis)]
    rows = [row for row in kept if row.kind != "base"] or kept
    if not rows:
        raise InvalidOption("--axis", axis or "(all)", "an axis of which the library holds scenes")
    entries = [entry_of(store, row) for row in spread(rows, count)]
    picture = contact_sheet(entries, camera=camera)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        picture.save(output)
    except OSError as error:
        raise library_error(output, error) from error
    typer.echo(f"wrote {output}: {len(entries)} of {len(rows)} scenes")


def entry_of(store: FolderLibrary, row: Row) -> SheetEntry:
    """Read a kept scene for a picture."""
    path = store.path(scene_path(row.scenario_id or ""))
    cell, parts = read_cell_and_parts(path, trusted=True)
    title, text = describe_axes(row)
    return SheetEntry(cell, parts, read_scenario(path, trusted=True), title=title or "base", text=text)


def spread(rows: Sequence[Row], count: int) -> list[Row]:
    """Choose rows so that every axis and level is seen before one is seen twice; in the order of axes and levels."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(describe_axes(row)[0], []).append(row)
    in_turn = sorted(groups, key=lambda name: (_levels(groups[name][0]), name))
    shares = Counter(islice(cycle(in_turn), min(count, len(rows))))
    chosen = []
    for name in sorted(shares):
        group, share = groups[name], min(shares[name], len(groups[name]))
        chosen += [group[index * len(group) // share] for index in range(share)]
    return chosen


def describe_axes(row: Row) -> tuple[str, str]:
    """Return `axis level, …` and, in words, the severities of a row that are not at their nominal value."""
    settings = row.provenance.axes if row.provenance else ()
    names = ", ".join(f"{setting.axis} {setting.level}" for setting in settings)
    values = ", ".join(
        f"{q.name.replace('_', ' ')} {q.value:.{3 if abs(q.value) < 100 else 4}g}{_unit(q.unit)}"
        for setting in settings
        for q in setting.severity
        if q.value != _nominal(setting.axis, q.name)
    )
    return names, values


def _levels(row: Row) -> tuple[int, ...]:
    return tuple(setting.level for setting in (row.provenance.axes if row.provenance else ()))


def _unit(unit: Unit) -> str:
    return "" if unit in (Unit.NONE, Unit.COUNT, Unit.SHARE, Unit.FACTOR) else f" {unit.value}"


def _nominal(axis: str, quantity: str) -> float | None:
    known = AXES[axis].severities if axis in AXES else ()
    return next((severity.nominal for severity in known if severity.name == quantity), None)


def _base(row: Row) -> str:
    return row.provenance.base_id if row.provenance else ""


def _wanted(row: Row, axis: str) -> bool:
    if row.scenario_id is None:
        return False
    return not axis or any(setting.axis == axis for setting in (row.provenance.axes if row.provenance else ()))


def dump(row: Row) -> str:
    """Return a row as indented JSON."""
    return json.dumps(row.model_dump(mode="json"), indent=2)
