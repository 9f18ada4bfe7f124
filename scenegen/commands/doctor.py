"""`scenegen doctor`: tell what is installed, what conflicts, and how to mend it."""

import json
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from scenegen.doctor import Diagnosis, Health, examine

MARKS = {Health.GOOD: ("good", "green"), Health.ABSENT: ("-", "dim"), Health.BAD: ("BAD", "bold red")}

app = typer.Typer()


@app.command()
def doctor(
    folder: Path = typer.Option(
        Path(), "--folder", help="Where scenes will be written.", exists=True, file_okay=False, show_default="here"
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the diagnoses as JSON."),
) -> None:
    """Tell what is installed, what conflicts, and how to mend it. Exit code 1 if something must be mended."""
    diagnoses = examine(folder.absolute())
    if as_json:
        typer.echo(json.dumps([item.model_dump(mode="json") for item in diagnoses], indent=2))
    else:
        _print_table(diagnoses)
    if any(item.health is Health.BAD for item in diagnoses):
        raise typer.Exit(1)


def _print_table(diagnoses: tuple[Diagnosis, ...]) -> None:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for item in diagnoses:
        mark, style = MARKS[item.health]
        table.add_row(Text(mark, style=style), item.subject.replace("_", " "), Text(item.sentence))
    console = Console()
    console.print(table)
    for item in diagnoses:
        if item.health is Health.BAD:
            console.print(f"\nto mend {item.subject.replace('_', ' ')}:", style="bold")
            console.print(Text(f"  {item.remedy}"), soft_wrap=True)
