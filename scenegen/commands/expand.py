"""`scenegen expand`: make valid scenes along axes and keep them in a library."""

from __future__ import annotations

import json
import os
import time
from contextlib import closing
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from library.commit import MAIN, Commit
from library.intake import Intake, Tally
from library.journal import Journal
from library.structures import keep_structures
from library.versioned import VersionedLibrary
from scenegen.axes.registry import AXES, axis_named
from scenegen.cells.loader import load_cell
from scenegen.commands.device import DEVICE, settle_engine
from scenegen.commands.exits import EXIT_FINDINGS
from scenegen.commands.options import parse_levels
from scenegen.commands.progress import SceneProgress, progress_style
from scenegen.commands.recipe import CHUNK, Recipe, UsdFiles, check_plan, inventory_parts
from scenegen.design import DesignKind
from scenegen.errors import InvalidOption, InvalidRecord
from scenegen.expand import Expansion
from scenegen.pool import Demand, begin_imports, run_ordered
from scenegen.verdict import Finding
from validators.cell_check import check_cell

WRITE_EVERY_S = 1.0
"""Time between writes to the journal [s]: what a kill can cost; an interruption costs nothing that was made."""
GIVE_UP_AFTER = 20
"""Exhausted indices after which an expansion that hardly gives anything stops."""

app = typer.Typer()


@app.command()
def expand(
    axis: list[str] = typer.Option(..., help="Axis to vary; repeat it for several. See `scenegen axes`."),
    n: int = typer.Option(..., help="How many valid scenes to keep (twins and rejects come apart)."),
    levels: str = typer.Option("1-5", help="Severity levels, for example 3-5 or 1,3."),
    cell: str = typer.Option("fasteners", help="A built-in cell or a cell file."),
    library: Path = typer.Option(Path("scenarios"), help="Folder of the library."),
    seed: int = typer.Option(0, help="Another seed gives other scenes."),
    design: DesignKind = typer.Option(
        DesignKind.ONE_AT_A_TIME.value, help="one-at-a-time varies one axis a scene; the others combine the axes."
    ),
    strength: int = typer.Option(2, min=2, max=6, help="Strength t of a t-wise design."),
    per_base: int = typer.Option(20, min=1, help="Variants a base, where the axes leave the layout alone."),
    placement: str = typer.Option("sequential", help="sequential, or uniform (exact, slower)."),
    parts: Path = typer.Option(Path("parts"), help="Folder of your own parts."),
    repair: bool = typer.Option(False, help="Mend rejected scenes where that can be done."),
    usd: UsdFiles = typer.Option(
        UsdFiles.ALL.value, help="all writes each scene's USD layers now, lazy when they are asked for."
    ),
    branch: str = typer.Option(MAIN, help="Branch of the library to commit to."),
    processes: int = typer.Option(0, min=0, help="Processes; 0 takes one a core, or one where a GPU checks."),
    device: str = DEVICE,
    as_json: bool = typer.Option(False, "--json", help="Progress and report as JSON lines."),
) -> None:
    """Generate valid scenes along axes and keep them in a library; run it again to continue."""
    if n < 1:
        raise InvalidOption("--n", n, "a whole number of at least 1")
    if placement not in ("sequential", "uniform"):
        raise InvalidOption("--placement", placement, "sequential or uniform")
    names = tuple(dict.fromkeys(axis_named(name).name for name in axis))
    chosen = parse_levels(levels)
    engine = settle_engine(device)
    processes = processes or (os.cpu_count() or 1 if engine is None else 1)
    if processes > 1 and n > CHUNK:
        begin_imports(Recipe.__module__)
    specification = load_cell(cell)
    catalogue = inventory_parts(specification, parts)
    _require_sound(cell, check_cell(specification, catalogue, AXES))
    expansion = Expansion(
        cell_id=specification.content_id,
        assets={part: catalogue[part].content_id for part in sorted(catalogue)},
        axes=names,
        levels=chosen,
        design=design,
        strength=strength,
        placement=placement,
        seed=seed,
        per_base=per_base,
        repair=repair,
    )
    store = VersionedLibrary.create(library)
    plan = check_plan(specification, catalogue, device=device)
    recipe = Recipe(str(library), specification, catalogue, expansion, usd, device)
    with Journal(store.folder, expansion.content_id) as journal:
        files = keep_structures(store, specification, catalogue, beside=Path(cell))
        for record in (plan, expansion):
            files |= store.record(record)
        intake = Intake(store, journal, expansion_id=expansion.content_id, branch=branch, files=files)
        _run(intake, recipe, n, processes=processes, as_json=as_json)
    if intake.tally.kept < n:
        raise typer.Exit(EXIT_FINDINGS)


