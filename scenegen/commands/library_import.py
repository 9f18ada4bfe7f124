"""`scenegen library import`: scenes from a USD folder, another library or a task list."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from library.commit import MAIN, Commit
from library.import_library import LibraryImport, open_foreign
from library.import_scenes import Check, SceneImport, scene_files
from library.import_tasks import TaskPlan, plan_tasks, read_tasks
from library.versioned import MARKER, VersionedLibrary
from scenegen.axes.registry import AXES
from scenegen.cell import Cell
from scenegen.commands.counted import Counted
from scenegen.commands.device import PROCESSOR
from scenegen.commands.exits import EXIT_DONE, EXIT_FINDINGS
from scenegen.commands.expand import expand
from scenegen.commands.progress import progress_style
from scenegen.commands.recipe import UsdFiles, Workshop
from scenegen.design import DesignKind
from scenegen.errors import InvalidOption, InvalidRecord
from scenegen.parts.catalogue import Catalogue
from scenegen.usd.untrusted import LAYER_EXTENSIONS
from validators.cell_check import check_cell

SHOWN = 20
"""Most files that the report names one by one."""

app = typer.Typer()


@app.command("import")
def import_source(
    source: str = typer.Argument(
        ..., help="A folder of USD scenes or one scene, a library (folder or folder@version), or a task list (.json)."
    ),
    library: Path = typer.Argument(Path("scenarios"), help="Folder of the library that takes them."),
    branch: str = typer.Option(MAIN, help="Branch of the library to commit to."),
    message: str = typer.Option("", "-m", "--message", help="Message of the commit; not for task lists."),
    cell: str = typer.Option("fasteners", help="Task lists: a built-in cell or a cell file."),
    seed: int = typer.Option(0, help="Task lists: another seed gives other scenes."),
    parts: Path = typer.Option(Path("parts"), help="Task lists: folder of your own parts."),
    limit: int = typer.Option(0, min=0, help="Task lists: most scenes an axis and level; 0 for as many as the list."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Task lists: only print what would be expanded."),
    processes: int = typer.Option(0, min=0, help="Task lists: processes; 0 takes one a core."),
    as_json: bool = typer.Option(False, "--json", help="Progress and report as JSON lines."),
) -> None:
    """Take scenes into a library; a second run adds nothing. Exit code 1 if anything had to be left out.

    Everything from elsewhere is read by the rules for untrusted input. Scenes, perhaps changed with another tool, are
    checked and written anew. Of a library all rows are taken that are not here yet. Of a task list as LIBERO-Plus has
    it, each category goes to the axes that claim it, and is expanded here.
    """
    folder, version = _named(source)
    if folder.suffix.lower() == ".json" and folder.is_file():
        bad = _import_tasks(
            folder, library, branch, cell=cell, seed=seed, parts=parts, limit=limit, dry_run=dry_run,
            processes=processes, as_json=as_json,
        )  # fmt: skip
    elif (folder / MARKER).is_file() or version:
        bad = _import_library(folder, version, library, branch, message=message, as_json=as_json)
    elif folder.is_dir() or (folder.is_file() and folder.suffix.lower() in LAYER_EXTENSIONS):
        bad = _import_scenes(folder, library, branch, message=message, as_json=as_json)
    else:
        raise InvalidOption("SOURCE", source, "a folder of USD scenes, a USD scene, a library, or a task list (.json)")
    raise typer.Exit(EXIT_FINDINGS if bad else EXIT_DONE)


def _named(source: str) -> tuple[Path, str]:
    """Split `folder@version`, unless a file or folder has the whole name."""
    folder, at, version = source.rpartition("@")
    return (Path(folder), version) if at and not Path(source).exists() else (Path(source), "")


def _import_scenes(source: Path, library: Path, branch: str, *, message: str, as_json: bool) -> bool:
    store = VersionedLibrary.create(library)
    taking = SceneImport(store, _checks, branch)
    files = scene_files(source)
    text = message or f"import scenes from {source.absolute().name}"
    with Counted("files", len(files), style=progress_style(as_json)) as progress:
        try:
            for path in files:
                taking.take(path, source)
                progress.add()
        finally:
            commit = taking.publish(text)
    kinds = Counter(one.kind for one in taking.left_out)
    lines = [f"{one.file}: {one.kind}: {one.reason}" for one in taking.left_out if one.kind != "skipped"]
    skipped = Counter(one.reason for one in taking.left_out if one.kind == "skipped")
    lines += [f"{count} files skipped: {reason}" for reason, count in skipped.items()]
    facts = {"kept": taking.kept, "known": taking.known, **{kind: kinds[kind] for kind in _KINDS}}
    details = [{"file": one.file, "kind": one.kind, "reason": one.reason} for one in taking.left_out]
    _report(commit, facts, lines, details, as_json=as_json)
    return bool(kinds["refused"] or kinds["invalid"])


_KINDS = ("invalid", "refused", "skipped")


def _checks(cell: Cell, parts: Catalogue, robots: Path) -> Check:
    """Build the checks of a cell from elsewhere, which must be sound itself."""
    findings = check_cell(cell, parts, AXES)
    if findings:
        raise InvalidRecord(f"cell {cell.name}", [finding.sentence for finding in findings])
    return Workshop.of(cell, parts, robots=robots).checker.check


def _import_library(folder: Path, version: str, library: Path, branch: str, *, message: str, as_json: bool) -> bool:
    source, snapshot = open_foreign(folder, version or MAIN)
    merging = LibraryImport(VersionedLibrary.create(library), source, snapshot, branch=branch)
    name = f"{source.name}@{version}" if version else source.name
    with Counted("rows", None, style=progress_style(as_json)) as progress:
        commit = merging.run(message or f"import library {name}", noted=progress.add)
    lines = [f"scenario {scenario}: left out: {reason}" for scenario, reason in merging.refused.items()]
    if merging.conflicts:
        lines.append(f"{merging.conflicts} decisions differ from the ones made here, which stay")
    facts = {**dict(sorted(merging.added.items())), "left_out": len(merging.refused), "conflicts": merging.conflicts}
    details = [{"scenario": one, "reason": reason} for one, reason in merging.refused.items()]
    _report(commit, facts, lines, details, as_json=as_json)
    return bool(merging.refused)


def _report(
    commit: Commit | None,
    facts: Mapping[str, Any],
    lines: list[str],
    details: list[dict[str, str]],
    *,
    as_json: bool,
) -> None:
    if as_json:
        identity = commit.content_id if commit else None
        typer.echo(json.dumps({"event": "done", "commit": identity, **facts, "left_out_because": details}))
        return
    for line in lines[:SHOWN]:
        typer.echo(line)
    if len(lines) > SHOWN:
        typer.echo(f"and {len(lines) - SHOWN} more; --json names all")
    typer.echo(", ".join(f"{count} {name.replace('_', ' ')}" for name, count in facts.items()))
    typer.echo(f"committed as {commit.branch}@{commit.number} ({commit.content_id[:12]})" if commit else "nothing new")


def _import_tasks(
    source: Path,
    library: Path,
    branch: str,
    *,
    limit: int,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> bool:
    """Print what a task list asks for, and expand it axis by axis and level by level."""
    plan = plan_tasks(read_tasks(source), {axis.name: axis.aliases for axis in AXES.values()})
    wanted = {key: min(count, limit) if limit else count for key, count in sorted(plan.counts.items())}
    _print_plan(plan, wanted, as_json=as_json)
    short = False
    for (axis, level), count in wanted.items() if not dry_run else ():
        try:
            expand(
                axis=[axis], n=count, levels=str(level), library=library, branch=branch, as_json=as_json,
                design=DesignKind.ONE_AT_A_TIME, strength=2, per_base=20, placement="sequential", repair=False,
                usd=UsdFiles.ALL, device=PROCESSOR, vlm="", proposals=1, judge=False, text_only=False, dry_run=False,
                budget_tokens=None, budget_usd=None, prices=None, **options,
            )  # fmt: skip
        except typer.Exit as ended:
            short = short or ended.exit_code != EXIT_DONE
    return short or bool(plan.without_axis or plan.without_level)


def _print_plan(plan: TaskPlan, wanted: Mapping[tuple[str, int], int], *, as_json: bool) -> None:
    if as_json:
        counts = [{"axis": axis, "level": level, "scenes": count} for (axis, level), count in wanted.items()]
        without = {"without_axis": dict(plan.without_axis), "without_level": dict(plan.without_level)}
        typer.echo(json.dumps({"event": "plan", "expansions": counts, **without}))
        return
    table = Table("axis", "level", "entries", "scenes")
    for (axis, level), count in wanted.items():
        table.add_row(axis, str(level), str(plan.counts[axis, level]), str(count))
    Console().print(table)
    for category, count in sorted(plan.without_axis.items()):
        typer.echo(f"{category}: no axis for its {count} entries")
    for category, count in sorted(plan.without_level.items()):
        typer.echo(f"{category}: {count} entries without a level, which nothing can be expanded from")
