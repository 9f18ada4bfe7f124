"""Do severities say what pictures show? Each quantity of an axis against the meter that it should move."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont
from scipy.stats import spearmanr

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from harness import Rows, load_average, write_result  # noqa: E402

from scenegen.axes.aim import HIT_PX, HIT_SHARE, Aim  # noqa: E402
from scenegen.axes.axis import LEVELS, AxisContext, Severity, degree  # noqa: E402
from scenegen.axes.colors import differences  # noqa: E402
from scenegen.axes.registry import AXES  # noqa: E402
from scenegen.axes.shown import FEWEST_PX  # noqa: E402
from scenegen.base import sample_base  # noqa: E402
from scenegen.cell import Cell  # noqa: E402
from scenegen.cells.loader import load_cell  # noqa: E402
from scenegen.errors import VariationFailed  # noqa: E402
from scenegen.imaging.exposure import nominal_gain  # noqa: E402
from scenegen.imaging.gbuffer import GBuffer  # noqa: E402
from scenegen.imaging.measure import Readings  # noqa: E402
from scenegen.imaging.page import Panel, page  # noqa: E402
from scenegen.imaging.photo import expose  # noqa: E402
from scenegen.imaging.sheet import FAINT, INK, PAPER  # noqa: E402
from scenegen.parts.builtin import builtin_catalogue  # noqa: E402
from scenegen.scenario import Cameras, Lights, Scenario, Sensor  # noqa: E402
from scenegen.streams import stream  # noqa: E402

BASES, LONG_BASES = 8, 40
"""Bases; each gives one scene a level."""
ATTEMPTS = 6
"""Most calls of an axis for one scene."""
RESAMPLES = 2000
"""Bases are drawn again so often, with replacement, for the intervals: scenes of one base are alike."""
COLUMNS, PLOT_PX, FINE = 6, (250, 190), 2
LEVEL_INKS = ((70, 105, 190), (60, 150, 150), (110, 150, 50), (220, 140, 30), (190, 50, 50))


@dataclass(frozen=True, eq=False)
class Seen:
    """What the overhead camera shows of one scene."""

    scenario: Scenario
    ctx: AxisContext

    @property
    def camera(self) -> str:
        """Name of the camera."""
        return self.scenario.cameras.cameras[0].name

    @cached_property
    def readings(self) -> Readings:
        """Meters of the targets."""
        return self.ctx.metered.read(self.scenario)[self.camera]

    @cached_property
    def gbuffer(self) -> GBuffer:
        """What the pixels show."""
        return self.ctx.renderer.gbuffer(self.scenario, self.camera)

    @cached_property
    def image(self) -> np.ndarray:
        """The clipped linear image, shape [h, w, 3]."""
        radiance = np.moveaxis(self.ctx.renderer.radiance(self.scenario, self.camera), -1, 0)[:, None]
        sensors, gain = self.scenario.sensor.sensors[:1], nominal_gain(self.ctx.cell)
        return np.clip(
            np.stack([plane[0] for plane in expose(tuple(radiance), sensors, nominal=gain, xp=np)], -1), 0, 1
        )

    def by_key(self) -> "Seen":
        """See the scene by its key light alone."""
        lights = self.scenario.lights
        alone = Lights(lights=lights.lights[:1], shadow_casters=lights.shadow_casters)
        return Seen(self.scenario.varied(lights=alone), self.ctx)

    def pixels(self, subject: str) -> np.ndarray:
        """Which pixels show a thing, shape [h, w]."""
        return self.gbuffer.plane(self.gbuffer.instance)[0] == self.gbuffer.names.index(subject)


LUMINANCE, SHARPNESS, CHROMA = "luminance", "sharpness", "chroma_difference"
Read = Callable[[Seen, Seen], float]
"""From a twin and its variant to how far the meter has moved."""


def worst(meter: str, change: Callable[[float, float], float], twin: Seen, here: Seen) -> float:
    """Return the greatest change of a meter over the targets that both pictures show well enough."""
    changes = [0.0]
    for name in here.readings.names:
        if name in twin.readings.names:
            before, after = twin.readings.meters(name), here.readings.meters(name)
            old, new = getattr(before, meter), getattr(after, meter)
            if min(before.visible_px, after.visible_px) >= FEWEST_PX and None not in (old, new):
                changes.append(change(old, new))
    return max(changes)


def value(_old: float, new: float) -> float:
    """The meter itself."""
    return new


def growth(old: float, new: float) -> float:
    """By how much it grew."""
    return new - old


def fall(old: float, new: float) -> float:
    """By how much it fell."""
    return old - new


def relative(old: float, new: float) -> float:
    """By which share of itself it changed."""
    return abs(new / old - 1)


def lost(old: float, new: float) -> float:
    """Which share of itself it lost."""
    return 1 - new / old


def stops(old: float, new: float) -> float:
    """By how many doublings it changed."""
    return abs(float(np.log2(max(new, 1e-6) / old)))


def changed_light(twin: Seen, here: Seen) -> float:
    """Mean change of a pixel's light, over the mean light of the twin."""
    return float(np.abs(here.image - twin.image).mean() / twin.image.mean())


