"""`scenegen library reproduce`: make a scene again from its chain and compare the bytes."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import typer

from library.chain import cell_and_parts_of, chain_of, chain_text, expansion_of
from library.files import SCRATCH
from library.layers import Layers
from library.proposals import proposed_of
from library.row import Row
from library.snapshot import Snapshot
from library.versioned import USD, VersionedLibrary
from scenegen import __version__
from scenegen.commands.exits import EXIT_FINDINGS
from scenegen.commands.opened import LIBRARY, VERSION, open_version
from scenegen.commands.recipe import Workshop
from scenegen.errors import LibraryError
from scenegen.expand import Expander, Made
from scenegen.scenario import Facet
from scenegen.usd.files import CELLS, layout_path, scene_path
from scenegen.vlm.way import ProposedWay

app = typer.Typer()


@app.command()
def reproduce(
    scenario: str = typer.Argument(..., help="The scenario's id, or its first digits."),
    library: str = LIBRARY,
    version: str = VERSION,
) -> None:
    """Make a scene again - cell, base, variation, checks - and compare id and USD bytes; exit code 1 if they differ."""
    store, snapshot = open_version(library, version)
    row = snapshot.find(scenario)
    for line in chain_text(chain_of(snapshot, row)):
        typer.echo(line)
    differences = replay(store, snapshot, row)
    if not differences:
        typer.echo(f"same bytes: {row.scenario_id} was made again from its chain")
        return
    for difference in differences:
        typer.echo(f"differs: {difference}")
    raise typer.Exit(EXIT_FINDINGS)


def replay(store: VersionedLibrary, snapshot: Snapshot, row: Row) -> list[str]:
    """Make a scene again and name what differs from what is kept.

    Raises:
        LibraryError: No expansion made it, a record is missing, or another version of scenegen made it.
    """
    expansion, indices = expansion_of(store, snapshot, row)
    if expansion.version != __version__:
        reason = f"scene {row.scenario_id} was made by scenegen {expansion.version}, and this is {__version__}"
        raise LibraryError(snapshot.name, reason, f"install scenegen {expansion.version} to make it again")
    cell, parts = cell_and_parts_of(store, snapshot, expansion)
    root = store.folder
    workshop = Workshop.of(cell, parts, robots=root / USD / CELLS, scratch=root / SCRATCH)
    session = workshop.session(expansion)
    if expansion.proposer is not None:
        proposed = proposed_of(store, snapshot, row)
        ways = (ProposedWay(proposed),) * expansion.per_base if proposed else ()
        session = replace(session, proposed=lambda base: ways)
    made = _made(Expander(expansion, session), indices, row)
    plan = workshop.checker.plan.content_id
    differences = ["no valid scene came of it"] if made is None else _compared(store, snapshot, row, made, workshop)
    if differences and row.plan_id not in (None, plan):
        differences.append(f"the checks: plan {row.plan_id} then, {plan} now; they choose among the attempts")
    return differences


def _made(expander: Expander, indices: tuple[int, ...], row: Row) -> Made | None:
    """Make the indices until one gives the scene, or its base where a base is wanted."""
    if row.expansion is not None:
        return expander.make(indices[0]).made
    for index in indices:
        base = expander.make(index).base
        if base is not None and base.provenance.index == row.provenance.index:
            return base
    return None


def _compared(store: VersionedLibrary, snapshot: Snapshot, row: Row, made: Made, workshop: Workshop) -> list[str]:
    scenario = made.scenario
    differences = []
    if scenario.id != row.scenario_id:
        facets = [facet.value for facet in Facet if row.facets[facet] != scenario.facet_ids[facet]]
        where = ", ".join(facets) or "assets"
        differences.append(f"the scenario: {row.scenario_id} kept, {scenario.id} made; in {where}")
    if made.provenance != row.provenance:
        differences.append("its provenance: attempt, parent or severity")
    layers = {
        f"{USD}/{layout_path(scenario.key(Facet.LAYOUT))}": (
            workshop.writer.layout_layer(scenario).encode(),
            row.layout_sha256,
        ),
        f"{USD}/{scene_path(scenario.id)}": (workshop.writer.scene_layer(scenario).encode(), row.scene_sha256),
    }
    texts = Layers(store, snapshot).texts(row)
    for path, (data, kept) in layers.items():
        wanted = kept or hashlib.sha256(texts.get(path, b"")).hexdigest()
        if hashlib.sha256(data).hexdigest() != wanted:
            differences.append(f"the bytes of {path}")
        elif store.files.local(path).is_file() and store.files.read(path) != data:
            differences.append(f"the file {path} (damaged: `scenegen library verify`)")
    return differences
