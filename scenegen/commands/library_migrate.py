"""`scenegen library migrate`: an older library in the present format."""

from __future__ import annotations

from pathlib import Path

import typer

from library.format1 import OldLibrary
from library.migrate import migrate
from library.versioned import VersionedLibrary
from scenegen.commands.counted import Counted
from scenegen.commands.exits import EXIT_FINDINGS
from scenegen.commands.progress import progress_style
from scenegen.errors import InvalidOption

app = typer.Typer()


@app.command("migrate")
def migrate_library(
    old: Path = typer.Argument(..., help="Folder of a library of format 1 (scenegen 0.1)."),
    new: Path | None = typer.Argument(None, help="Folder of the new library; by default the old one's name and -v2."),
    skip_damaged: bool = typer.Option(False, "--skip-damaged", help="Leave scenes out whose files are damaged."),
) -> None:
    """Bring a library of an older format to this one, beside it; the old folder stays as it is.

    Every file is held against its hash. Run it again to continue.
    """
    source = OldLibrary.open(old)
    target = new or old.absolute().with_name(f"{old.absolute().name}-v2")
    if target.absolute() == old.absolute():
        raise InvalidOption("NEW", target, "another folder than the old library's")
    store = VersionedLibrary.create(target)
    with Counted("rows", len(source), style=progress_style(as_json=False)) as counted:
        told = migrate(source, store, skip_damaged=skip_damaged, progress=counted.add)
    for sentence in told.damaged:
        typer.echo(sentence)
    passed_by = f", {told.before} were there already" if told.before else ""
    typer.echo(
        f"brought {told.rows} rows of {old} to {target}{passed_by}: {store.at().scenes} scenes; {old} is as it was"
    )
    if told.damaged:
        raise typer.Exit(EXIT_FINDINGS)