def lost_key_light(twin: Seen, here: Seen) -> float:
    """Greatest share of a target's luminance by the key light alone that is lost."""
    return worst(LUMINANCE, lost, twin.by_key(), here.by_key())


def most_hidden(_twin: Seen, here: Seen) -> float:
    """Largest hidden share of a target, however little of it is left."""
    return float(here.readings.hidden_share.max())


def ground_color(twin: Seen, here: Seen) -> float:
    """Larger CIEDE2000 between the mean colours of table and feed and those of the twin, lit evenly."""
    grounds = [(reflectances(twin, here, ground), reflectances(twin, twin, ground)) for ground in ("table", "feed")]
    return max(float(differences(new.mean(axis=0), old.mean(axis=0))) for new, old in grounds)


def ground_contrast(twin: Seen, here: Seen) -> float:
    """Larger CIEDE2000 between the two colours that pixels of table and feed fall into, lit evenly."""
    return max(two_colors(reflectances(twin, here, ground)) for ground in ("table", "feed"))


def reflectances(twin: Seen, here: Seen, ground: str) -> np.ndarray:
    """Linear colours of a ground's pixels as if it were lit evenly, shape [k, 3]: light and shadows cancel."""
    chosen = here.pixels(ground) & twin.pixels(ground)
    surface = next(one for one in twin.scenario.surfaces.surfaces if one.subject == ground)
    ratio = here.image[chosen] / np.maximum(twin.image[chosen], 1e-6)
    return np.clip(ratio * np.array(surface.mean_color), 0.0, 1.0)


def two_colors(pixels: np.ndarray) -> float:
    """CIEDE2000 between the means of two groups of colours, split along their longest axis (k-means, k = 2)."""
    spread = pixels - pixels.mean(axis=0)
    if np.ptp(pixels, axis=0).max() < 1e-3:
        return 0.0
    group = spread @ np.linalg.svd(spread, full_matrices=False)[2][0] > 0
    for _ in range(10):
        first, second = pixels[group].mean(axis=0), pixels[~group].mean(axis=0)
        group = np.linalg.norm(pixels - first, axis=1) < np.linalg.norm(pixels - second, axis=1)
    return float(differences(first, second))


def moved_px(twin: Seen, here: Seen) -> float:
    """Greatest shift of the middle of a target's visible pixels [px]."""
    shifts = [0.0]
    for name in here.readings.names:
        if name in twin.readings.names:
            seen = [np.argwhere(one.pixels(name)) for one in (twin, here)]
            if min(map(len, seen)) >= FEWEST_PX:
                shifts.append(float(np.linalg.norm(seen[0].mean(axis=0) - seen[1].mean(axis=0))))
    return max(shifts)


def outline_change(twin: Seen, here: Seen) -> float:
    """Greatest relative change of how many pixels a target would cover alone."""
    changes = [0.0]
    for name in here.readings.names:
        old, new = (float(one.gbuffer.alone[0, one.gbuffer.names.index(name)]) for one in (twin, here))
        changes.append(abs(new / old - 1))
    return max(changes)


def changed_px(twin: Seen, here: Seen) -> float:
    """How many pixels show another thing than before [px]."""
    before, after = (np.array([*one.gbuffer.names, ""])[one.gbuffer.instance[0]] for one in (twin, here))
    return float((before != after).sum())


