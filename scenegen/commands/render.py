"""`scenegen render`: pictures of one scene or of all scenes of a library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer
from PIL import Image as Picture

from library.layers import Layers
from library.row import Row
from library.snapshot import Snapshot
from scenegen.cell import Cell
from scenegen.commands.artist import CAMERA_HELP, RENDERER_HELP, SPP, Artist, Renderer
from scenegen.commands.check import USD_SUFFIXES
from scenegen.commands.counted import Counted
from scenegen.commands.describe import describe_axes, instruction_of
from scenegen.commands.library_list import varies
from scenegen.commands.opened import LIBRARY_OPTION, VERSION, open_version
from scenegen.commands.picture_file import picture_folder, picture_target, write_picture
from scenegen.commands.progress import progress_style
from scenegen.errors import InvalidOption
from scenegen.imaging.page import Panel, page
from scenegen.imaging.render import Image
from scenegen.imaging.sheet import ASPECT, VIEW, VIEW_HEADLINE, SheetEntry, sheet_picture
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Scenario
from scenegen.usd.package import unpacked
from scenegen.usd.reader import read_cell_and_parts, read_scenario

ALL = "all"
WIDE = 1.3
"""Width over height of pictures from which on a pair stands one above the other, to be seen large."""

app = typer.Typer()


@app.command()
def render(
    what: str = typer.Argument(..., help="A scenario's id or its first digits, a USD scene, or `all`."),
    library: str = LIBRARY_OPTION,
    version: str = VERSION,
    output: Path | None = typer.Option(None, "-o", "--output", help="Picture to write; with `all` a folder."),
    size: int = typer.Option(640, min=32, max=4096, help="Width of a picture [px]; of `view`, that of the overview."),
    renderer: Renderer = typer.Option(Renderer.SHADED.value, help=RENDERER_HELP),
    camera: str = typer.Option(VIEW, help=CAMERA_HELP),
    spp: int = typer.Option(SPP, min=1, max=4096, help="Paths a pixel, with --renderer path."),
    pair: bool = typer.Option(False, help="Put the unperturbed twin beside each scene."),
    axis: str = typer.Option("", help="With `all`: only scenes that vary this axis."),
) -> None:
    """Draw a scene as a picture, or all scenes of a library into a folder; run it again to continue."""
    if axis and what != ALL:
        raise InvalidOption("--axis", axis, "with `all`, not with one scene")
    artist = Artist(renderer, spp=spp)
    if Path(what).suffix:
        target = _draw_file(Easel(artist, camera, size), Path(what), output, pair=pair)
        typer.echo(f"wrote {target}")
        return
    store, snapshot = open_version(library, version)
    gallery = Gallery(Easel(artist, camera, size), snapshot, Layers(store, snapshot), pair=pair)
    if what == ALL:
        rows = [row for row in snapshot.rows(where=varies(axis)) if _varied(row) or not pair]
        if not rows:
            raise InvalidOption("--axis", axis or "(all)", "an axis of which the library holds scenes")
        _draw_all(gallery, rows, picture_folder(output or Path("renders")))
        return
    row = snapshot.find(what)
    if pair and not _varied(row):
        raise InvalidOption("--pair", what, "a scene with a twin; this one is a base")
    target = picture_target(output or Path(f"{row.scenario_id}.png"))
    write_picture(gallery.page(row), target)
    typer.echo(f"wrote {target}")


@dataclass(frozen=True)
class Easel:
    """How pictures are drawn."""

    artist: Artist
    camera: str
    """A camera of the cell, `overview` or `view`."""
    width_px: int
    """Width of a picture, of `view` that of the overview."""

    @property
    def name(self) -> str:
        """The way of drawing in a file's name: pictures of one scene and of one name are the same."""
        return f"{self.camera}_{self.artist.name}_{self.width_px}px"

    def picture(self, scenario: Scenario, cell: Cell, parts: Catalogue) -> Image:
        """Draw a scene, sRGB, shape [h, w, 3].

        Raises:
            UnknownName: The scene has no such camera.
        """
        seen = next((one for one in scenario.cameras.cameras if one.name == self.camera), None)
        aspect = ASPECT if seen is None else seen.width_px / seen.height_px
        entry = SheetEntry(cell, parts, scenario, title="")
        return sheet_picture(entry, self.camera, self.artist.picture, height_px=self.width_px / aspect)


