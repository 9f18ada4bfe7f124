"""Tables of a run on a terminal."""

from __future__ import annotations

from collections.abc import Iterable

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evaluator.judging.scorecard import Scorecard
from evaluator.report import figures
from evaluator.report.grid import Grid
from evaluator.report.grids import SHORT, score_grids
from evaluator.rollout.run import Run


def print_score(run: Run, run_id: str, card: Scorecard) -> None:
    """Print a scorecard: its headline, success by axis and level, the measures that are known."""
    print_headline(run, run_id, card)
    print_grids(score_grids(card))


def print_headline(run: Run, run_id: str, card: Scorecard) -> None:
    """Print what a run showed in a line, and why it shows nothing if it does not."""
    success = figures.success(card.success)
    typer.echo(f"run {run_id[:SHORT]}: {run.policy}, {card.episodes} episodes, success {success}")
    if card.refusal:
        typer.echo(f"it shows nothing: {card.refusal}")


def print_grids(grids: Iterable[Grid]) -> None:
    """Print tables one below the other, those without rows left out."""
    out = Console()
    for grid in grids:
        if not grid.rows:
            continue
        table = Table(title=grid.title, title_justify="left", caption=Text(grid.note), caption_justify="left")
        for index, name in enumerate(grid.columns):
            table.add_column(name, justify="right" if index in grid.numbers else "left")
        for row in grid.rows:
            table.add_row(*(Text(text) for text in row))
        out.print(table)