@dataclass(frozen=True)
class Case:
    """One quantity, to one side of its nominal value, and the meter that it should move."""

    axis: str
    quantity: str
    """Empty where the axis is taken as a whole, by how far it is on its way to the limit."""
    meter: str
    because: str
    read: Read
    upward: bool = True
    alike: bool = False
    """Whether the meter is in the quantity's unit, so that one can be held against the other."""

    @property
    def name(self) -> str:
        """Axis, quantity and side."""
        severity = self.severity
        two_sided = severity is not None and severity.low < severity.nominal < severity.high
        side = (" up" if self.upward else " down") if two_sided else ""
        return f"{self.axis} {self.quantity}{side}".strip().replace("_", " ")

    @property
    def severity(self) -> Severity | None:
        """The quantity."""
        return next((one for one in AXES[self.axis].severities if one.name == self.quantity), None)

    def narrowed(self, cell: Cell) -> Cell:
        """Return the cell with an envelope in which the axis has no other way to vary."""
        if self.severity is None:
            return cell.replaced(datums=tuple(datum for datum in cell.datums if datum.fixture == "feed"))
        ranges = {}
        for one in AXES[self.axis].severities:
            if one.name == self.quantity:
                ranges[one.name] = (one.nominal, one.high) if self.upward else (one.low, one.nominal)
            elif one.graded:
                ranges[one.name] = (one.nominal, one.nominal)
        return cell.replaced(envelope={self.axis: ranges})


CASES = (
    Case("glare", "saturated_share", "growth of saturated_share", "the same pixels, read from the whole image",
         partial(worst, "saturated_share", growth), alike=True),
    Case("occlusion", "hidden_share", "hidden_share", "the same outlines, cast by another caster",
         most_hidden, alike=True),
    Case("color_shift", "color_difference", "color_difference", "the same targets, with shadows and neighbours",
         partial(worst, "color_difference", value), alike=True),
    Case("lighting", "illuminance_factor", "relative change of luminance", "all lamps are dimmed alike",
         partial(worst, LUMINANCE, relative), alike=True),
    Case("lighting", "illuminance_factor", "relative change of luminance", "all lamps are dimmed alike",
         partial(worst, LUMINANCE, relative), upward=False, alike=True),
    Case("lighting", "temperature_shift", CHROMA, "hue alone changes", partial(worst, CHROMA, value)),
    Case("lighting", "temperature_shift", CHROMA, "hue alone changes", partial(worst, CHROMA, value), upward=False),
    Case("lighting", "direction", "mean change of a pixel's light", "highlights and shadows move, means hardly do",
         changed_light),
    Case("lighting", "shadow", "lost luminance by the key light", "what the card takes from a target",
         lost_key_light, alike=True),
    Case("sensor", "exposure", "change of luminance in stops", "light is scaled; above, it clips",
         partial(worst, LUMINANCE, stops), alike=True),
    Case("sensor", "exposure", "change of luminance in stops", "light is scaled",
         partial(worst, LUMINANCE, stops), upward=False, alike=True),
    Case("sensor", "blur", "lost share of sharpness", "borders are spread", partial(worst, SHARPNESS, lost)),
    Case("sensor", "noise", "fall of snr_db", "the noise model at the target's luminance",
         partial(worst, "snr_db", fall), upward=False, alike=True),
    Case("sensor", "white_balance", CHROMA, "hue alone changes", partial(worst, CHROMA, value)),
    Case("sensor", "white_balance", CHROMA, "hue alone changes", partial(worst, CHROMA, value), upward=False),
    Case("sensor", "veil", "relative change of contrast", "light spreads from bright to dark",
         partial(worst, "contrast", relative)),
    Case("sensor", "vignetting", "relative change of luminance", "the target nearest to a corner loses most",
         partial(worst, LUMINANCE, relative)),
    Case("sensor", "motion_blur", "lost share of sharpness", "borders across the motion are spread",
         partial(worst, SHARPNESS, lost)),
    Case("background", "color_difference", "CIEDE2000 of the ground's mean, lit evenly",
         "the ground is judged, not targets",
         ground_color, alike=True),
    Case("background", "pattern_contrast", "CIEDE2000 of the ground's two colours, lit evenly",
         "as the pattern is made",
         ground_contrast, alike=True),
)  # fmt: skip
LAYOUT_CASES = (
    Case("pose", "", "greatest shift of a target [px]", "1 mm a pixel", moved_px),
    Case("camera", "", "greatest shift of a target [px]", "the view moves as a whole", moved_px),
    Case("datum", "", "greatest shift of a target [px]", "the tray carries its contents", moved_px),
    Case("tilt", "", "relative change of a target's outline", "what stands up covers less", outline_change),
    Case("stacking", "", "pixels that show another thing", "targets leave their places", changed_px),
    Case("misplacement", "", "pixels that show another thing", "parts come and go", changed_px),
)
NOTES = (
    "![severity against meter](correlation.jpg)",
    "Spearman's rank correlation between the stated severity (distance from nominal) and how far the named meter of the"
    " first fixed camera has moved from the unperturbed twin's; of several targets the worst counts, of those that show"
    f" {FEWEST_PX} pixels. `low` to `high` is the 95 % interval over bases drawn again with replacement.",
    f"`hit`: share of scenes whose meter lies within {HIT_SHARE:.0%} of what was asked, or within {HIT_PX:g} pixels of"
    " the target, where meter and quantity have one unit; what was asked is what the axis drew (glare, occlusion,"
    " color_shift), or else the stated severity, which those axes set.",
    "`failed`: share of calls that found no scene. `cpu ms`: mean processor time of a call, without the casting of the"
    " base's pixels, with what is computed once for a base; five calls share it here.",
    "Below 0.9: `tilt` turns one part, whose outline grows or shrinks with its kind and the side that it leans to;"
    " `misplacement` counts parts of which those in bins and on the table lie outside of the picture; `stacking` moves"
    " parts of different sizes. Their severities are proved by geometry and the scene graph, not by meters. Where light"
    " grows, parts that clip already show less of it: `hit` falls, and the more so the brighter.",
    "One quantity varies at a time, to one side of its nominal value: the cell's envelope leaves no other room. One"
    " scene a level and base. `pose` to `misplacement` are taken as a whole: how far they are on the way to a limit.",
)


