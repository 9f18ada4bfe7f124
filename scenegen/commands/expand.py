"""`scenegen expand`: make valid scenes along axes and keep them in a library."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from library.folder import FolderLibrary
from library.row import Line, Row
from scenegen.axes.registry import AXES, axis_named
from scenegen.cells.loader import load_cell
from scenegen.commands.exits import EXIT_FINDINGS
from scenegen.commands.options import parse_levels
from scenegen.commands.progress import SceneProgress, progress_style
from scenegen.commands.recipe import Recipe, Workshop, inventory_parts
from scenegen.design import DesignKind
from scenegen.errors import InvalidOption, InvalidRecord
from scenegen.expand import Expansion
from scenegen.pool import Demand, run_ordered
from scenegen.record import Record
from scenegen.usd.part_file import part_bytes
from scenegen.usd.writer import SceneWriter, asset_path, cell_path
from scenegen.verdict import Finding
from validators.cell_check import check_cell

COMMIT_EVERY_S = 1.0
"""Time between commits [s]: what a kill can cost; an interruption costs nothing that was made."""
CHUNK = 20
"""Indices that one process works on at a time: the variants of one base."""
GIVE_UP_AFTER = 20
"""Exhausted indices after which an expansion that hardly gives anything stops."""

app = typer.Typer()


@dataclass
class Tally:
    """What an expansion has given so far."""

    kept: int = 0
    twins: int = 0
    exhausted: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    indices: set[int] = field(default_factory=set)
    bases: set[str] = field(default_factory=set)

    def add(self, row: Row | Line, expansion_id: str) -> None:
        """Count one row of the library."""
        if row.kind == "base":
            self.twins += row.expansion == expansion_id
            self.bases.add(row.scenario_id or "")
        elif row.expansion == expansion_id:
            self.indices.add(row.index)
            self.kept += row.kind != "exhausted"
            self.exhausted += row.kind == "exhausted"
            self.rejected.update(row.rejected)


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
    processes: int = typer.Option(0, min=0, help="Processes; 0 takes one a core."),
    as_json: bool = typer.Option(False, "--json", help="Progress and report as JSON lines."),
) -> None:
    """Generate valid scenes along axes and keep them in a library; run it again to continue."""
    if n < 1:
        raise InvalidOption("--n", n, "a whole number of at least 1")
    if placement not in ("sequential", "uniform"):
        raise InvalidOption("--placement", placement, "sequential or uniform")
    names = tuple(dict.fromkeys(axis_named(name).name for name in axis))
    chosen = parse_levels(levels)
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
    store = FolderLibrary.create(library)
    store.lock()
    try:
        plan = Workshop.of(specification, catalogue).checker.plan
        recipe = Recipe(str(library), specification, catalogue, expansion, plan.content_id)
        _keep_structures(store, recipe, {f"records/{r.content_id}.json": r for r in (plan, expansion)})
        _keep_robot(store, specification.robot.usd, beside=Path(cell))
        tally = _run(store, recipe, n, processes=processes or os.cpu_count() or 1, as_json=as_json)
    finally:
        store.close()
    if tally.kept < n:
        raise typer.Exit(EXIT_FINDINGS)


def _require_sound(name: str, findings: tuple[Finding, ...]) -> None:
    if findings:
        raise InvalidRecord(name, [finding.sentence for finding in findings])


def _keep_structures(store: FolderLibrary, recipe: Recipe, records: dict[str, Record]) -> None:
    """Write what all scenes of the cell share: its layer, its specification, its parts."""
    cell, parts = recipe.cell, recipe.parts
    for part in parts.values():
        path = asset_path(part)
        if not store.path(path).exists():
            store.write(path, part_bytes(part))
    store.write(cell_path(cell.content_id), SceneWriter(cell, parts).cell_layer().encode())
    store.commit([], records={f"cells/{cell.content_id}.json": cell, **records})


def _keep_robot(store: FolderLibrary, usd: str | None, *, beside: Path) -> None:
    """Copy the robot's USD file, which the cell layer refers to, into the library."""
    if usd is None:
        return
    file = beside.parent / usd
    try:
        store.write(f"cells/{usd}", file.read_bytes())
    except FileNotFoundError:
        raise InvalidRecord(str(beside), [f"robot.usd: {usd} - accepted: a file beside the cell file"]) from None


def _run(store: FolderLibrary, recipe: Recipe, n: int, *, processes: int, as_json: bool) -> Tally:
    """Make scenes until n are kept, publishing them in the order of their indices."""
    expansion_id, tally = recipe.expansion.content_id, Tally()
    for row in store.rows():
        tally.add(row, expansion_id)
    before, pending, committed = tally.kept, [], time.monotonic()
    demand = Demand(wanted=n - tally.kept, end=3 * n + 100, skip=frozenset(tally.indices))
    processes = max(1, min(processes, -(-demand.wanted // CHUNK)))
    made = run_ordered(recipe, demand, processes=processes, chunk=CHUNK)
    with SceneProgress(n, done=before, style=progress_style(as_json)) as progress, closing(made):
        try:
            for _, rows in made:
                fresh = [row for row in rows if row.kind != "base" or row.scenario_id not in tally.bases]
                for row in fresh:
                    tally.add(row, expansion_id)
                pending.extend(fresh)
                kept = rows[-1].kind != "exhausted"
                demand.wanted -= kept
                progress.add(kept=kept, rejected=sum(rows[-1].rejected.values()))
                if _hopeless(tally, before):
                    demand.wanted = 0
                if time.monotonic() > committed + COMMIT_EVERY_S:
                    store.commit(pending)
                    pending, committed = [], time.monotonic()
        finally:
            store.commit(pending)
    _report(store, recipe, tally, n=n, progress=progress, as_json=as_json)
    return tally


def _hopeless(tally: Tally, before: int) -> bool:
    """Tell whether hardly any index gives a scene, so that going on would only burn time."""
    return tally.exhausted >= GIVE_UP_AFTER and tally.exhausted > 4 * (tally.kept - before)


def _report(
    store: FolderLibrary, recipe: Recipe, tally: Tally, *, n: int, progress: SceneProgress, as_json: bool
) -> None:
    attempts = tally.kept + sum(tally.rejected.values())
    facts = {
        "event": "done",
        "library": str(store.folder),
        "expansion": recipe.expansion.content_id,
        "kept": tally.kept,
        "n": n,
        "twins": tally.twins,
        "exhausted_indices": tally.exhausted,
        "rejected": dict(tally.rejected.most_common()),
        "seconds": round(progress.seconds, 2),
        "scenes_per_s": round(progress.rate, 1),
    }
    if as_json:
        typer.echo(json.dumps(facts))
        return
    typer.echo(
        f"kept {tally.kept} of {n} scenes with {tally.twins} unperturbed twins in {store.folder} "
        f"({progress.rate:.0f} scenes/s, {progress.seconds:.1f} s)"
    )
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
