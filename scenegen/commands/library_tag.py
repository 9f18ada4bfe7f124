"""`scenegen library tag`: names for versions."""

from __future__ import annotations

import typer

from scenegen.commands.cited import at, citation, committed, name_and_library, when
from scenegen.commands.opened import LIBRARY, VERSION, open_library, open_version

app = typer.Typer()


@app.command()
def tag(
    name: str = typer.Argument("", help="The new tag; without it, the tags are listed."),
    library: str = LIBRARY,
    version: str = VERSION,
    note: str = typer.Option("", help="What the tag is for."),
) -> None:
    """Give a version a name, for good, and print how to cite it; without a name, list the tags."""
    name, library = name_and_library(name, library)
    if not name:
        _list(library)
        return
    store, snapshot = open_version(library, version)
    commit = committed(snapshot.commit, library)
    store.tag(name, commit, note=note)
    typer.echo(citation(store, name, commit))


def _list(library: str) -> None:
    store = open_library(library)
    tags = store.history.tags()
    for name, one in sorted(tags.items(), key=lambda pair: pair[1].time):
        typer.echo(f"{name}  {at(one.commit)}  {when(one.time)}  {one.author}{f'  {one.note}' if one.note else ''}")
        typer.echo(f"    {citation(store, name, store.history.find(name))}")
    if not tags:
        typer.echo("no tags; `scenegen library tag NAME` gives the newest version of main a name")
