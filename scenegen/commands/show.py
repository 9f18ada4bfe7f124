"""`scenegen show`: one scene of a library in words and as a picture."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import typer
from rich.console import Console
from rich.table import Table

from library.folder import FolderLibrary, library_error
from library.row import Row
from scenegen.commands.library import describe_axes, dump, entry_of
from scenegen.imaging.sheet import contact_sheet
from scenegen.relations import ASSIGNED, related, scene_graph
from scenegen.scenario import Scenario
from scenegen.usd.reader import read_cell_and_parts, read_scenario
from scenegen.usd.writer import scene_path
from scenegen.verdict import Status

app = typer.Typer()


@app.command()
def show(
    scenario: str = typer.Argument(..., help="The scenario's id, or its first digits."),
    library: Path = typer.Option(Path("scenarios"), help="Folder of the library."),
    output: Path | None = typer.Option(None, "-o", "--output", help="Also draw the scene into this picture."),
    camera: str = typer.Option("view", help="A camera of the cell, or `view` for an overview."),
    as_json: bool = typer.Option(False, "--json", help="Print the manifest's row."),
) -> None:
    """Show one scene: what is in it, where it came from, what the checks said."""
    store = FolderLibrary.open(library)
    row = store.find(scenario)
    if as_json:
        typer.echo(dump(row))
        return
    path = store.path(scene_path(row.scenario_id or ""))
    scene = read_scenario(path, trusted=True)
    cell, parts = read_cell_and_parts(path, trusted=True)
    _print_row(row, path, scene)
    _print_items(scene, scene_graph(scene, cell, labels={part.id: part.label for part in parts.values()}))
    if output is None:
        return
    try:
        contact_sheet([entry_of(store, row)], camera=camera).save(output)
    except OSError as error:
        raise library_error(output, error) from error
    typer.echo(f"wrote {output}")


def _print_row(row: Row, path: Path, scene: Scenario) -> None:
    out, (axes, severity) = Console(), describe_axes(row)
    origin = row.provenance
    facts = Table(show_header=False, box=None)
    facts.add_row("scenario", row.scenario_id or "")
    facts.add_row("file", str(path))
    facts.add_row("axes", f"{axes or 'none: a base'} ({severity})" if severity else axes or "none: a base")
    if origin is not None:
        facts.add_row("twin", origin.base_id)
        facts.add_row(
            "made by",
            f"{origin.generator} {origin.generator_version}, seed {origin.seed}, "
            f"index {origin.index}, attempt {origin.attempt}",
        )
    passed = sum(status is Status.PASSED for status in row.results.values())
    facts.add_row("checks", f"{passed} of {len(row.results)} passed")
    facts.add_row("instruction", scene.task.instruction)
    out.print(facts)


def _print_items(scene: Scenario, graph: nx.MultiDiGraph) -> None:
    table = Table("item", "lies in", "goes to", "cause", "x m", "y m", "z m")
    for item in scene.layout.items:
        position = (f"{value:.4f}" for value in item.pose_to_world.position_m)
        goes_to = ", ".join(related(graph, item.name, ASSIGNED))
        table.add_row(item.name, item.zone, goes_to, item.cause.value, *position)
    Console().print(table)
