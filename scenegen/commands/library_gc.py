"""`scenegen library gc`: remove files that no version needs."""

from __future__ import annotations

import re
import time

import typer

from library.gc import clear
from scenegen.commands.counted import Counted
from scenegen.commands.opened import LIBRARY, open_library
from scenegen.commands.progress import progress_style
from scenegen.errors import InvalidOption
from scenegen.record import canonical_text

UNITS_S = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}

app = typer.Typer()


@app.command()
def gc(
    library: str = LIBRARY,
    grace: str = typer.Option("24h", help="Younger files stay: 90s, 30m, 24h, 7d; 0 only if nothing else writes."),
    dry_run: bool = typer.Option(False, "--dry-run", help="List the files and remove none."),
    as_json: bool = typer.Option(False, "--json", help="Progress and report as JSON lines."),
) -> None:
    """Remove files that no version, tag or unfinished expansion needs; versions of closed branches expire by it."""
    store, grace_s = open_library(library), parse_duration(grace)
    with Counted("files removed", None, style=progress_style(as_json)) as counted:
        cleared = clear(store, now_s=time.time(), grace_s=grace_s, dry_run=dry_run, progress=counted.add)
    if as_json:
        facts = {"bytes": cleared.bytes, "dry_run": dry_run, "paths": cleared.paths, "young": cleared.young}
        typer.echo(canonical_text(facts))
        return
    if dry_run:
        for path in cleared.paths:
            typer.echo(path)
    verb = "would be removed" if dry_run else "removed"
    typer.echo(f"{len(cleared.paths)} files {verb}, {cleared.bytes} bytes")
    if cleared.young:
        typer.echo(f"{cleared.young} more belong to no version and are younger than {grace}: they stay for now")


def parse_duration(text: str) -> float:
    """Read a duration: `90s`, `30m`, `24h`, `7d` or seconds.

    Returns:
        The duration [s].

    Raises:
        InvalidOption: It is none.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", text.strip())
    if not found:
        raise InvalidOption("--grace", repr(text), "a duration such as 90s, 30m, 24h, 7d or 0")
    return float(found[1]) * UNITS_S[found[2]]
