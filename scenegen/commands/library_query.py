"""`scenegen library query`: a question in SQL."""

from __future__ import annotations

import csv
import json
import sys
from enum import StrEnum
from itertools import islice
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from library.query import Answer, ask
from scenegen.commands.opened import LIBRARY, VERSION, open_version

SHOWN = 200
"""Rows of a table on a terminal; the other forms print all."""

app = typer.Typer()


class Form(StrEnum):
    """How an answer is printed."""

    TABLE = "table"
    """For people."""
    CSV = "csv"
    """With a header; lists and structures as JSON."""
    JSON = "json"
    """One object a line."""


@app.command()
def query(
    sql: str = typer.Argument(..., help="One SELECT in DuckDB's SQL."),
    library: str = LIBRARY,
    version: str = VERSION,
    form: Form = typer.Option(Form.TABLE.value, "--format", help="table, csv, or json (one object a line)."),
) -> None:
    """Ask in SQL: `scenarios` (members, with split and review), all_scenarios, severities, facets, verdicts, ….

    Example: "SELECT axis, level, count(*) FROM scenarios GROUP BY ALL ORDER BY ALL". DESCRIBE scenarios tells the
    columns. Nothing but the version's tables is read, and nothing is written.
    """
    _, snapshot = open_version(library, version)
    answer = ask(snapshot, sql)
    match form:
        case Form.TABLE:
            _print_table(answer)
        case Form.CSV:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(answer.columns)
            writer.writerows([_cell(value) for value in row] for row in answer.rows)
        case Form.JSON:
            for row in answer.rows:
                typer.echo(json.dumps(dict(zip(answer.columns, row, strict=True)), default=str))


def _print_table(answer: Answer) -> None:
    rows = list(islice(answer.rows, SHOWN + 1))
    table = Table(*answer.columns)
    for row in rows[:SHOWN]:
        table.add_row(*("" if value is None else str(_cell(value)) for value in row))
    out = Console()
    out.print(table, markup=False)
    if len(rows) > SHOWN:
        out.print(f"the first {SHOWN}; --format csv prints all", highlight=False)


def _cell(value: Any) -> Any:
    """Return a value for one cell: lists and structures as JSON."""
    return json.dumps(value, default=str) if isinstance(value, list | dict) else value
