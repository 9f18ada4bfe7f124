"""Quick pictures against path tracing: how alike, do parts keep their order, where are highlights, what blows out."""

import argparse
import importlib.metadata
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from glare import NOTES as GLARE_NOTES  # noqa: E402
from glare import Glare, close_ups, glare_row  # noqa: E402
from harness import Rows, load_average, write_result  # noqa: E402

from scenegen.cell import Cell  # noqa: E402
from scenegen.cells.loader import load_cell  # noqa: E402
from scenegen.commands.recipe import Workshop  # noqa: E402
from scenegen.expand import Expander, Expansion  # noqa: E402
from scenegen.imaging.comparison import compare_parts, psnr_db, ssim  # noqa: E402
from scenegen.imaging.exposure import nominal_gain  # noqa: E402
from scenegen.imaging.lamps import LUMINANCE  # noqa: E402
from scenegen.imaging.mask import MaskCaster  # noqa: E402
from scenegen.imaging.page import Panel, page  # noqa: E402
from scenegen.imaging.path_tracer import PathTracer  # noqa: E402
from scenegen.imaging.photographer import Photographer  # noqa: E402
from scenegen.imaging.render import Painter, enlarged, to_srgb  # noqa: E402
from scenegen.parts.builtin import builtin_catalogue  # noqa: E402
from scenegen.parts.catalogue import Catalogue  # noqa: E402
from scenegen.scenario import Cameras, Scenario  # noqa: E402

Way = Callable[[Scenario, object], np.ndarray]
WAYS: dict[str, Callable[[Cell, Catalogue], Way]] = {
    "preview": lambda cell, parts: Painter(cell, parts).radiance,
    "shaded": lambda cell, parts: Photographer(cell, parts).radiance,
    "shaded 1x": lambda cell, parts: lambda s, c: Photographer(cell, parts).radiance(s, c, oversampling=1),
}
"""Name -> a cell's scenes to luminance by linear colour, shape [h, w, 3]."""
AXES = (None, ("lighting", 3), ("pose", 3), ("tilt", 3), ("occlusion", 3), ("stacking", 4))
SHOWN = 6
NOTES = (
    "Truth: Mitsuba 3 `path`, depth 8, the same triangles, looks (`principled`) and lights; the first camera of each"
    " cell, without its sensor's faults. One exposure for all renderers: the cell's nominal one"
    " (`imaging/exposure.py`).",
    "`PSNR` and `SSIM` (on luminance) are of clipped sRGB pictures. `rank` is Spearman's correlation of the parts' mean"
    " linear luminance, over parts of at least 12 px, the mean over scenes; `ratio` the median of it over the true one,"
    " `bolts` that of threaded parts alone (more in [threads](threads.md))."
    " `saturated MAE` is the mean absolute error of the parts' shares of pixels at or above 1, `saturated` the true"
    " mean.",
    "`truth, other noise` is Mitsuba against itself with another seed: beyond that, likeness cannot be measured here.",
    "`cpu s` is processor time a picture, with what a cell needs once; `shaded` averages 2 x 2 fine pixels, `shaded 1x`"
    " is what meters are taken from.",
)


@dataclass(frozen=True, eq=False)
class Case:
    """One scene with its truth."""

    name: str
    scenario: Scenario
    cell: Cell
    parts: Catalogue
    truth: np.ndarray
    again: np.ndarray
    """The truth with other noise."""
    instance: np.ndarray
    names: tuple[str, ...]
    """Names of the things in `instance`."""
    items: list[int]
    gain: np.ndarray
    """Exposure and white balance by linear colour, shape [3]."""
    cpu_s: float


