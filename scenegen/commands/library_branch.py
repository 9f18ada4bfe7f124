"""`scenegen library branch`: lines of commits."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.table import Table

from library.commit import MAIN
from library.versioned import Signature, VersionedLibrary
from scenegen.commands.cited import SHORT, at, committed, name_and_library, when
from scenegen.commands.opened import LIBRARY, VERSION, open_library, open_version
from scenegen.errors import InvalidOption, LibraryError, UnknownName

app = typer.Typer()


@app.command()
def branch(
    name: str = typer.Argument("", help="The branch; without it, the branches are listed."),
    library: str = LIBRARY,
    version: str = VERSION,
    close: bool = typer.Option(False, "--close", help="Close the branch: it takes no more commits."),
) -> None:
    """Begin a branch at a version, or close one; without a name, list the branches."""
    name, library = name_and_library(name, library)
    if not name and close:
        raise InvalidOption("--close", "without a branch", "scenegen library branch NAME --close")
    if not name:
        _list(open_library(library))
    elif close:
        _close(open_library(library), name)
    else:
        store, snapshot = open_version(library, version)
        origin = committed(snapshot.commit, library)
        begun = store.branch(name, origin, Signature.here(f"begin branch {name} at {at(origin)}"))
        typer.echo(f"branch {name} begins at {at(origin)}: `scenegen expand --branch {name}` adds to it")
        typer.echo(f"committed as {at(begun)} ({begun.content_id[:SHORT]})")


def _close(store: VersionedLibrary, name: str) -> None:
    if name == MAIN:
        raise InvalidOption("--close", MAIN, "any other branch")
    head = store.history.head(name)
    if head is None:
        raise UnknownName("branch", name, store.history.branches())
    if head.closed:
        raise LibraryError(str(store.folder), f"branch {name} is closed already", "there is nothing to do")
    store.branch(name, head, Signature.here(f"close branch {name}"), closed=True)
    typer.echo(f"branch {name} is closed; its versions stay, unless `scenegen library gc` clears what no tag names")


def _list(store: VersionedLibrary) -> None:
    table = Table("branch", "newest", "commit", "time", "scenes", "")
    for name, head in store.history.branches().items():
        scenes = str(store.snapshot(head).scenes)
        facts = (at(head), head.content_id[:SHORT], when(head.time), scenes, "closed" if head.closed else "")
        table.add_row(name, *facts)
    Console().print(table)
