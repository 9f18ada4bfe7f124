"""`scenegen library verify`: hold every file of every version against its hash."""

from __future__ import annotations

import typer

from library.damage import Report
from library.verify import open_damaged, verify
from scenegen.commands.counted import Counted
from scenegen.commands.exits import EXIT_FINDINGS
from scenegen.commands.opened import LIBRARY
from scenegen.commands.progress import progress_style

app = typer.Typer()


@app.command("verify")
def verify_library(
    library: str = LIBRARY,
    version: str = typer.Option("", "--version", "-V", help="Only this version; all by default."),
    deep: bool = typer.Option(False, "--deep", help="Also build every scenario from its facets."),
    as_json: bool = typer.Option(False, "--json", help="Progress and report as JSON lines."),
) -> None:
    """Hold every file of every version against its hash, every row, layer and id; name all damage.

    Exit code 1 if anything is damaged. Nothing is changed.
    """
    store, fault = open_damaged(library)
    with Counted("files", None, style=progress_style(as_json)) as counted:
        report = verify(
            store, revision=version or None, deep=deep, marker_fault=fault, progress=lambda _: counted.add()
        )
    if as_json:
        typer.echo(report.canonical_json())
    else:
        print_report(report)
    if not report.ok:
        raise typer.Exit(EXIT_FINDINGS)


def print_report(report: Report) -> None:
    """Print what was checked and what is damaged."""
    typer.echo("checked " + ", ".join(f"{count} {what}" for what, count in report.checked.items()))
    if report.expired:
        typer.echo(f"expired, their branches are closed: {', '.join(report.expired)}")
    if report.unreferenced:
        count, size = len(report.unreferenced), report.unreferenced_bytes
        typer.echo(
            f"{count} files ({size} bytes) belong to no version, --json names them: `scenegen library gc` removes them"
        )
    for damage in report.damage:
        typer.echo(f"DAMAGED {damage.sentence}")
    typer.echo(f"{len(report.damage)} files are damaged" if report.damage else "nothing is damaged")
