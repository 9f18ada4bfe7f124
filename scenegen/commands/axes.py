"""`scenegen axes`: the table of axes."""

from __future__ import annotations

import json

import typer
from rich.console import Console
from rich.table import Table

from scenegen.axes.axis import LEVELS, Axis, band
from scenegen.axes.registry import AXES
from scenegen.cell import Cell
from scenegen.cells.loader import load_cell

app = typer.Typer()


@app.command()
def axes(
    cell: str = typer.Option("fasteners", help="Cell whose envelope bounds the levels."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Print the axes along which scenes vary: what they touch, their levels in units, the field's names for them."""
    specification = load_cell(cell)
    if as_json:
        typer.echo(json.dumps([describe(axis, specification) for axis in AXES.values()], indent=2))
        return
    table = Table(
        "axis", "what varies", "severity", "level 1 .. level 5", "facets", "the field's names", show_lines=True
    )
    for axis in AXES.values():
        rows = [_severity_row(axis, index, specification) for index in range(len(axis.severities))]
        names = "\n".join(f"{name} [{unit}]" for name, unit, _ in rows)
        ranges = "\n".join(span for _, _, span in rows)
        facets = ", ".join(sorted(axis.touches))
        table.add_row(axis.name, axis.doc, names, ranges, facets, "\n".join(axis.aliases))
    Console().print(table)


def describe(axis: Axis, cell: Cell) -> dict[str, object]:
    """Return an axis as plain data."""
    return {
        "axis": axis.name,
        "doc": axis.doc,
        "touches": sorted(axis.touches),
        "aliases": list(axis.aliases),
        "severities": [
            {"name": name, "unit": unit, "levels": span}
            for name, unit, span in (_severity_row(axis, index, cell) for index in range(len(axis.severities)))
        ],
    }


def _severity_row(axis: Axis, index: int, cell: Cell) -> tuple[str, str, str]:
    severity = axis.severities[index]
    spans = []
    for upward, limit in ((False, severity.low), (True, severity.high)):
        if limit == severity.nominal:
            continue
        first = band(severity, LEVELS[0], cell=cell, axis=axis.name, upward=upward)
        last = band(severity, LEVELS[-1], cell=cell, axis=axis.name, upward=upward)
        spans.append(f"{first[0]:.4g}-{first[1]:.4g} .. {last[0]:.4g}-{last[1]:.4g}")
    return severity.name, severity.unit.value, "; ".join(spans)
