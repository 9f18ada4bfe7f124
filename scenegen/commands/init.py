"""`scenegen init`: write an annotated cell file."""

from pathlib import Path

import typer

from library.files import library_error
from scenegen.cells.loader import BUILTIN, builtin_text
from scenegen.errors import InvalidOption, UnknownName

app = typer.Typer()


@app.command()
def init(
    file: Path = typer.Argument(..., help="Where to write the cell, for example cell.yaml."),
    like: str = typer.Option("fasteners", help=f"Built-in cell to start from: {', '.join(BUILTIN)}."),
    force: bool = typer.Option(False, help="Overwrite an existing file."),
) -> None:
    """Write an annotated cell file to start from."""
    if like not in BUILTIN:
        raise UnknownName("cell", like, BUILTIN)
    if file.exists() and not force:
        raise InvalidOption("FILE", file, "a file that does not exist yet, or --force to overwrite it")
    try:
        file.write_text(builtin_text(like), encoding="utf-8")
    except OSError as error:
        raise library_error(file, error) from error
    typer.echo(f"wrote {file} - edit it, then check it with: scenegen check {file}")