def main() -> None:
    """Render, compare, write result and pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="full size, as published")
    parser.add_argument("--way", action="append", choices=list(WAYS), help="a renderer to compare; all by default")
    options = parser.parse_args()
    before = load_average()
    ways = options.way or list(WAYS)
    pixels, spp = (224, 256) if options.long else (128, 64)
    cases = [case for cell in ("fasteners", "rings") for case in cases_of(cell, pixels, spp, long=options.long)]
    rows, pictures = compare(cases, ways)
    draw(cases, pictures)
    names = ", ".join(case.name for case in cases)
    notes = (
        "![truth and renderers](scenes.jpg)",
        f"{len(cases)} scenes, {pixels} px wide, {spp} paths a pixel: {names}.",
        f"Mitsuba {importlib.metadata.version('mitsuba')}.",
        *NOTES,
    )
    write_result(HERE, rows, title="Pictures against path tracing", notes=notes, load_before=before)
    before = load_average()
    rows = glares(ways, options.long)
    write_result(
        HERE,
        rows,
        title="Highlights as a light moves",
        notes=("![truth and renderers](glare.jpg)", *GLARE_NOTES),
        load_before=before,
        name="glare",
    )


def cases_of(name: str, pixels: int, spp: int, *, long: bool) -> list[Case]:
    """Make scenes of a cell, one an axis, and path-trace them."""
    cell = load_cell(name)
    parts = builtin_catalogue([item.part for item in cell.inventory])
    workshop = Workshop.of(cell, parts)
    tracer, caster = PathTracer(cell, parts), MaskCaster(cell, parts)
    cases = []
    for setting in AXES if long else AXES[:4]:
        scenario = scene(workshop, setting)
        if scenario is None:
            continue
        native = scenario.cameras.cameras[0]
        camera = enlarged(native, pixels / native.width_px)
        scenario = scenario.varied(cameras=Cameras(cameras=(camera,)))
        start = time.process_time()
        truth = tracer.radiance(scenario, camera, spp=spp)
        cpu_s = time.process_time() - start
        mask, names = caster.instance_mask(scenario, camera.name)
        items = {item.name for item in scenario.layout.items}
        cases.append(
            Case(
                name=f"{name} {'base' if setting is None else ' '.join(map(str, setting))}",
                scenario=scenario,
                cell=cell,
                parts=parts,
                truth=truth,
                again=tracer.radiance(scenario, camera, spp=spp, seed=1),
                instance=mask,
                names=names,
                items=[index for index, one in enumerate(names) if one in items],
                gain=np.array(nominal_gain(cell)),
                cpu_s=cpu_s,
            )
        )
    return cases


def scene(workshop: Workshop, setting: tuple[str, int] | None) -> Scenario | None:
    """Make the first scene of an axis and level, or its base."""
    axis, level = setting or ("lighting", 1)
    expansion = Expansion(
        cell_id=workshop.cell.content_id,
        assets={part: workshop.parts[part].content_id for part in sorted(workshop.parts)},
        axes=(axis,),
        levels=(level,),
        seed=7,
    )
    expander = Expander(expansion, workshop.session(expansion))
    for index in range(5):
        outcome = expander.make(index)
        made = outcome.base if setting is None else outcome.made
        if made is not None:
            return made.scenario
    return None


def compare(cases: list[Case], ways: list[str]) -> tuple[Rows, dict[str, list[np.ndarray]]]:
    """Compare every way with the truth."""
    pictures = {"truth, other noise": [case.again for case in cases]}
    seconds = {"truth, other noise": float(np.mean([case.cpu_s for case in cases]))}
    for way in ways:
        makers: dict[str, Way] = {}
        start = time.process_time()
        pictures[way] = []
        for case in cases:
            if case.cell.name not in makers:
                makers[case.cell.name] = WAYS[way](case.cell, case.parts)
            pictures[way].append(makers[case.cell.name](case.scenario, case.scenario.cameras.cameras[0]))
        seconds[way] = (time.process_time() - start) / len(cases)
    rows = [{"renderer": way, **figures(cases, images), "cpu s": seconds[way]} for way, images in pictures.items()]
    return rows, pictures


def figures(cases: list[Case], images: list[np.ndarray]) -> dict[str, float]:
    """Say how alike pictures and truths are, the mean over cases."""
    found = []
    for case, image in zip(cases, images, strict=True):
        mine, true = image * case.gain, case.truth * case.gain
        one, two = encoded(mine), encoded(true)
        parts = compare_parts(mine, true, case.instance, case.items)
        bolts = compare_parts(mine, true, case.instance, [i for i in case.items if "bolt" in case.names[i]])
        found.append(
            (
                psnr_db(one, two),
                ssim(one @ LUMINANCE, two @ LUMINANCE),
                parts.luminance_spearman,
                parts.luminance_ratio,
                bolts.luminance_ratio,
                parts.saturated_error,
                parts.saturated_share,
            )
        )
    names = ("PSNR dB", "SSIM", "rank", "ratio", "bolts", "saturated MAE", "saturated")
    return dict(zip(names, np.nanmean(np.array(found), axis=0).tolist(), strict=True))


def encoded(linear: np.ndarray) -> np.ndarray:
    """Encode as sRGB, clipped, in [0, 1]."""
    return to_srgb(np.clip(linear, 0, 1)).astype(float) / 255


def draw(cases: list[Case], pictures: dict[str, list[np.ndarray]]) -> None:
    """Write the pictures side by side."""
    shown = {
        "truth": [case.truth for case in cases],
        **{n: p for n, p in pictures.items() if n != "truth, other noise"},
    }
    picked = list(range(0, len(cases), max(1, len(cases) // SHOWN)))[:SHOWN]
    rows = [[Panel(as_image(cases[i], images[i])) for images in shown.values()] for i in picked]
    sheet = page(rows, row_names=[cases[i].name for i in picked], column_names=list(shown), gap_px=8)
    sheet.save(HERE / "scenes.jpg", quality=88)


def as_image(case: Case, image: np.ndarray) -> np.ndarray:
    """Expose and encode a picture."""
    return to_srgb(np.clip(image * case.gain, 0, 1))


def glares(ways: list[str], long: bool) -> Rows:
    """Move a small light over close-ups of parts and follow the highlights."""
    cell = load_cell("fasteners")
    parts = builtin_catalogue([item.part for item in cell.inventory])
    makers = {way: WAYS[way](cell, parts) for way in ways}
    tracer, caster = PathTracer(cell, parts), MaskCaster(cell, parts)
    spp = 256 if long else 64
    groups: list[list[Glare]] = []
    for scenarios in close_ups(cell, parts, positions=9 if long else 5):
        group = []
        for scenario in scenarios:
            camera = scenario.cameras.cameras[0]
            mask, names = caster.instance_mask(scenario, camera.name)
            truth = tracer.radiance(scenario, camera, spp=spp)
            again = tracer.radiance(scenario, camera, spp=spp, seed=1)
            images = {way: make(scenario, camera) for way, make in makers.items()}
            group.append(Glare(mask == 0, truth, {"truth, other noise": again, **images}))
            assert names[0] == scenario.layout.items[0].name
        groups.append(group)
    middle = [group[len(group) // 2] for group in groups]
    names = ["truth", *ways]
    rows = [[Panel(to_srgb(np.clip(g.exposed(n), 0, 1))) for n in names] for g in middle]
    page(rows, column_names=names, gap_px=8).save(HERE / "glare.jpg", quality=88)
    return [{"renderer": way, **glare_row(groups, way)} for way in ("truth, other noise", *ways)]


if __name__ == "__main__":
    main()