def _require_sound(name: str, findings: tuple[Finding, ...]) -> None:
    if findings:
        raise InvalidRecord(name, [finding.sentence for finding in findings])


def _run(intake: Intake, recipe: Recipe, n: int, *, processes: int, as_json: bool) -> None:
    """Make scenes until n are kept, in the order of their indices, and publish them."""
    tally = intake.tally
    before, pending, written = tally.kept, [], time.monotonic()
    demand = Demand(wanted=n - tally.kept, end=3 * n + 100, skip=frozenset(tally.indices))
    processes = max(1, min(processes, -(-demand.wanted // max(recipe.chunk, CHUNK))))
    made = run_ordered(recipe, demand, processes=processes, chunk=recipe.chunk)
    with SceneProgress(n, done=before, style=progress_style(as_json)) as progress, closing(made):
        try:
            for _, line in made:
                tally.add_line(line)
                pending.append(line)
                kept = line.scenario_id is not None
                demand.wanted -= kept
                progress.add_index(kept=kept, rejected=sum(line.rejected.values()))
                if _hopeless(tally, before):
                    demand.wanted = 0
                if time.monotonic() > written + WRITE_EVERY_S:
                    intake.add(pending)
                    pending, written = [], time.monotonic()
                    if intake.due:
                        intake.publish(_message(recipe.expansion, tally, n))
        finally:
            intake.add(pending)
            commit = intake.publish(_message(recipe.expansion, tally, n))
    _report(recipe, tally, commit, n=n, progress=progress, as_json=as_json)


def _message(expansion: Expansion, tally: Tally, n: int) -> str:
    levels = ",".join(map(str, expansion.levels))
    return f"expand {', '.join(expansion.axes)} levels {levels}: {tally.kept} of {n} scenes"


def _hopeless(tally: Tally, before: int) -> bool:
    """Tell whether hardly any index gives a scene, so that going on would only burn time."""
    return tally.exhausted >= GIVE_UP_AFTER and tally.exhausted > 4 * (tally.kept - before)


def _report(
    recipe: Recipe, tally: Tally, commit: Commit | None, *, n: int, progress: SceneProgress, as_json: bool
) -> None:
    attempts = tally.kept + sum(tally.rejected.values())
    facts = {
        "event": "done",
        "library": recipe.folder,
        "commit": commit.content_id if commit else None,
        "expansion": recipe.expansion.content_id,
        "kept": tally.kept,
        "n": n,
        "twins": len(tally.bases),
        "exhausted_indices": tally.exhausted,
        "rejected": dict(tally.rejected.most_common()),
        "seconds": round(progress.seconds, 2),
        "scenes_per_s": round(progress.rate, 1),
    }
    if as_json:
        typer.echo(json.dumps(facts))
        return
    typer.echo(
        f"kept {tally.kept} of {n} scenes with {len(tally.bases)} unperturbed twins in {recipe.folder} "
        f"({progress.rate:.0f} scenes/s, {progress.seconds:.1f} s)"
    )
    if commit:
        typer.echo(f"committed as {commit.branch}@{commit.number} ({commit.content_id[:12]})")
    if tally.rejected:
        table = Table("rejected by", "times", "of attempts", title="rejected attempts", title_justify="left")
        for reason, count in tally.rejected.most_common():
            table.add_row(reason, str(count), f"{count / attempts:.1%}")
        Console().print(table)
    if tally.kept < n:
        worst = tally.rejected.most_common(1)[0][0] if tally.rejected else "nothing"
        typer.echo(
            f"scenegen: only {tally.kept} of {n} scenes; {tally.exhausted} indices gave none, most often for {worst}"
            " - widen the cell's envelope, lower --levels, or look at one with `scenegen check`",
            err=True,
        )
