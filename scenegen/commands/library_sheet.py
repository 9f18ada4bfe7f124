"""`scenegen library sheet`: a contact sheet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import typer
from PIL import Image as Picture

from library.files import library_error
from library.layers import Layers
from library.row import Row
from library.snapshot import Snapshot
from library.thumbnails import Thumbnails
from scenegen.commands.describe import describe_axes
from scenegen.commands.grid_lines import LEVELS, GridLine, grid_lines
from scenegen.commands.library_list import varies
from scenegen.commands.opened import LIBRARY, VERSION, open_version
from scenegen.errors import InvalidOption
from scenegen.imaging.page import Panel, page
from scenegen.imaging.render import Painter
from scenegen.imaging.sheet import HEIGHT_PX, SheetEntry, contact_sheet, sheet_picture

GRID_PX = 190
"""Height of the pictures of a grid [px]."""

app = typer.Typer()


@app.command()
def sheet(
    library: str = LIBRARY,
    version: str = VERSION,
    output: Path = typer.Option(Path("sheet.png"), "-o", "--output", help="Picture to write."),
    axis: str = typer.Option("", help="Only scenes that vary this axis."),
    count: int = typer.Option(24, min=1, max=200, help="How many scenes to show."),
    camera: str = typer.Option("view", help="A camera of the cell, or `view` for an overview."),
    grid: bool = typer.Option(False, help="Axes as rows, levels as columns, each row beginning with a twin."),
) -> None:
    """Draw a contact sheet: scenes spread evenly over the library, each with its axes and severity."""
    store, snapshot = open_version(library, version)
    kept = list(snapshot.rows(where=varies(axis)))
    rows = [row for row in kept if row.kind != "base"] or kept
    if not rows:
        raise InvalidOption("--axis", axis or "(all)", "an axis of which the library holds scenes")
    layers = Layers(store, snapshot)
    if grid:
        lines = grid_lines(rows, snapshot)
        thumbnails = Thumbnails(store.files, style=f"{GRID_PX}px")
        picture, shown = _grid(lines, snapshot, layers, camera, thumbnails), sum(len(line.levels) for line in lines)
    else:
        entries = [entry_of(snapshot, layers, row) for row in spread(rows, count)]
        thumbnails, shown = Thumbnails(store.files, style=f"{HEIGHT_PX}px"), len(entries)
        picture = contact_sheet(
            entries, camera=camera, remember=lambda scene, name, draw: thumbnails.picture(scene.id, name, draw)
        )
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        picture.save(output)
    except OSError as error:
        raise library_error(output, error) from error
    typer.echo(f"wrote {output}: {shown} of {len(rows)} scenes")


def _grid(
    lines: list[GridLine], snapshot: Snapshot, layers: Layers, camera: str, thumbnails: Thumbnails
) -> Picture.Image:
    """Draw one line an axis: the twin, then the levels."""
    painters: dict[str, Painter] = {}

    def panel(row: Row | None, twin: Row) -> Panel | None:
        if row is None:
            return None
        entry = entry_of(snapshot, layers, row)
        if row.cell_id not in painters:
            painters[row.cell_id] = Painter(entry.cell, entry.parts)
        draw = partial(sheet_picture, painters[row.cell_id], entry, camera, height_px=GRID_PX)
        first, _, rest = entry.text.partition(", ")
        other = "" if twin.scenario_id in (row.scenario_id, row.provenance.base_id) else "of another twin"
        text = ", ".join(part for part in (rest, other) if part)
        return Panel(thumbnails.picture(row.scenario_id, camera, draw), first, text)

    rows = [
        [panel(line.twin, line.twin), *(panel(line.levels.get(level), line.twin) for level in LEVELS)] for line in lines
    ]
    columns = ("unperturbed twin", *(f"level {level}" for level in LEVELS))
    return page(rows, row_names=[line.axis for line in lines], column_names=columns, gap_px=8)


def entry_of(snapshot: Snapshot, layers: Layers, row: Row) -> SheetEntry:
    """Build a kept scene for a picture."""
    cell, parts = layers.cell_and_parts(row)
    title, text = describe_axes(row)
    return SheetEntry(cell, parts, snapshot.scenario(row), title=title or "base", text=text)


def spread(rows: Sequence[Row], count: int) -> list[Row]:
    """Choose rows so that every axis and level is seen before one is seen twice; in the order of axes and levels."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(describe_axes(row)[0], []).append(row)
    in_turn = sorted(groups, key=lambda name: (_levels(groups[name][0]), name))
    shares = Counter(islice(cycle(in_turn), min(count, len(rows))))
    chosen = []
    for name in sorted(shares):
        group, share = groups[name], min(shares[name], len(groups[name]))
        chosen += [group[index * len(group) // share] for index in range(share)]
    return chosen


def _levels(row: Row) -> tuple[int, ...]:
    return tuple(setting.level for setting in row.provenance.axes)
