"""Pictures of a report's scenes: what the first camera sees, and where each item is seen."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import partial

import numpy as np
from PIL import Image as Picture

from evaluator.report.page import ScenePicture
from evaluator.rollout.explain import rows_by_id
from library.layers import Layers
from library.row import Row
from library.snapshot import Snapshot
from library.thumbnails import Thumbnails
from library.versioned import VersionedLibrary
from scenegen import __version__
from scenegen.commands.artist import Artist, Renderer
from scenegen.commands.counted import Counted
from scenegen.commands.progress import progress_style
from scenegen.commands.sheets import GRID_PX, entry_of
from scenegen.imaging.pinhole import project
from scenegen.imaging.sheet import sheet_picture

HEIGHT_PX = GRID_PX
"""Height of the pictures [px]: that of the built-in cells' cameras."""
QUALITY = 85
"""Of JPEG, out of 100: a page of fifty pictures stays below 2 MB."""


def scene_pictures(
    store: VersionedLibrary, snapshot: Snapshot, scenario_ids: Sequence[str], *, as_json: bool
) -> dict[str, ScenePicture]:
    """Draw scenes, or take their pictures from the library; by scenario.

    Args:
        store: The library.
        snapshot: The version that holds the scenes.
        scenario_ids: The scenes.
        as_json: Progress as JSON.
    """
    rows = rows_by_id(snapshot, scenario_ids)
    layers, artist = Layers(store, snapshot), Artist(Renderer.SHADED)
    thumbnails = Thumbnails(store.files, style=f"{artist.name}_{HEIGHT_PX}px_{__version__}")
    found = {}
    with Counted("pictures", len(rows), style=progress_style(as_json)) as progress:
        for scenario_id in scenario_ids:
            found[scenario_id] = _picture(snapshot, layers, artist, thumbnails, rows[scenario_id])
            progress.add()
    return found


def _picture(snapshot: Snapshot, layers: Layers, artist: Artist, thumbnails: Thumbnails, row: Row) -> ScenePicture:
    entry = entry_of(snapshot, layers, row)
    camera = entry.scenario.cameras.cameras[0]
    draw = partial(sheet_picture, entry, camera.name, artist.picture, height_px=HEIGHT_PX)
    image = thumbnails.picture(row.scenario_id, camera.name, draw)
    stream = io.BytesIO()
    Picture.fromarray(image).save(stream, "JPEG", quality=QUALITY)
    items = entry.scenario.layout.items
    seen = project(camera, np.array([item.pose_to_world.position_m for item in items]).reshape(-1, 3))
    shares = seen / np.array([camera.width_px, camera.height_px])
    inside = np.all(np.abs(shares - 0.5) <= 0.5, axis=1).tolist()
    places = {
        item.name: (float(x), float(y)) for item, (x, y), there in zip(items, shares, inside, strict=True) if there
    }
    return ScenePicture(stream.getvalue(), image.shape[1], image.shape[0], places)
