"""Contact sheets of a library's scenes: rows of pictures, or a grid of axes and levels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from PIL import Image as Picture

from library.layers import Layers
from library.row import Row
from library.snapshot import Snapshot
from library.thumbnails import Thumbnails
from library.versioned import VersionedLibrary
from scenegen import __version__
from scenegen.axes.registry import AXES
from scenegen.commands.artist import Artist
from scenegen.commands.counted import Counted
from scenegen.commands.describe import departures, describe_axes, instruction_of
from scenegen.commands.grid_lines import LEVELS, GridLine
from scenegen.commands.progress import progress_style
from scenegen.errors import UnknownName
from scenegen.geometry import Array
from scenegen.imaging.close_up import changed_spot, close_up
from scenegen.imaging.page import Panel, page
from scenegen.imaging.pinhole import project
from scenegen.imaging.render import Image
from scenegen.imaging.sheet import (
    HEIGHT_PX,
    OVERVIEW,
    PAPER,
    SEAM_PX,
    VIEW,
    VIEW_HEADLINE,
    SheetEntry,
    contact_sheet,
    sheet_picture,
)
from scenegen.scenario import Camera, Facet, Scenario

GRID_PX = 224
"""Height of the pictures of a grid [px]: that of the built-in cells' cameras, so that their noise is shown as it is."""
CLOSE_PX = 150
"""Height of close-ups [px]: two beside each other, five times, still fit a page."""
CLOSE_HEADLINE = "What changed most, from near: on the left in the twin, on the right in the scene"
TWIN = "unperturbed twin"
SATURATED = "saturated share"
"""What varies where saturated pixels are painted, since white beside almost white cannot be seen."""
RED = (225, 20, 60)
UNSEEN = frozenset({Facet.MATTER, Facet.MOTION, Facet.TASK})
"""What pictures do not show."""
NO_TWIN = Panel(np.full((1, 1, 3), PAPER, np.uint8))
"""Stands where a twin would stand if all levels had one in common."""

Drawing = Callable[[Row], Image]


