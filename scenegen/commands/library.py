"""`scenegen library`: versions of scene sets. Each command is a module of its own, `library_<name>.py`."""

from __future__ import annotations

import typer

from scenegen.commands.lazy import lazy_group

COMMANDS = {
    "list": "List the scenes of a version.",
    "sheet": "Draw a contact sheet.",
    "query": "Ask in SQL: tables scenarios, facets, verdicts, attempts, curation, meters, runs, episodes.",
    "log": "List the commits of a branch.",
    "commit": "Show one commit: who, when, with what, and what it brought.",
    "diff": "Compare two versions: what was added, removed, changed, by axis and field.",
    "tag": "Give a version a name, for good; list the names.",
    "branch": "Begin, list or close branches.",
    "lock": "Write library.lock: a version with its hashes, for your own git.",
    "split": "Assign bases to train, hold-out and adversarial splits.",
    "dedup": "Find near-duplicates, by distance in physical units.",
    "drop": "Leave scenes out of the set, with a reason; or take them back.",
    "review": "Accept, reject or label a scene, with a note.",
    "quarantine": "Keep scenes from use until they were looked at; or release them.",
    "export": "Write a version as USD folder, usdz, parquet or CSV.",
    "import": "Take scenes from a USD folder, another library or a task list.",
    "reproduce": "Make a scene again from its chain and compare the bytes.",
    "measure": "Measure what each camera sees of each target; ask for it in the table meters.",
    "revalidate": "Check scenes again whose checks or simulator have changed.",
    "verify": "Hold every file of every version against its hash.",
    "restore": "Make damaged files again, or take them from a copy of the library.",
    "gc": "Remove files that no version needs.",
    "migrate": "Bring a library of an older format to this one.",
}
"""Commands by name with their one-line help."""

app = typer.Typer(
    cls=lazy_group(COMMANDS, "scenegen.commands.library_{}"),
    no_args_is_help=True,
    help="Versions of scene sets: list, compare, tag, split, curate, export, verify.",
)


@app.callback()
def library() -> None:
    """Versions of scene sets: list, compare, tag, split, curate, export, verify.

    LIBRARY is a folder, or `folder@version`; a version is a tag, a branch, `branch@7`, `branch~2` or a commit's id.
    """
