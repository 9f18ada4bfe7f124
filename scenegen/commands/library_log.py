"""`scenegen library log`: the commits of a branch, and expansions that are not finished."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import typer

from library.commit import Commit
from library.journal import STAGING, is_held
from library.versioned import VersionedLibrary
from scenegen.commands.cited import SHORT, at, when
from scenegen.commands.opened import LIBRARY, VERSION, open_version
from scenegen.errors import InvalidRecord
from scenegen.expand import Expansion

app = typer.Typer()


@app.command()
def log(
    library: str = LIBRARY,
    version: str = VERSION,
    limit: int = typer.Option(20, min=1, help="Most commits to print."),
    as_json: bool = typer.Option(False, "--json", help="Print every commit as a JSON line."),
) -> None:
    """List the commits that led to a version, newest first: what each brought, and the tags that name it."""
    store, snapshot = open_version(library, version)
    names = _names(store)
    commits = iter(store.history.log(snapshot.commit)) if snapshot.commit else iter(())
    if as_json:
        for commit in islice(commits, limit):
            typer.echo(json.dumps(_facts(commit, names.get(commit.content_id, []))))
        return
    for commit in islice(commits, limit):
        _print(commit, names.get(commit.content_id, []))
    older = next(commits, None)
    if older is not None:
        typer.echo(f"older ones from {at(older)}; --limit shows more")
    if snapshot.commit is None:
        typer.echo("no commits")
    for sentence in unfinished(store):
        typer.echo(sentence)


def added(commit: Commit) -> str:
    """Say what a commit brought."""
    if not commit.added:
        return "closes the branch" if commit.closed else "no rows"
    return ", ".join(f"{count} {table}" for table, count in commit.added.items())


def unfinished(library: VersionedLibrary) -> Iterator[str]:
    """Say which expansions made scenes that no commit has published."""
    for path in sorted((library.folder / STAGING).glob("*.jsonl")):
        waiting = _scenes(path)
        if not waiting:
            continue
        if is_held(path):
            yield f"1 expansion at work: {waiting} scenes wait for its next commit ({_command(library, path.stem)})"
        else:
            again = f"run the same `{_command(library, path.stem)}` again"
            yield f"1 expansion unfinished: {waiting} scenes waiting; {again}"


def _scenes(journal: Path) -> int:
    """Count the scenes in a journal; lines of exhausted indices have none, and a torn last line does not count."""
    with journal.open("rb") as file:
        return sum(line.endswith(b"\n") and b'"scenario_id":null' not in line for line in file)


def _command(library: VersionedLibrary, expansion_id: str) -> str:
    """Return the beginning of the command that an expansion came from."""
    try:
        expansion = Expansion.from_json(library.files.read(f"records/{expansion_id}.json"))
    except (FileNotFoundError, InvalidRecord):
        return f"scenegen expand …, expansion {expansion_id}"
    axes = " ".join(f"--axis {axis}" for axis in expansion.axes)
    levels = ",".join(map(str, expansion.levels))
    return f"scenegen expand {axes} --levels {levels} --seed {expansion.seed} …"


def _names(library: VersionedLibrary) -> dict[str, list[str]]:
    """Return the tags by commit."""
    names: dict[str, list[str]] = {}
    for name, tag in library.history.tags().items():
        names.setdefault(tag.commit.id, []).append(name)
    return names


def _print(commit: Commit, tags: list[str]) -> None:
    tagged = f"  tagged {', '.join(tags)}" if tags else ""
    typer.echo(f"{at(commit)}  {commit.content_id[:SHORT]}  {when(commit.time)}  {commit.author}{tagged}")
    typer.echo(f"    {commit.message}")
    typer.echo(f"    added: {added(commit)}")


def _facts(commit: Commit, tags: list[str]) -> dict[str, object]:
    return {
        "branch": commit.branch,
        "number": commit.number,
        "id": commit.content_id,
        "time": commit.time,
        "author": commit.author,
        "message": commit.message,
        "command": commit.command,
        "added": commit.added,
        "tags": tags,
        "fingerprint": commit.fingerprint,
        "closed": commit.closed,
    }
