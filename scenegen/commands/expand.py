"""`scenegen expand`: make valid scenes along axes and keep them in a library."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from library.commit import MAIN
from library.intake import Intake
from library.journal import Journal
from library.structures import keep_structures
from library.versioned import VersionedLibrary
from scenegen.axes.registry import AXES, axis_named
from scenegen.cells.loader import load_cell
from scenegen.commands.device import DEVICE, settle_engine
from scenegen.commands.exits import EXIT_FINDINGS
from scenegen.commands.options import parse_levels
from scenegen.commands.recipe import Recipe, UsdFiles, check_plan, inventory_parts
from scenegen.design import DesignKind
from scenegen.errors import InvalidOption, InvalidRecord
from scenegen.expand import Expansion
from scenegen.verdict import Finding
from validators.cell_check import check_cell

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
        processes = processes or (os.cpu_count() or 1 if engine is None else 1)
        Expanding(intake, recipe, n, processes, as_json).run()
    if intake.tally.kept < n:
        raise typer.Exit(EXIT_FINDINGS)


def _require_sound(name: str, findings: tuple[Finding, ...]) -> None:
    if findings:
        raise InvalidRecord(name, [finding.sentence for finding in findings])
