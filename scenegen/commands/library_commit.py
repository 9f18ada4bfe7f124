"""`scenegen library commit`: one commit in full."""

from __future__ import annotations

import json
import shlex

import typer
from rich.console import Console
from rich.table import Table

from library.commit import Commit
from scenegen.commands.cited import at, committed, when
from scenegen.commands.library_log import added
from scenegen.commands.opened import LIBRARY, open_version

app = typer.Typer()


@app.command()
def commit(
    revision: str = typer.Argument(..., help="A tag, a branch, branch@7, branch~2 or a commit's id."),
    library: str = LIBRARY,
    as_json: bool = typer.Option(False, "--json", help="Print the commit as JSON, with every file and its hash."),
) -> None:
    """Show one commit: who, when, with what, what it brought, and what the version holds."""
    store, snapshot = open_version(library, revision)
    one = committed(snapshot.commit, library)
    if as_json:
        typer.echo(json.dumps({"id": one.content_id, **one.model_dump(mode="json")}, indent=2))
        return
    tags = [name for name, tag in store.history.tags().items() if tag.commit.id == one.content_id]
    _print(one, tags)


def _print(commit: Commit, tags: list[str]) -> None:
    for name, value in _facts(commit, tags):
        typer.echo(f"{name:<12} {value}")
    if commit.tables:
        table = Table("table", "rows", "added", "Lance version")
        for name, one in commit.tables.items():
            table.add_row(name, str(one.rows), str(commit.added.get(name, 0)), str(one.version))
        Console().print(table)


def _facts(commit: Commit, tags: list[str]) -> list[tuple[str, str]]:
    size = sum(facts.size for facts in commit.files.values())
    return [
        ("commit", commit.content_id),
        ("place", at(commit) + (" (the branch is closed)" if commit.closed else "")),
        ("after", f"{at(commit.parent)} ({commit.parent.id})" if commit.parent else "nothing: it is the first"),
        ("tags", ", ".join(tags) or "none"),
        ("author", commit.author),
        ("time", f"{when(commit.time)} UTC"),
        ("message", commit.message),
        ("command", shlex.join(commit.command)),
        ("packages", ", ".join(f"{name} {version}" for name, version in commit.packages.items())),
        ("added", added(commit)),
        ("fingerprint", commit.fingerprint),
        ("files", f"{len(commit.files)}, {size} bytes, besides the layers of scenes"),
    ]
