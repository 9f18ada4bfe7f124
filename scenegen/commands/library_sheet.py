"""`scenegen library sheet`: a contact sheet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

import typer

from library.row import Row
from scenegen.commands.artist import CAMERA_HELP, RENDERER_HELP, Artist, Renderer
from scenegen.commands.describe import describe_axes
from scenegen.commands.grid_lines import grid_lines
from scenegen.commands.library_list import varies
from scenegen.commands.opened import LIBRARY, VERSION, open_version
from scenegen.commands.picture_file import picture_target, write_picture
from scenegen.commands.sheets import Sheets
from scenegen.errors import InvalidOption
from scenegen.imaging.sheet import VIEW

app = typer.Typer()


@app.command()
def sheet(
    library: str = LIBRARY,
    version: str = VERSION,
    output: Path = typer.Option(Path("sheet.png"), "-o", "--output", help="Picture to write."),
    axis: str = typer.Option("", help="Only scenes that vary this axis."),
    count: int = typer.Option(24, min=1, max=200, help="How many scenes to show, without --grid."),
    camera: str = typer.Option(VIEW, help=CAMERA_HELP),
    renderer: Renderer = typer.Option(Renderer.SHADED.value, help=RENDERER_HELP),
    grid: bool = typer.Option(
        False, help="Levels as columns beside the twin; axes as rows, with --axis the axis' kinds of change as rows."
    ),
    close_ups: bool = typer.Option(
        False, "--close-ups", help="With --grid: what changed most, from near, beside the same place in the twin."
    ),
) -> None:
    """Draw a contact sheet: scenes spread evenly over the library, each with its axes and severity."""
    if close_ups and not grid:
        raise InvalidOption("--close-ups", "alone", "with --grid")
    target = picture_target(output)
    artist = Artist(renderer)
    store, snapshot = open_version(library, version)
    kept = list(snapshot.rows(where=varies(axis)))
    rows = [row for row in kept if row.kind != "base"] or kept
    if not rows:
        raise InvalidOption("--axis", axis or "(all)", "an axis of which the library holds scenes")
    sheets = Sheets(store, snapshot, artist, camera)
    if grid:
        lines = grid_lines(rows, snapshot, each_kind=bool(axis))
        picture, shown = sheets.grid(lines, close_ups=close_ups), sum(len(line.levels) for line in lines)
    else:
        chosen = spread(rows, count)
        picture, shown = sheets.rows(chosen), len(chosen)
    write_picture(picture, target)
    typer.echo(f"wrote {target}: {shown} of {len(rows)} scenes")


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