class Gallery:
    """Draws scenes of one version of a library, alone or beside their twins.

    Args:
        easel: Draws a scene.
        snapshot: The version.
        layers: Its cells and parts.
        pair: Whether each scene stands beside its twin. A twin is drawn once.
    """

    def __init__(self, easel: Easel, snapshot: Snapshot, layers: Layers, *, pair: bool) -> None:
        self._easel, self._snapshot, self._layers = easel, snapshot, layers
        self._pair = pair
        self._twin: tuple[str, Panel] | None = None

    @property
    def name(self) -> str:
        """The way of drawing in a file's name."""
        return f"{self._easel.name}_pair" if self._pair else self._easel.name

    def page(self, row: Row) -> Picture.Image:
        """Draw a scene; in a pair with its caption, the twin on the left, or above where pictures are wide."""
        if not self._pair:
            return Picture.fromarray(self._panel(row, "").image)
        base = self._snapshot.find(row.provenance.base_id)
        if self._twin is None or self._twin[0] != base.scenario_id:
            self._twin = (base.scenario_id, self._panel(base, "before: the unperturbed twin"))
        before, after = self._twin[1], self._panel(row, f"after: {': '.join(describe_axes(row))}")
        height, width = after.image.shape[:2]
        rows = [[before], [after]] if width > WIDE * height else [[before, after]]
        return page(rows, headline=VIEW_HEADLINE * (self._easel.camera == VIEW))

    def _panel(self, row: Row, title: str) -> Panel:
        scenario = self._snapshot.scenario(row)
        image = self._easel.picture(scenario, *self._layers.cell_and_parts(row))
        told = instruction_of(row, scenario)
        return Panel(image, title, f"{row.scenario_id}  {told}" if told else row.scenario_id)


def _varied(row: Row) -> bool:
    return row.provenance.base_id != row.scenario_id


def _draw_all(gallery: Gallery, rows: Sequence[Row], folder: Path) -> None:
    """Draw what the folder lacks; a picture appears whole or not at all, so that this can be stopped at any time."""
    targets = {folder / f"{_slug(row)}_{row.scenario_id}_{gallery.name}.png": row for row in rows}
    missing = {target: row for target, row in targets.items() if not target.exists()}
    with Counted("pictures", len(missing), style=progress_style(as_json=False)) as progress:
        for target, row in sorted(missing.items(), key=lambda pair: (pair[1].provenance.base_id, pair[0])):
            write_picture(gallery.page(row), target)
            progress.add()
    kept = len(targets) - len(missing)
    typer.echo(f"wrote {len(missing)} pictures into {folder}" + (f", {kept} were there" if kept else ""))


def _slug(row: Row) -> str:
    return "+".join(f"{setting.axis}-{setting.level}" for setting in row.provenance.axes) or "base"


def _draw_file(easel: Easel, path: Path, output: Path | None, *, pair: bool) -> Path:
    if path.suffix not in USD_SUFFIXES:
        raise InvalidOption("render", path, f"a scenario's id, `{ALL}`, or a USD scene ({', '.join(USD_SUFFIXES)})")
    if not path.is_file():
        raise InvalidOption("render", path, "a file that is there")
    if pair:
        raise InvalidOption("--pair", path, "a scene of a library, which knows its twin")
    target = picture_target(output or path.with_suffix(".png"))
    with unpacked(path) as scene:
        picture = easel.picture(read_scenario(scene), *read_cell_and_parts(scene, trusted=True))
    write_picture(Picture.fromarray(picture), target)
    return target
