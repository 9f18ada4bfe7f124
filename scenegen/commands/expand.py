"""`scenegen expand`: make valid scenes along axes and keep them in a library."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import typer

from library.commit import MAIN
from library.intake import Intake
from library.journal import Journal
from library.structures import keep_structures
from library.versioned import VersionedLibrary
from scenegen.axes.registry import AXES, axis_named
from scenegen.cells.loader import load_cell
from scenegen.commands.ask_options import DRY_RUN, JUDGE, PROPOSALS_OPTION, VLM, AskOptions
from scenegen.commands.device import DEVICE, settle_engine
from scenegen.commands.exits import EXIT_FINDINGS
from scenegen.commands.expanding import Expanding
from scenegen.commands.model_options import BUDGET_TOKENS, BUDGET_USD, PRICES, TEXT_ONLY, ModelOptions
from scenegen.commands.options import parse_levels
from scenegen.commands.recipe import CHUNK, Recipe, UsdFiles, check_plan, inventory_parts
from scenegen.commands.sent import print_chat
from scenegen.design import DesignKind
from scenegen.errors import InvalidOption, InvalidRecord
from scenegen.expand import Expansion
from scenegen.pool import begin_imports
from scenegen.record import Record
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
    vlm: str = VLM,
    proposals: int = PROPOSALS_OPTION,
    judge: bool = JUDGE,
    text_only: bool = TEXT_ONLY,
    dry_run: bool = DRY_RUN,
    budget_tokens: int | None = BUDGET_TOKENS,
    budget_usd: float | None = BUDGET_USD,
    prices: Path | None = PRICES,
    device: str = DEVICE,
    as_json: bool = typer.Option(False, "--json", help="Progress and report as JSON lines."),
) -> None:
    """Generate valid scenes along axes and keep them in a library; run it again to continue.

    With --vlm, a model that sees a scene proposes what a plant could do to it, each proposal with its cause; scenes of
    it pass the same checks as any others. Endpoints take their key from SCENEGEN_VLM_KEY or OPENAI_API_KEY.
    """
    if n < 1:
        raise InvalidOption("--n", n, "a whole number of at least 1")
    if placement not in ("sequential", "uniform"):
        raise InvalidOption("--placement", placement, "sequential or uniform")
    names = tuple(dict.fromkeys(axis_named(name).name for name in axis))
    chosen = parse_levels(levels)
    engine = settle_engine(device)
    processes = processes or (os.cpu_count() or 1 if engine is None else 1)
    if processes > 1 and n > CHUNK and not dry_run:
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
    model = ModelOptions(vlm, text_only, budget_tokens, budget_usd, prices)
    options = AskOptions(model, judge, proposals, dry_run)
    options.check(expansion)
    recipe = Recipe(str(library), specification, catalogue, expansion, usd, device)
    if dry_run:
        print_chat(options.first_chat(recipe, Path(cell)))
        return
    kept = _run(recipe, options, n, branch=branch, beside=Path(cell), processes=processes, as_json=as_json)
    if kept < n:
        raise typer.Exit(EXIT_FINDINGS)


def _run(
    recipe: Recipe, options: AskOptions, n: int, *, branch: str, beside: Path, processes: int, as_json: bool
) -> int:
    """Run an expansion; return how many scenes its library holds of it then."""
    records: list[Record] = [check_plan(recipe.cell, recipe.parts, device=recipe.device)]
    with options.model.back_end() as back_end:
        if back_end is not None:
            asking = options.asking(back_end.model)
            recipe = replace(recipe, expansion=recipe.expansion.replaced(proposer=asking.content_id))
            records.append(asking)
        store = VersionedLibrary.create(recipe.folder)
        asker = options.asker(store, back_end, recipe) if back_end is not None else None
        expansion_id = recipe.expansion.content_id
        with Journal(store.folder, expansion_id) as journal:
            files = keep_structures(store, recipe.cell, recipe.parts, beside=beside)
            for record in (*records, recipe.expansion):
                files |= store.record(record)
            intake = Intake(store, journal, expansion_id=expansion_id, branch=branch, files=files)
            Expanding(intake, recipe, n, processes, as_json).run(asker)
    return intake.tally.kept


def _require_sound(name: str, findings: tuple[Finding, ...]) -> None:
    if findings:
        raise InvalidRecord(name, [finding.sentence for finding in findings])
