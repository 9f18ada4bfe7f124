"""`scenegen library diff`: compare two versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from library.diff import Difference, EntryDiff, SceneDiff, compare
from library.snapshot import Snapshot
from library.versioned import MARKER
from scenegen.commands.opened import LIBRARY, open_version, split_version

app = typer.Typer()

FIELDS = 6
"""Most fields of a changed scene to print."""


@app.command()
def diff(
    a: str = typer.Argument(..., help="A version, or another library: folder or folder@version."),
    b: str = typer.Argument(..., help="The version to compare it with."),
    library: str = LIBRARY,
    limit: int = typer.Option(10, min=0, help="Most scenes, decisions and files of each kind to print."),
    as_json: bool = typer.Option(False, "--json", help="Print everything as JSON."),
) -> None:
    """Show what differs from version A to version B: scenes, verdicts, decisions, files, packages."""
    found = compare(_version(a, library), _version(b, library))
    if as_json:
        typer.echo(found.canonical_json())
        return
    if found.is_empty:
        typer.echo(f"no difference between {a} and {b}")
        return
    if found.strata:
        Console().print(_table(found))
    for line in _details(found, limit):
        typer.echo(line)


def _version(name: str, library: str) -> Snapshot:
    """Open a version of the library; or of another one, where its folder is named."""
    other = (Path(split_version(name)[0]) / MARKER).is_file()
    return open_version(name if other else library, "" if other else name)[1]


def _table(found: Difference) -> Table:
    table = Table("axes and levels", "added", "removed", "changed")
    totals = [len(found.added), len(found.removed), len(found.changed)]
    for name, counts in (*found.strata.items(), ("all", totals)):
        table.add_row(name, *(f"{sign}{count}" if count else "" for sign, count in zip("+−~", counts, strict=True)))
    return table


def _details(found: Difference, limit: int) -> Iterator[str]:
    for sign, scenes in (("+", found.added), ("-", found.removed)):
        yield from _some([_scene(sign, one) for one in scenes], limit, "scenes")
    changed = []
    for one in found.changed:
        more = [f"    and {len(one.fields) - FIELDS} more fields"] if len(one.fields) > FIELDS else []
        lines = [f"    {field.text}" for field in one.fields[:FIELDS]] + more
        changed.append("\n".join([f"~ {one.before[:12]} -> {one.after[:12]} {one.stratum}", *lines]))
    yield from _some(changed, limit, "changed scenes")
    for kind in ("verdicts", "curation", "files", "packages"):
        entries: Sequence[EntryDiff] = getattr(found, kind)
        if entries:
            yield f"{kind}: {len(entries)} differ"
            yield from _some([_entry(one) for one in entries], limit, kind)


def _scene(sign: str, scene: SceneDiff) -> str:
    return f"{sign} {scene.scenario_id[:12]} {scene.stratum}" + (f" ({scene.why})" if scene.why else "")


def _entry(entry: EntryDiff) -> str:
    return f"  {entry.name}: {_short(entry.before)} -> {_short(entry.after)}"


def _short(text: str | None) -> str:
    return "none" if text is None else text if len(text) <= 60 else f"{text[:12]}…"


def _some(lines: Iterable[str], limit: int, kind: str) -> Iterator[str]:
    known = list(lines)
    yield from known[:limit]
    if len(known) > limit:
        yield f"  and {len(known) - limit} more {kind}; --limit shows more"
