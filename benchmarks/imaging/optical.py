"""The optical axes as a camera's photos, quick and path-traced: does a change look the same in both?"""

import importlib.metadata
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from harness import Rows, load_average, write_result  # noqa: E402

from scenegen.cells.loader import load_cell  # noqa: E402
from scenegen.commands.describe import departures  # noqa: E402
from scenegen.commands.recipe import Workshop  # noqa: E402
from scenegen.expand import Expander, Expansion, Made  # noqa: E402
from scenegen.imaging.comparison import psnr_db  # noqa: E402
from scenegen.imaging.page import Panel, page  # noqa: E402
from scenegen.imaging.path_tracer import PathTracer  # noqa: E402
from scenegen.imaging.photographer import Photographer  # noqa: E402
from scenegen.parts.builtin import builtin_catalogue  # noqa: E402

AXES = ("lighting", "glare", "color_shift", "background", "sensor", "occlusion")
LEVEL = 5
SPP = 128
ATTEMPTS = 5
"""Indices that are tried for a scene of each axis."""
COLUMNS = ("twin, shaded", "twin, path-traced", "scene, shaded", "scene, path-traced")
NOTES = (
    "![photos of both renderers](optical.jpg)",
    f"The first scene of each axis at level {LEVEL} (cell `fasteners`, seed 7): 8-bit photos of its overhead camera,"
    f" 224 px, with its sensor; path-traced by Mitsuba {importlib.metadata.version('mitsuba')}, {SPP} paths a pixel.",
    "`twin` and `scene` are the PSNR of the shaded photo against the path-traced one. `change` is the correlation of"
    " what the axis changed, pixel by pixel, in the one and in the other; noise lowers it where an axis changes little."
    " In the glare scene, light that metal throws onto the tray (bright specks) is missing from the shaded photo.",
)


def main() -> None:
    """Make a scene an axis, take its photos, compare."""
    before = load_average()
    cell = load_cell("fasteners")
    parts = builtin_catalogue([item.part for item in cell.inventory])
    workshop = Workshop.of(cell, parts)
    photographer, tracer = Photographer(cell, parts), PathTracer(cell, parts)
    rows: Rows = []
    panels = []
    for axis in AXES:
        twin, made = scene(workshop, axis)
        photos = []
        for scenario in (twin.scenario, made.scenario):
            camera = scenario.cameras.cameras[0]
            photos += [photographer.picture(scenario, camera), tracer.picture(scenario, camera, spp=SPP)]
        quick, true, quick_after, true_after = (photo / 255 for photo in photos)
        change = np.corrcoef((quick_after - quick).ravel(), (true_after - true).ravel())[0, 1]
        severity = departures(made.provenance)[0].text
        rows.append(
            {
                "axis": axis,
                "severity": severity,
                "twin dB": psnr_db(quick, true),
                "scene dB": psnr_db(quick_after, true_after),
                "change": float(change),
            }
        )
        panels.append([Panel(photo) for photo in photos])
    names = [f"{row['axis']}\n{row['severity']}" for row in rows]
    page(panels, row_names=names, column_names=COLUMNS, gap_px=8).save(HERE / "optical.jpg", quality=85)
    write_result(HERE, rows, title="Optical axes against path tracing", notes=NOTES, load_before=before, name="optical")


def scene(workshop: Workshop, axis: str) -> tuple[Made, Made]:
    """Make the first scene of an axis, and its twin."""
    expansion = Expansion(
        cell_id=workshop.cell.content_id,
        assets={part: workshop.parts[part].content_id for part in sorted(workshop.parts)},
        axes=(axis,),
        levels=(LEVEL,),
        seed=7,
    )
    expander = Expander(expansion, workshop.session(expansion))
    for index in range(ATTEMPTS):
        outcome = expander.make(index)
        if outcome.base is not None and outcome.made is not None:
            return outcome.base, outcome.made
    raise RuntimeError(f"no scene of {axis} among {ATTEMPTS}")


if __name__ == "__main__":
    main()