@dataclass(frozen=True)
class Point:
    """One scene: what was stated and what the picture shows."""

    base: int
    level: int
    stated: float
    asked: float
    reached: float
    pixels: int
    """Fewest pixels that show a target [px]."""


@dataclass(frozen=True)
class Call:
    """One call of an axis."""

    failed: bool
    cpu_s: float


class Bench:
    """Makes scenes of one cell with its overhead camera alone, and reads what they show."""

    def __init__(self, ctx: AxisContext) -> None:
        self.ctx = ctx
        self.calls: dict[str, list[Call]] = {}

    def base(self, index: int) -> Scenario:
        """Sample a base that has the overhead camera alone."""
        whole = sample_base(self.ctx.cell, self.ctx.parts, rng=stream("correlation", index))
        first = whole.cameras.cameras[0]
        sensors = tuple(one for one in whole.sensor.sensors if one.camera == first.name)
        return whole.varied(cameras=Cameras(cameras=(first,)), sensor=Sensor(sensors=sensors))

    def points(self, case: Case, bases: Sequence[tuple[int, Scenario]]) -> Iterator[Point]:
        """Vary bases at every level and read the meter."""
        ctx = replace(self.ctx, cell=case.narrowed(self.ctx.cell))
        for index, base in bases:
            twin = Seen(base, self.ctx)
            _ = twin.gbuffer  # which is not the axis' work
            for level in LEVELS:
                made = self._made(case, base, level, index, ctx)
                if made is not None:
                    scenario, asked = made
                    here = Seen(scenario, self.ctx)
                    stated = _stated(case, base, scenario, ctx)
                    pixels = int(here.readings.visible_px.min(initial=10_000))
                    yield Point(index, level, stated, asked or stated, case.read(twin, here), pixels)

    def _made(
        self, case: Case, base: Scenario, level: int, index: int, ctx: AxisContext
    ) -> tuple[Scenario, float | None] | None:
        axis, severity = AXES[case.axis], case.severity
        for attempt in range(ATTEMPTS):
            name = ("correlation", case.name, index, level, attempt)
            start, scenario = time.process_time(), None
            with suppress(VariationFailed):
                scenario = axis.vary(base, level, ctx=ctx, rng=stream(*name))
            self.calls.setdefault(case.name, []).append(Call(scenario is None, time.process_time() - start))
            if scenario is None:
                continue
            if severity is None or case.axis not in ("glare", "occlusion", "color_shift"):
                return scenario, None
            return scenario, Aim.drawn(severity, level, cell=ctx.cell, axis=case.axis, rng=stream(*name)).asked
        return None


def _stated(case: Case, base: Scenario, scenario: Scenario, ctx: AxisContext) -> float:
    """Distance of the measured quantity from its nominal value, or how far the axis is on its way."""
    axis = AXES[case.axis]
    measured = axis.measure(base, scenario, ctx=ctx)
    if case.severity is None:
        return degree(axis, measured, cell=ctx.cell)
    return abs(next(one.value for one in measured if one.name == case.quantity) - case.severity.nominal)


def correlation(points: Sequence[Point]) -> float:
    """Spearman's rank correlation between stated and reached values."""
    return float(spearmanr([one.stated for one in points], [one.reached for one in points]).statistic)