class Sheets:
    """Lays out pictures of one version's scenes, drawn once and kept in the library.

    Args:
        store: The library.
        snapshot: The version.
        artist: Draws a scene.
        camera: A camera of the cell, `overview` or `view`.
    """

    def __init__(self, store: VersionedLibrary, snapshot: Snapshot, artist: Artist, camera: str) -> None:
        self._snapshot, self._layers = snapshot, Layers(store, snapshot)
        self._files, self._artist, self._camera = store.files, artist, camera

    def rows(self, rows: Sequence[Row]) -> Picture.Image:
        """Draw scenes with their captions in rows of three."""
        thumbnails = self._thumbnails(HEIGHT_PX)
        entries = [entry_of(self._snapshot, self._layers, row) for row in rows]
        with Counted("pictures", len(entries), style=progress_style(as_json=False)) as progress:

            def remember(scenario: Scenario, camera: str, draw: Callable[[], Image]) -> Image:
                image = thumbnails.picture(scenario.id, camera, draw)
                progress.add()
                return image

            headline = VIEW_HEADLINE * (self._camera == VIEW)
            return contact_sheet(
                entries, self._artist.picture, camera=self._camera, headline=headline, remember=remember
            )

    def grid(self, lines: Sequence[GridLine], *, close_ups: bool = False) -> Picture.Image:
        """Draw a row a line: the twin, then the levels; two rows, twins above variants, where twins differ.

        Args:
            lines: The scenes.
            close_ups: Show of each level what changed most, from near, beside the same place in its twin.
        """
        whole = self._whole_close if close_ups else self._whole
        rows: list[tuple[str, list[Row | None], Drawing]] = []
        for line in lines:
            name = "\n".join([line.axis, *filter(None, [line.kind]), *_notes(line)])
            twins = [line.twins.get(level) for level in LEVELS]
            levels = [line.levels.get(level) for level in LEVELS]
            if line.twin is None and close_ups:
                name += "\ntwins differ"
            elif line.twin is None:
                rows.append((f"{line.axis}\neach one's twin", [None, *twins], whole))
            rows.append((name, [line.twin, *levels], self._beside if close_ups else whole))
        with Counted("pictures", sum(len(row) for _, row, _ in rows), style=progress_style(as_json=False)) as progress:

            def panel(row: Row | None, draw: Drawing, name: str) -> Panel | None:
                progress.add()
                if row is None:
                    return None
                image = draw(row)
                first, _, rest = describe_axes(row)[1].partition(", ")
                told = instruction_of(row, self._snapshot.scenario(row))
                return Panel(marked(image) if SATURATED in name else image, first, told or rest)

            panels = [
                [panel(first, whole, name) or NO_TWIN, *(panel(row, draw, name) for row in rest)]
                for name, (first, *rest), draw in rows
            ]
        first = 0 if any(line.twin for line in lines) else 1
        return page(
            [line[first:] for line in panels],
            row_names=[name for name, *_ in rows],
            column_names=(TWIN, *(f"level {level}" for level in LEVELS))[first:],
            headline=CLOSE_HEADLINE if close_ups else VIEW_HEADLINE * (self._camera == VIEW),
            gap_px=8,
        )

    def _whole(self, row: Row) -> Image:
        return self._photo(row, self._camera, GRID_PX)

    def _whole_close(self, row: Row) -> Image:
        return self._photo(row, self._near_camera(self._snapshot.scenario(row)).name, CLOSE_PX)

    def _photo(self, row: Row, camera: str, height_px: int) -> Image:
        """Draw a scene, or take its picture from the library."""
        entry = entry_of(self._snapshot, self._layers, row)
        draw = partial(sheet_picture, entry, camera, self._artist.picture, height_px=height_px)
        return self._thumbnails(height_px).picture(row.scenario_id, camera, draw)

    def _near_camera(self, scenario: Scenario) -> Camera:
        """Return the camera that close-ups are made with: the first one for `view` and `overview`."""
        known = {camera.name: camera for camera in scenario.cameras.cameras}
        name = next(iter(known)) if self._camera in (VIEW, OVERVIEW) else self._camera
        if name not in known:
            raise UnknownName("camera", name, [*known, VIEW, OVERVIEW])
        return known[name]

    def _beside(self, row: Row) -> Image:
        """Draw what changed most of a scene beside the same place in its twin, shape [CLOSE_PX, w, 3]."""
        twin = self._snapshot.find(row.provenance.base_id)
        entries = [entry_of(self._snapshot, self._layers, one) for one in (twin, row)]
        cameras = [self._near_camera(entry.scenario) for entry in entries]

        def draw() -> Image:
            before, after = (self._photo(one, cameras[1].name, GRID_PX) for one in (twin, row))
            if any(departure.name == SATURATED for departure in departures(row.provenance)):
                before, after = marked(before), marked(after)
            spot = changed_spot(before, after, _middles(entries[0].scenario, entries[1].scenario, cameras[1]))
            near = [
                self._artist.picture(entry.scenario, entry.cell, entry.parts, close_up(camera, spot, size_px=CLOSE_PX))
                for entry, camera in zip(entries, cameras, strict=True)
            ]
            return np.concatenate([near[0], np.full((CLOSE_PX, SEAM_PX, 3), PAPER, np.uint8), near[1]], axis=1)

        beside = f"{cameras[1].name}-beside-{twin.scenario_id}"
        return self._thumbnails(CLOSE_PX).picture(row.scenario_id, beside, draw)

    def _thumbnails(self, height_px: int) -> Thumbnails:
        return Thumbnails(self._files, style=f"{self._artist.name}_{height_px}px_{__version__}")


def _notes(line: GridLine) -> Iterator[str]:
    """Yield what a reader must know of a line."""
    if SATURATED in line.kind:
        yield "saturated: red"
    if line.axis in AXES and AXES[line.axis].touches <= UNSEEN:
        yield "not in pictures"


def _middles(twin: Scenario, scenario: Scenario, camera: Camera) -> Array:
    """Where a camera sees the parts that a scene has in common with its twin, in heights of its image, shape [n, 2]."""
    names = {item.name for item in twin.layout.items}
    places = [item.pose_to_world.position_m for item in scenario.layout.items if item.name in names]
    return project(camera, np.array(places).reshape(-1, 3)) / camera.height_px


def marked(image: Image) -> Image:
    """Paint saturated pixels red."""
    return np.where(image.max(axis=-1, keepdims=True) == 255, np.array(RED, np.uint8), image)


def entry_of(snapshot: Snapshot, layers: Layers, row: Row) -> SheetEntry:
    """Build a kept scene for a picture."""
    cell, parts = layers.cell_and_parts(row)
    scenario = snapshot.scenario(row)
    title, text = describe_axes(row)
    return SheetEntry(cell, parts, scenario, title=title or "base", text=instruction_of(row, scenario) or text)
