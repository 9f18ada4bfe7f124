"""`scenegen render`: pictures of one scene or of all scenes of a library."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import typer
from PIL import Image as Picture

from library.files import library_error
from library.layers import Layers
from library.row import Row
from library.snapshot import Snapshot
from scenegen.commands.artist import Artist, Renderer, Style
from scenegen.commands.check import USD_SUFFIXES
from scenegen.commands.counted import Counted
from scenegen.commands.describe import describe_axes
from scenegen.commands.library_list import varies
from scenegen.commands.opened import LIBRARY_OPTION, VERSION, open_version
from scenegen.commands.progress import progress_style
from scenegen.errors import InvalidOption
from scenegen.imaging.page import Panel, page
from scenegen.imaging.render import Image
from scenegen.usd.package import unpacked
from scenegen.usd.reader import read_cell_and_parts, read_scenario

ALL = "all"
SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")

app = typer.Typer()


@app.command()
def render(
    what: str = typer.Argument(..., help="A scenario's id or its first digits, a USD scene, or `all`."),
    library: str = LIBRARY_OPTION,
    version: str = VERSION,
    output: Path | None = typer.Option(None, "-o", "--output", help="Picture to write; with `all` a folder."),
    size: int = typer.Option(640, min=32, max=4096, help="Width of a picture [px]."),
    renderer: Renderer = typer.Option(
        Renderer.PREVIEW.value,
        help="preview: quick; shaded: the camera's photo; path: path tracing (extra `render`).",
    ),
    camera: str = typer.Option("view", help="A camera of the cell, or `view` for an overview."),
    spp: int = typer.Option(64, min=1, max=4096, help="Paths a pixel, with --renderer path."),
    pair: bool = typer.Option(False, help="Put the unperturbed twin beside each scene."),
    axis: str = typer.Option("", help="With `all`: only scenes that vary this axis."),
) -> None:
    """Draw a scene as a picture, or all scenes of a library into a folder; run it again to continue."""
    artist = Artist(style := Style(renderer, camera, size, spp))
    if Path(what).suffix in USD_SUFFIXES:
        if pair:
            raise InvalidOption("--pair", what, "a scene of a library, which knows its twin")
        target = _target(output or Path(what).with_suffix(".png"))
        _write(Picture.fromarray(_picture_of_file(artist, Path(what))), target)
        typer.echo(f"wrote {target}")
        return
    store, snapshot = open_version(library, version)
    gallery = Gallery(artist, snapshot, Layers(store, snapshot), pair=pair)
    if what == ALL:
        rows = [row for row in snapshot.rows(where=varies(axis)) if _varied(row) or not pair]
        if not rows:
            raise InvalidOption("--axis", axis or "(all)", "an axis of which the library holds scenes")
        _draw_all(gallery, rows, output or Path("renders"), style)
        return
    row = snapshot.find(what)
    if pair and not _varied(row):
        raise InvalidOption("--pair", what, "a scene with a twin; this one is a base")
    target = _target(output or Path(f"{row.scenario_id}.png"))
    _write(gallery.page(row), target)
    typer.echo(f"wrote {target}")


class Gallery:
    """Draws scenes of one version of a library, alone or beside their twins.

    Args:
        artist: Draws a scene.
        snapshot: The version.
        layers: Its cells and parts.
        pair: Whether each scene stands beside its twin. A twin is drawn once.
    """

    def __init__(self, artist: Artist, snapshot: Snapshot, layers: Layers, *, pair: bool) -> None:
        self._artist, self._snapshot, self._layers = artist, snapshot, layers
        self.pair = pair
        self._twin: tuple[str, Image] | None = None

    def page(self, row: Row) -> Picture.Image:
        """Draw a scene; in a pair with its caption, the twin on the left."""
        if not self.pair:
            return Picture.fromarray(self._draw(row))
        base = self._snapshot.find(row.provenance.base_id)
        if self._twin is None or self._twin[0] != base.scenario_id:
            self._twin = (base.scenario_id, self._draw(base))
        title, text = describe_axes(row)
        before = Panel(self._twin[1], "before: the unperturbed twin", base.scenario_id)
        return page([[before, Panel(self._draw(row), f"after: {title}", text)]])

    def _draw(self, row: Row) -> Image:
        return self._artist.picture(self._snapshot.scenario(row), *self._layers.cell_and_parts(row))


def _varied(row: Row) -> bool:
    return row.provenance.base_id != row.scenario_id


def _draw_all(gallery: Gallery, rows: Sequence[Row], folder: Path, style: Style) -> None:
    """Draw what the folder lacks; a picture appears whole or not at all, so that this can be stopped at any time."""
    suffix = f"{style.name}_pair" if gallery.pair else style.name
    targets = {folder / f"{_slug(row)}_{row.scenario_id}_{suffix}.png": row for row in rows}
    missing = {target: row for target, row in targets.items() if not target.exists()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise library_error(folder, error) from error
    with Counted("pictures", len(missing), style=progress_style(as_json=False)) as progress:
        for target, row in sorted(missing.items(), key=lambda pair: (pair[1].provenance.base_id, pair[0])):
            _write(gallery.page(row), target)
            progress.add()
    kept = len(targets) - len(missing)
    typer.echo(f"wrote {len(missing)} pictures into {folder}" + (f", {kept} were there" if kept else ""))


def _slug(row: Row) -> str:
    return "+".join(f"{setting.axis}-{setting.level}" for setting in row.provenance.axes) or "base"


def _picture_of_file(artist: Artist, path: Path) -> Image:
    with unpacked(path) as scene:
        return np.asarray(artist.picture(read_scenario(scene), *read_cell_and_parts(scene, trusted=True)))


def _target(path: Path) -> Path:
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidOption("--output", path, f"a file that ends in {', '.join(SUFFIXES)}")
    return path


def _write(picture: Picture.Image, target: Path) -> None:
    part = target.with_name(f".{os.getpid()}_{target.name}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        picture.save(part)
        part.replace(target)
    except OSError as error:
        raise library_error(target, error) from error
    finally:
        part.unlink(missing_ok=True)
