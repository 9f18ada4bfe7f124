"""`scenegen show`: one scene of a library in words and as a picture."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from library.certificate import certificates
from library.chain import chain_of, chain_text, expand_command, expansion_of
from library.layers import Layers
from library.proposals import call_of, proposed_of
from library.row import KeptVerdict, Row
from library.snapshot import Snapshot
from library.versioned import VersionedLibrary
from scenegen.commands.artist import CAMERA_HELP, RENDERER_HELP, Artist, Renderer
from scenegen.commands.cited import SHORT
from scenegen.commands.describe import describe_axes
from scenegen.commands.opened import LIBRARY_OPTION, VERSION, open_version
from scenegen.commands.picture_file import picture_target, write_picture
from scenegen.commands.sheets import entry_of
from scenegen.errors import LibraryError
from scenegen.imaging.sheet import VIEW, VIEW_HEADLINE, contact_sheet
from scenegen.relations import ASSIGNED, related, scene_graph
from scenegen.scenario import Scenario
from scenegen.verdict import Status

app = typer.Typer()


@app.command()
def show(
    scenario: str = typer.Argument(..., help="The scenario's id, or its first digits."),
    library: str = LIBRARY_OPTION,
    version: str = VERSION,
    output: Path | None = typer.Option(None, "-o", "--output", help="Also draw the scene into this picture."),
    camera: str = typer.Option(VIEW, help=CAMERA_HELP),
    renderer: Renderer = typer.Option(Renderer.SHADED.value, help=RENDERER_HELP),
    as_json: bool = typer.Option(False, "--json", help="Print the scenario's row."),
) -> None:
    """Show one scene: what is in it, where it came from, what the checks said."""
    target = picture_target(output) if output else None
    store, snapshot = open_version(library, version)
    row = snapshot.find(scenario)
    if as_json:
        typer.echo(json.dumps(row.model_dump(mode="json"), indent=2))
        return
    layers = Layers(store, snapshot)
    path, scene = layers.scene(row), snapshot.scenario(row)
    cell, parts = layers.cell_and_parts(row)
    _print_row(row, path, scene, snapshot.verdict(row))
    _print_certificates(snapshot, row)
    _print_proposal(store, snapshot, row)
    _print_items(scene, scene_graph(scene, cell, labels={part.id: part.label for part in parts.values()}))
    _print_chain(store, snapshot, row)
    if target is None:
        return
    headline = VIEW_HEADLINE * (camera == VIEW)
    picture = contact_sheet(
        [entry_of(snapshot, layers, row)], Artist(renderer).picture, camera=camera, headline=headline
    )
    write_picture(picture, target)
    typer.echo(f"wrote {target}")


def _print_row(row: Row, path: Path, scene: Scenario, verdict: KeptVerdict | None) -> None:
    out, (axes, severity) = Console(), describe_axes(row)
    origin = row.provenance
    facts = Table(show_header=False, box=None)
    facts.add_row("scenario", row.scenario_id)
    facts.add_row("file", str(path))
    facts.add_row("axes", f"{axes or 'none: a base'} ({severity})" if severity else axes or "none: a base")
    facts.add_row("twin", origin.base_id)
    facts.add_row(
        "made by",
        f"{origin.generator} {origin.generator_version}, seed {origin.seed}, "
        f"index {origin.index}, attempt {origin.attempt}",
    )
    if verdict is not None:
        passed = sum(status is Status.PASSED for status in verdict.statuses.values())
        facts.add_row("checks", f"{passed} of {len(verdict.statuses)} passed")
    facts.add_row("instruction", scene.task.instruction)
    out.print(facts)


def _print_certificates(snapshot: Snapshot, row: Row) -> None:
    """Print whether the oracle sorted the scene, once for each time it tried."""
    for one in certificates(snapshot, scenario_id=row.scenario_id):
        takt = "" if one.takt_s is None else f", {one.takt_s:.1f} s a part"
        said = "the oracle sorts it" if one.solved else "the oracle does not sort it"
        typer.echo(f"{said}{takt} (run {one.run_id[:SHORT]}, {one.device})")


def _print_proposal(store: VersionedLibrary, snapshot: Snapshot, row: Row) -> None:
    """Print what a model proposed, if the scene came of that, and the call behind it."""
    proposed = proposed_of(store, snapshot, row)
    if proposed is None:
        return
    call, facts = call_of(store, snapshot, proposed), Table(show_header=False, box=None)
    pictures = [digest[:SHORT] for message in call.request.messages for digest in message.pictures]
    facts.add_row("cause", escape(proposed.proposal.cause))
    facts.add_row("likelihood", proposed.proposal.likelihood.value)
    facts.add_row("expects", proposed.proposal.expected_failure.value.replace("_", " "))
    facts.add_row("proposed by", escape(f"{call.model} (as the server says: {call.reply.model})"))
    facts.add_row("asked with", f"prompt {call.request.prompt} {call.request.prompt_hash[:SHORT]}")
    facts.add_row("shown", f"picture {', '.join(pictures)}" if pictures else "no picture")
    facts.add_row("call", f"{proposed.call_id}: records/{proposed.call_id}.json holds request and reply")
    Console().print(facts)


def _print_items(scene: Scenario, graph: nx.MultiDiGraph) -> None:
    table = Table("item", "lies in", "goes to", "cause", "x m", "y m", "z m")
    for item in scene.layout.items:
        position = (f"{value:.4f}" for value in item.pose_to_world.position_m)
        goes_to = ", ".join(related(graph, item.name, ASSIGNED))
        table.add_row(item.name, item.zone, goes_to, item.cause.value, *position)
    Console().print(table)


def _print_chain(store: VersionedLibrary, snapshot: Snapshot, row: Row) -> None:
    """Print how the scene came to be, and what makes it again."""
    typer.echo("\n".join(["chain", *chain_text(chain_of(snapshot, row))]))
    try:
        expansion, indices = expansion_of(store, snapshot, row)
    except LibraryError as error:
        typer.echo(f"cannot be made again: {error.reason}")
        return
    typer.echo(f"make it again: {expand_command(store, expansion, indices[0])}")
    typer.echo(f"compare bytes: scenegen library reproduce {row.scenario_id} {snapshot.name}")
