"""`scenegen library quarantine`: keep scenes from use until they were looked at, or release them."""

from __future__ import annotations

import typer

from library.curated import QUARANTINED, RELEASED, Action
from scenegen.commands.curating import BRANCH, FOLDER, IDS, decide_one_way, require_text

app = typer.Typer()


@app.command()
def quarantine(
    ids: list[str] = IDS,
    reason: str = typer.Option("", help="Why; required, and kept with the decision."),
    release: bool = typer.Option(False, "--release", help="Give scenes free again; here a reason may be left out."),
    library: str = FOLDER,
    branch: str = BRANCH,
) -> None:
    """Keep scenes from use until somebody has looked at them; `--release` gives them free again."""
    note = reason.strip() if release else require_text("--reason", reason)
    value, before = (RELEASED, QUARANTINED) if release else (QUARANTINED, None)
    decide_one_way(library, branch, Action.QUARANTINE, ids, value=value, before=before, note=note)
