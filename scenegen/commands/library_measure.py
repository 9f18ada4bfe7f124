"""`scenegen library measure`: what the cameras see of the targets of kept scenes, as rows of the table `meters`."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import typer

from library.commit import MAIN
from library.layers import Layers
from library.metering import meter_columns
from library.snapshot import Snapshot
from library.tables import METERS
from library.versioned import Changes, Signature, VersionedLibrary
from scenegen.commands.opened import LIBRARY, open_library
from scenegen.commands.progress import SceneProgress, progress_style
from scenegen.imaging.metered import Metered
from scenegen.imaging.meters import METER_VERSION
from scenegen.imaging.renderer import Renderer
from scenegen.pool import Demand, run_ordered

CHUNK = 20
"""Scenes that a process measures at a time: variants of one base share what does not depend on light."""
PUBLISH_EVERY = 2_000
"""Scenes between commits: what an interruption costs."""

app = typer.Typer()

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Measuring:
    """All that a process needs to measure kept scenes; picklable."""

    folder: str
    version: str
    ids: tuple[str, ...]
    """The scenarios, by index."""

    def __call__(self) -> Callable[[list[int]], list[Rows]]:
        """Build the worker: from indices to the rows of each scene."""
        library = VersionedLibrary.open(self.folder)
        snapshot = library.at(self.version)
        layers, benches = Layers(library, snapshot), dict[str, Metered]()

        def measured(scenario_id: str) -> Rows:
            row = snapshot.find(scenario_id)
            key = row.frame
            if key not in benches:
                cell, parts = layers.cell_and_parts(row)
                benches[key] = Metered(cell, Renderer(cell, parts))
            metered = benches[key]
            read = metered.read(snapshot.scenario(row))
            return [meter_columns(scenario_id, camera, readings) for camera, readings in read.items()]

        return lambda indices: [measured(self.ids[index]) for index in indices]


@app.command()
def measure(
    library: str = LIBRARY,
    branch: str = typer.Option(MAIN, help="Branch whose newest version is measured."),
    processes: int = typer.Option(0, min=0, help="Processes; 0 takes one a core."),
    as_json: bool = typer.Option(False, "--json", help="Progress as JSON lines."),
) -> None:
    """Measure what each camera sees of each target: saturated and hidden share, colour, contrast, sharpness, noise.

    What is measured is kept batch by batch: run it again to continue, or after more scenes came. Ask for it in SQL:
    the table is `meters`.
    """
    store = open_library(library)
    snapshot = store.at(branch)
    ids = tuple(_unmeasured(snapshot))
    if not ids:
        typer.echo("every scene is measured; nothing to do")
        return
    workers = max(1, min(processes or os.cpu_count() or 1, -(-len(ids) // CHUNK)))
    made = run_ordered(
        Measuring(str(store.folder), branch, ids),
        Demand(wanted=len(ids), end=len(ids)),
        processes=workers,
        chunk=CHUNK,
        forks=False,
    )
    rows, scenes, total = Rows(), 0, 0
    with SceneProgress(len(ids), done=0, style=progress_style(as_json)) as progress, closing(made):
        try:
            for _, some in made:
                rows += some
                scenes, total = scenes + 1, total + len(some)
                progress.add_index(kept=True, rejected=0)
                if scenes % PUBLISH_EVERY == 0:
                    _publish(store, rows, branch)
                    rows = Rows()
        finally:
            _publish(store, rows, branch)
    typer.echo(f"{scenes} scenes measured, {total} readings")


def _unmeasured(snapshot: Snapshot) -> list[str]:
    """Return the scenarios that have no readings of this version of the meters."""
    known = snapshot.table(METERS.name).scan(where=f"version = {METER_VERSION}", columns=["scenario_id"])
    seen = set(known.column("scenario_id").to_pylist())
    ids = dict.fromkeys(columns["scenario_id"] for columns in snapshot.columns())
    return [one for one in ids if one not in seen]


def _publish(store: VersionedLibrary, rows: Rows, branch: str) -> None:
    if rows:
        scenes = len({row["scenario_id"] for row in rows})
        store.publish(
            Changes(rows={METERS.name: list(rows)}), Signature.here(f"measure {scenes} scenes"), branch=branch
        )