def interval(points: Sequence[Point]) -> tuple[float, float]:
    """95 % interval of the correlation over bases drawn again."""
    groups = [[one for one in points if one.base == base] for base in sorted({one.base for one in points})]
    rng = stream("correlation", "bootstrap")
    draws = rng.integers(len(groups), size=(RESAMPLES, len(groups))).tolist()
    found = [correlation([one for index in chosen for one in groups[index]]) for chosen in draws]
    low, high = np.quantile(found, (0.025, 0.975))
    return float(low), float(high)


def hit_share(points: Sequence[Point], *, share: bool) -> float:
    """Share of scenes whose meter is near enough to what was asked."""
    slack = [max(HIT_SHARE * one.asked, HIT_PX / one.pixels if share else 0.0) for one in points]
    return float(np.mean([abs(one.reached - one.asked) <= most for one, most in zip(points, slack, strict=True)]))


def row_of(case: Case, points: Sequence[Point], calls: Sequence[Call]) -> dict[str, object]:
    """Sum one case up."""
    low, high = interval(points)
    share = case.severity is not None and case.severity.unit == "share"
    return {
        "quantity": case.name,
        "meter": case.meter,
        "because": case.because,
        "scenes": len(points),
        "Spearman": correlation(points),
        "low": low,
        "high": high,
        "hit": hit_share(points, share=share) if case.alike else "-",
        "failed": float(np.mean([call.failed for call in calls])),
        "cpu ms": 1e3 * float(np.mean([call.cpu_s for call in calls])),
    }


def plot(points: Sequence[Point]) -> np.ndarray:
    """Draw reached over stated values, one colour a level, shape [h, w, 3]."""
    width, height = PLOT_PX
    left, top, right, bottom = 38, 8, width - 8, height - 18
    sheet = Picture.new("RGB", (width * FINE, height * FINE), PAPER)
    pen = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(10 * FINE)
    pen.rectangle([FINE * edge for edge in (left, top, right, bottom)], outline=FAINT)
    most_x = max(one.stated for one in points) or 1.0
    most_y = max(one.reached for one in points) or 1.0
    for one in points:
        x = left + one.stated / most_x * (right - left - 4) + 2
        y = bottom - max(one.reached, 0.0) / most_y * (bottom - top - 4) - 2
        spot = [FINE * edge for edge in (x - 1.7, y - 1.7, x + 1.7, y + 1.7)]
        pen.ellipse(spot, fill=LEVEL_INKS[one.level - 1])
    pen.text((FINE * (left - 3), FINE * (top + 5)), f"{most_y:.4g}", INK, font=font, anchor="rm")
    pen.text((FINE * (left - 3), FINE * (bottom - 3)), "0", INK, font=font, anchor="rm")
    pen.text((FINE * right, FINE * (bottom + 9)), f"{most_x:.4g}", INK, font=font, anchor="rm")
    pen.text((FINE * left, FINE * (bottom + 9)), "0", INK, font=font, anchor="lm")
    return np.asarray(sheet.resize((width, height), Picture.Resampling.LANCZOS))


def main() -> None:
    """Make scenes, read meters, write result and scatter plots."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="200 scenes a quantity, as published; else 40")
    parser.add_argument("--only", default="", help="only quantities whose name begins so; nothing is written")
    options = parser.parse_args()
    before = load_average()
    cell = load_cell("fasteners")
    bench = Bench(AxisContext.of(cell, builtin_catalogue([item.part for item in cell.inventory])))
    cases = [case for case in (*CASES, *LAYOUT_CASES) if case.name.startswith(options.only)]
    points: dict[str, list[Point]] = {case.name: [] for case in cases}
    for index in range(LONG_BASES if options.long else BASES):
        base = bench.base(index)
        for case in cases:
            points[case.name].extend(bench.points(case, [(index, base)]))
        print(f"base {index}", file=sys.stderr, flush=True)
    rows: Rows = [row_of(case, points[case.name], bench.calls[case.name]) for case in cases]
    if options.only:
        for row in rows:
            print(row)
        return
    panels = [
        Panel(plot(points[case.name]), f"{case.name}: {row['Spearman']:.3f}", case.meter)
        for case, row in zip(cases, rows, strict=True)
    ]
    grid = [panels[start : start + COLUMNS] for start in range(0, len(panels), COLUMNS)]
    grid[-1] += [None] * (COLUMNS - len(grid[-1]))
    page(grid, headline="Severity (across) against what the picture shows (up), level 1 blue to 5 red").save(
        HERE / "correlation.jpg", quality=88
    )
    title = "Severity against what pictures show"
    write_result(HERE, rows, title=title, notes=NOTES, load_before=before, name="correlation")


if __name__ == "__main__":
    main()
