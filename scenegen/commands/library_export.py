"""`scenegen library export`: a version as a USD folder, `.usdz` packages, Parquet or CSV."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

import typer

from library.export_draft import drafted
from library.export_scenes import export_folder, export_packages
from library.export_selection import Selection
from library.export_tables import Noted, export_csv, export_parquet
from library.snapshot import Snapshot
from library.versioned import VersionedLibrary
from scenegen.commands.counted import Counted
from scenegen.commands.library_list import varies
from scenegen.commands.opened import LIBRARY, VERSION, open_version
from scenegen.commands.options import parse_levels
from scenegen.commands.progress import progress_style

app = typer.Typer()


class Format(StrEnum):
    """What a version can be written as."""

    USD = "usd"
    """One folder that any USD tool opens."""
    USDZ = "usdz"
    """One package a scene."""
    PARQUET = "parquet"
    """Tables for programs."""
    CSV = "csv"
    """One table for spreadsheets."""


@app.command("export")
def export_version(
    library: str = LIBRARY,
    output: Path = typer.Option(..., "-o", "--output", help="Folder to make."),
    kind: Format = typer.Option(
        Format.USD.value,
        "--format",
        help="usd: a folder of scenes; usdz: a package a scene; parquet: tables; csv: one table of scenes.",
    ),
    version: str = VERSION,
    where: str = typer.Option("", help="A condition in SQL, for example \"level >= 3 AND kind = 'variant'\"."),
    axis: str = typer.Option("", help="Only scenes that vary this axis."),
    level: str = typer.Option("", help="Only scenes of these levels, for example 3-5."),
    split: str = typer.Option("", help="Only scenes of this split."),
    limit: int = typer.Option(0, min=0, help="Most scenes; 0 for all."),
    everything: bool = typer.Option(False, "--all", help="Also what was dropped or is in quarantine."),
    force: bool = typer.Option(False, help="Replace what is there under that name."),
    as_json: bool = typer.Option(False, "--json", help="Progress and report as JSON lines."),
) -> None:
    """Write the scenes of a version into a new folder: it appears whole or not at all, proved file by file.

    In CSV, text that a spreadsheet would run as a formula has an apostrophe before it.
    """
    store, snapshot = open_version(library, version)
    selection = Selection(
        where=_condition(where, axis, level), split=split or None, limit=limit or None, everything=everything
    )
    with (
        drafted(output, force=force) as folder,
        Counted("rows", None, style=progress_style(as_json)) as progress,
    ):
        counts = _write(kind, store, snapshot, selection, folder, progress.add)
        typer.echo(_report(output, counts, progress.seconds, as_json=as_json))


def _condition(where: str, axis: str, level: str) -> str | None:
    """Join what was asked for into one condition."""
    levels = f"level IN ({', '.join(map(str, parse_levels(level)))})" if level else None
    conditions = [one for one in (where.strip() or None, varies(axis), levels) if one]
    return " AND ".join(f"({one})" for one in conditions) or None


def _write(
    kind: Format, store: VersionedLibrary, snapshot: Snapshot, selection: Selection, folder: Path, noted: Noted
) -> dict[str, int]:
    if kind is Format.USD:
        return export_folder(store, snapshot, selection, folder, noted=noted)
    if kind is Format.USDZ:
        with TemporaryDirectory(prefix="scenegen-") as scratch:
            return export_packages(store, snapshot, selection, folder, scratch=Path(scratch), noted=noted)
    tables: Mapping[Format, Callable[..., dict[str, int]]] = {Format.PARQUET: export_parquet, Format.CSV: export_csv}
    return tables[kind](snapshot, selection, folder, noted=noted)


def _report(output: Path, counts: dict[str, int], seconds: float, *, as_json: bool) -> str:
    if as_json:
        return json.dumps({"event": "done", "output": str(output), **counts, "seconds": round(seconds, 2)})
    return f"wrote {output}: " + ", ".join(f"{count} {name}" for name, count in counts.items()) + f" ({seconds:.1f} s)"
