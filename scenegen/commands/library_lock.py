"""`scenegen library lock`: a version as a small text file that proves it."""

from __future__ import annotations

from pathlib import Path

import typer

from library.files import library_error
from library.lockfile import Lock, differences
from scenegen.commands.cited import SHORT, at, committed
from scenegen.commands.counted import Counted
from scenegen.commands.exits import EXIT_FINDINGS
from scenegen.commands.opened import LIBRARY, VERSION, open_library, open_version
from scenegen.commands.progress import progress_style

app = typer.Typer()


@app.command()
def lock(
    library: str = LIBRARY,
    version: str = VERSION,
    output: Path = typer.Option(Path("library.lock"), "-o", "--output", help="File to write."),
    check: Path | None = typer.Option(None, "--check", help="Hold the library against this lock instead."),
) -> None:
    """Write library.lock: a version with its hashes, for your own git; or prove that a library is what was locked.

    --check reads every file of the locked version again; exit code 1 if anything differs.
    """
    if check is not None:
        _check(library, check)
        return
    store, snapshot = open_version(library, version)
    found = Lock.of(store, committed(snapshot.commit, library))
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_bytes(found.to_file())
    except OSError as error:
        raise library_error(output, error) from error
    typer.echo(f"wrote {output}: {_words(found)}")


def _check(library: str, path: Path) -> None:
    wanted, store = Lock.from_file(path), open_library(library)
    total = sum(digest.files for digest in wanted.digests.values())
    with Counted("files", total, style=progress_style(as_json=False)) as counted:
        found = list(differences(wanted, store, progress=counted.add))
    for sentence in found:
        typer.echo(f"DIFFERS {sentence}")
    if found:
        typer.echo(f"{store.folder} is not what {path} says: {len(found)} differences")
        raise typer.Exit(EXIT_FINDINGS)
    typer.echo(f"{store.folder} has the very version that {path} locks: {_words(wanted)}, {counted.done} files read")


def _words(lock: Lock) -> str:
    return (
        f"{lock.library} {at(lock.commit)} (commit {lock.commit.id[:SHORT]}, {lock.scenes} scenes, "
        f"fingerprint {lock.fingerprint[:SHORT]}…)"
    )
