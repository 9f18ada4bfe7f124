"""`scenegen library drop`: leave scenes out of the set, or take them back; nothing is deleted."""

from __future__ import annotations

import typer

from library.curated import DROPPED, RESTORED, Action
from scenegen.commands.curating import BRANCH, FOLDER, IDS, decide_one_way, require_text

app = typer.Typer()


@app.command()
def drop(
    ids: list[str] = IDS,
    reason: str = typer.Option("", help="Why; required, and kept with the decision."),
    restore: bool = typer.Option(False, "--restore", help="Take dropped scenes back."),
    library: str = FOLDER,
    branch: str = BRANCH,
) -> None:
    """Leave scenes out of the set, with a reason; older versions still hold them. `--restore` takes them back."""
    note = require_text("--reason", reason)
    value, before = (RESTORED, DROPPED) if restore else (DROPPED, None)
    decide_one_way(library, branch, Action.DROP, ids, value=value, before=before, note=note)
