"""`scenegen library restore`: make damaged files again, or take them from a copy of the library."""

from __future__ import annotations

from pathlib import Path

import typer

from library.restore import restore
from scenegen.commands.counted import Counted
from scenegen.commands.exits import EXIT_FINDINGS
from scenegen.commands.opened import LIBRARY
from scenegen.commands.progress import progress_style
from scenegen.errors import InvalidOption
from scenegen.record import canonical_text

app = typer.Typer()


@app.command("restore")
def restore_library(
    library: str = LIBRARY,
    copy: Path | None = typer.Option(None, "--from", help="Folder of a copy of the library, whole or not."),
    as_json: bool = typer.Option(False, "--json", help="Progress and report as JSON lines."),
) -> None:
    """Make damaged or missing files again, or take them from a copy; only the very bytes that were kept are written.

    Exit code 1 if anything is damaged still.
    """
    if copy is not None and (not copy.is_dir() or copy.resolve() == Path(library).resolve()):
        raise InvalidOption("--from", str(copy), "another folder, with a copy of the library")
    with Counted("files", None, style=progress_style(as_json)) as counted:
        result = restore(library, copy=copy, progress=lambda _: counted.add())
    if as_json:
        for path, source in result.mended.items():
            typer.echo(_line(path=path, restored_from=source))
        for damage in result.report.damage:
            typer.echo(_line(**damage.model_dump(mode="json"), refused=result.refused.get(damage.path, "")))
    else:
        for path, source in result.mended.items():
            typer.echo(f"restored {path}: {source}")
        for damage in result.report.damage:
            why = result.refused.get(damage.path)
            typer.echo(f"DAMAGED {damage.sentence}" + (f" ({why})" if why else ""))
        typer.echo(f"{len(result.mended)} files restored, {len(result.report.damage)} are damaged still")
    if not result.report.ok:
        raise typer.Exit(EXIT_FINDINGS)


def _line(**facts: object) -> str:
    return canonical_text(facts)
