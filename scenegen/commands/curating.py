"""What the commands that decide about scenes share: the branch, the scenes by id, one commit of decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import typer

from library.commit import MAIN, Commit
from library.curated import Action, decision
from library.snapshot import Snapshot
from library.tables import CURATION, Columns
from library.versioned import Changes, Signature, VersionedLibrary, author, now
from scenegen.commands.opened import open_library, split_version
from scenegen.errors import InvalidOption, UnknownName

BRANCH: Any = typer.Option(MAIN, "--branch", help="Branch of the library to commit to.")
IDS: Any = typer.Argument(..., help="Scenario ids, or their first digits.")
FOLDER: Any = typer.Option("scenarios", "--library", help="Folder of the library.")


def open_branch(library: str, branch: str) -> tuple[VersionedLibrary, Snapshot]:
    """Open a library and the newest version of a branch, to which decisions are added.

    Raises:
        InvalidOption: `library` names a version: versions never change, only branches grow.
        UnknownName: There is no such branch.
        LibraryError: There is no such library.
    """
    folder, version = split_version(library)
    if version:
        accepted = f"a folder alone; decisions go to a branch: {folder} --branch {version}"
        raise InvalidOption("LIBRARY", library, accepted)
    store = open_library(library)
    head = store.history.head(branch)
    if head is None and store.history.branches():
        raise UnknownName("branch", branch, store.history.branches())
    return store, store.snapshot(head)


def scene_ids(snapshot: Snapshot, prefixes: Iterable[str]) -> list[str]:
    """Return the ids of the scenes whose ids start with these digits, each once.

    Raises:
        LibraryError: No scene, or more than one, has such an id.
    """
    return list(dict.fromkeys(snapshot.find(prefix).scenario_id for prefix in prefixes))


def require_text(option: str, text: str) -> str:
    """Return a reason or a note without spaces around it.

    Raises:
        InvalidOption: It is empty.
    """
    if not text.strip():
        raise InvalidOption(option, repr(text), "a sentence that says why")
    return text.strip()


def decide(
    store: VersionedLibrary,
    branch: str,
    action: Action,
    values: Mapping[str, str],
    *,
    notes: Mapping[str, str] | str,
    message: str,
    onto: Commit | None = None,
) -> Commit | None:
    """Publish decisions as one commit.

    Args:
        store: The library.
        branch: Where to commit.
        action: What is decided.
        values: Subject -> value.
        notes: Why: one text, or one a subject.
        message: The commit's message.
        onto: Commit only if this is still the newest commit; see `VersionedLibrary.publish`.
    """
    who, when = author(), now()
    rows: list[Columns] = [
        decision(action, one, value, note=notes if isinstance(notes, str) else notes[one], author=who, time=when)
        for one, value in values.items()
    ]
    if not rows:
        return None
    return store.publish(Changes(rows={CURATION.name: rows}), Signature.here(message), branch=branch, onto=onto)


def decide_one_way(
    library: str, branch: str, action: Action, prefixes: list[str], *, value: str, before: str | None, note: str
) -> None:
    """Bring scenes into a state, and say which were in it already.

    Args:
        library: Folder of the library.
        branch: Where to commit.
        action: What is decided.
        prefixes: Ids of the scenes, or their first digits.
        value: The state.
        before: The state that they must be in now; None where any other one does.
        note: Why.
    """
    store, snapshot = open_branch(library, branch)
    ids = scene_ids(snapshot, prefixes)
    states = {one: snapshot.curated.value(action, one) for one in ids}
    if before is not None:
        already = [one for one in ids if states[one] != before]
    else:
        already = [one for one in ids if states[one] == value]
    fresh = [one for one in ids if one not in already]
    for one in already:
        typer.echo(f"{one[:12]} is {f'not {before}' if before else f'{value} already'}")
    message = f"{value} {_counted(fresh)}" + (f": {note}" if note else "")
    commit = decide(store, branch, action, dict.fromkeys(fresh, value), notes=note, message=message)
    say_committed(f"{value} {_counted(fresh)}", commit)


def say_committed(what: str, commit: Commit | None) -> None:
    """Print what was done and where it was committed."""
    if commit is None:
        typer.echo("nothing to commit")
    else:
        typer.echo(f"{what}; committed as {commit.branch}@{commit.number} ({commit.content_id[:12]})")


def _counted(ids: list[str]) -> str:
    return ids[0][:12] if len(ids) == 1 else f"{len(ids)} scenes"
