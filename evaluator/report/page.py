"""A run's report as one HTML page that needs nothing else: report and pictures -> text."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from evaluator.judging.attribution import Cause
from evaluator.judging.confusion import Confusion
from evaluator.report import figures, grids, plots
from evaluator.report.case import Case
from evaluator.report.grid import Grid
from evaluator.report.remarks import remarks
from evaluator.report.run_report import RunReport
from scenegen import __version__
from scenegen.cell import Role
from scenegen.units import Unit

MARKS = {
    "carry": "carried",
    "placed": "came to rest in its bin",
    "mishap": "error with an item",
    "struck": "collision or hit",
    "stuck": "jam, standstill or help",
    "still": "stands still",
}
"""Marks of the timelines, by their class in the style sheet."""


@dataclass(frozen=True, eq=False)
class ScenePicture:
    """What the first camera sees of a scene at its start."""

    jpeg: bytes
    width_px: int
    height_px: int
    places: Mapping[str, tuple[float, float]]
    """Where each item is seen: share of the width from the left, and of the height from the top."""

    @property
    def address(self) -> str:
        """The picture as an address that holds it."""
        return f"data:image/jpeg;base64,{base64.b64encode(self.jpeg).decode()}"


class HeatCell(NamedTuple):
    """How many items of one part ended in one place."""

    items: int
    share: float
    right: bool
    """The part belongs there."""
    title: str


class Strip(NamedTuple):
    """A row of a table of measures."""

    name: str
    value: str
    interval: str
    number: str
    meaning: str
    drawing: Markup


class Tile(NamedTuple):
    """One figure of the headline."""

    name: str
    value: str
    detail: str


def page(report: RunReport, pictures: Mapping[str, ScenePicture]) -> str:
    """Write the page.

    Args:
        report: What the run showed.
        pictures: Pictures by scenario; those that are not there are left out.
    """
    return _template().render(
        report=report,
        pictures=pictures,
        tiles=tiles(report),
        remarks=list(remarks(report)),
        retention=grids.retention_grid([*report.axes, *report.retention]),
        panels=[(axis, Markup(text)) for axis, text in plots.retention_panels(report.retention)],
        levels=grids.levels_grid(report.card),
        places=grids.confusion_columns(report.card.confusion, [one.name for one in report.cell.bins]),
        heat=heat(report),
        failures=grids.failures_grid(report.card),
        reasons=grids.reasons_grid(report.card),
        causes=grids.causes_grid(report.causes),
        known_causes=any(share.hits for cause, share in report.causes.shares.items() if cause is not Cause.UNKNOWN),
        measures={name: strips(report, name) for name in grids.DIMENSIONS},
        against=grids.against_grids(report.against) if report.against else [],
        timelines=[(case, Markup(plots.timeline_strip(case.episode))) for case in report.timelines],
        marks=MARKS,
        conditions=conditions(report),
        missed=missed,
        percent=figures.percent,
        rate=figures.rate,
        words=grids.words,
        short=grids.SHORT,
        written_by=__version__,
    )


def tiles(report: RunReport) -> list[Tile]:
    """Return the figures of the headline; those that are not known are left out."""
    card = report.card
    found = [
        Tile(
            "success",
            figures.percent(card.success.rate.value),
            f"{figures.success(card.success).partition(' ')[2]} of {card.success.rate.count} episodes",
        )
    ]
    names = {
        "sorted": "parts sorted",
        "recovered": "recovered",
        "takt": "takt a part",
        "latency_p99": "latency, p99",
    }
    for name, title in names.items():
        estimate = card.measures[name]
        if estimate.value is not None:
            found.append(Tile(title, figures.value(estimate), figures.interval(estimate)))
    if card.confusion.rows:
        found.append(Tile("missorted", str(card.confusion.missorted), "items in a bin that is not theirs"))
    return found


def strips(report: RunReport, dimension: str) -> list[Strip]:
    """Return the rows of a dimension's measures, shares with a drawing of their interval."""
    rows = grids.measures_grid(report.card, dimension).rows
    known = {grids.words(name): report.card.measures[name] for name in grids.DIMENSIONS[dimension]}
    found = []
    for row in rows:
        estimate = known.get(row[0])
        share = estimate is not None and estimate.unit is Unit.SHARE
        drawing = Markup(plots.share_strip(estimate, row[0]) if estimate is not None and share else "")
        name, value, interval, number, meaning = row
        found.append(Strip(name, value, interval, number, meaning, drawing))
    return found


def heat(report: RunReport) -> list[tuple[str, int, list[HeatCell]]]:
    """Return the rows of the matrix of what ended where: part, number of its items, cells."""
    confusion: Confusion = report.card.confusion
    places = grids.confusion_columns(confusion, [one.name for one in report.cell.bins])
    found = []
    for part in confusion.rows:
        number = sum(confusion.rows[part].values())
        cells = []
        for place in places:
            counted = confusion.rate(part, place)
            title = f"{part} in {place}: {counted.hits} of {number}, {figures.rate(counted)}"
            cells.append(HeatCell(counted.hits, counted.share, place in confusion.wanted[part], title))
        found.append((part, number, cells))
    return found


def missed(case: Case) -> dict[str, str]:
    """Return what went wrong with each item that keeps a case from success, by the item's name."""
    return {
        item.name: f"{item.name}: {item.ended.replace('-', ' ')}"
        for item in case.episode.items
        if (item.role is Role.TARGET and not item.placed) or (item.role is not Role.TARGET and item.intrudes)
    }


def conditions(report: RunReport) -> Grid:
    """Return what the run ran under."""
    run, card = report.run, report.card
    rows = [
        ("policy", run.policy),
        ("library", f"{report.library}, version {run.version}"),
        ("cell", f"{report.cell.name} ({report.cell.content_id[: grids.SHORT]})"),
        ("device", run.device),
        ("latency", run.latency),
        ("seed", str(run.seed)),
        ("scenegen", run.scenegen),
        ("episodes", f"{card.episodes}: " + ", ".join(f"{name} {count}" for name, count in card.outcomes.items())),
    ]
    simulator = run.simulator
    rows += sorted(simulator.items()) if isinstance(simulator, Mapping) else [("simulator", str(simulator))]
    if report.began and report.ended:
        rows.append(("committed, UTC", f"{report.began[:16]} to {report.ended[:16]}".replace("T", " ")))
    if report.flips is not None:
        rows.append(("flip rate of repeats", figures.both(report.flips)))
    rows.append(("run", report.run_id))
    return Grid("conditions", ("condition", "value"), tuple(rows))


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("evaluator.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja")
