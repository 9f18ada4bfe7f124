"""Forks a fresh process for each request, with the fault shim preloaded: a line of JSON in, a line of JSON out.

Loading what a writer needs takes seconds and forking milliseconds, so that thousands of crashes can be tried.
"""

import ctypes
import json
import os
import select
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import crash_writer

from library.commit import Commit, FileFacts, advanced
from library.journal import Journal
from library.lance_table import LanceTable, check_file
from library.row import ROW_HASH
from library.tables import TABLES, is_proved
from library.verify import verify
from library.versioned import MARKER, USD, VersionedLibrary
from scenegen.errors import SceneGenError
from scenegen.usd.files import scene_path

SHIM = ctypes.CDLL(None)


def arm(folder: str, fault: dict[str, Any]) -> None:
    """Set the fault of this process."""
    SHIM.shim_arm(
        folder.encode(),
        str(fault.get("calls", "")).encode(),
        ctypes.c_long(int(fault.get("at", 0))),
        str(fault.get("mode", "kill")).encode(),
        ctypes.c_int(int(fault.get("errno", 0))),
        ctypes.c_long(int(fault.get("times", 1))),
        str(fault.get("name", "")).encode(),
    )


def write(request: dict[str, Any]) -> dict[str, Any]:
    """Run the writer under a fault."""
    folder = str(request["folder"])
    arm(folder, request.get("fault") or {})
    try:
        crash_writer.write(Path(folder), Path(request["durable"]))
    finally:
        count = SHIM.shim_count()
        arm("", {})
    return {"count": count}


def read(request: dict[str, Any]) -> dict[str, Any]:
    """Read the newest version whole, under a fault."""
    folder = str(request["folder"])
    arm(folder, request.get("fault") or {})
    try:
        rows = len(list(VersionedLibrary.open(folder).at().rows()))
    finally:
        count = SHIM.shim_count()
        arm("", {})
    return {"count": count, "rows": rows}


def check(request: dict[str, Any]) -> dict[str, Any]:
    """Prove every version of a library, whatever happened to it; `torn` names what is neither old nor new."""
    folder, durable = Path(request["folder"]), Path(request["durable"])
    promised = {int(line) for line in durable.read_text().splitlines()} if durable.exists() else set[int]()
    if not (folder / MARKER).exists():
        return {"torn": [], "lost": sorted(promised), "heads": {}, "commits": 0}
    library = VersionedLibrary.open(folder)
    torn: list[str] = []
    heads = library.history.branches()
    commits = list(library.history.all())
    for commit in commits:
        torn += [f"{commit.path}: {one}" for one in _wrong(library, commit)]
    torn += [one.sentence for one in verify(library).damage]
    kept = Counter(library.at().table("attempts").scan().column("index").to_pylist())
    held = {line.index for line in Journal(folder, crash_writer.EXPANSION).lines()} if _journal(folder) else set()
    return {
        "torn": torn,
        "lost": sorted(promised - set(kept) - held),
        "twice": sorted(index for index, times in kept.items() if times > 1),
        "heads": {name: [head.number, head.fingerprint] for name, head in heads.items()},
        "commits": len(commits),
    }


def _journal(folder: Path) -> bool:
    return Journal(folder, crash_writer.EXPANSION).path.exists()


def _wrong(library: VersionedLibrary, commit: Commit) -> list[str]:
    """Hold every file, row and layer of a version against what the commit says."""
    wrong: list[str] = []
    for path, facts in commit.files.items():
        check_file(library.files, path, facts)
    fingerprint = "0" * 64
    for name, version in commit.tables.items():
        rows = LanceTable(library.files, TABLES[name], version, commit.files).scan().to_pylist()
        hashes = [row[ROW_HASH] for row in rows]
        fingerprint = advanced(fingerprint, hashes)
        wrong += [f"{name}: a row does not match its hash" for row in rows if not is_proved(row)]
        if len(rows) != version.rows or len(set(hashes)) != len(rows):
            wrong.append(f"{name}: {len(rows)} rows, {len(set(hashes))} of them different, not {version.rows}")
        if name == "scenarios":
            wrong += _layers(library, rows)
    if fingerprint != commit.fingerprint:
        wrong.append("its rows do not add up to its fingerprint")
    return wrong


def _layers(library: VersionedLibrary, rows: list[dict[str, Any]]) -> list[str]:
    wrong: list[str] = []
    ids = [row["scenario_id"] for row in rows]
    if len(set(ids)) != len(ids):
        wrong.append("scenarios: an id stands twice")
    for row in rows:
        path = f"{USD}/{scene_path(row['scenario_id'])}"
        size = len(crash_writer.layer(row["scenario_id"]))
        check_file(library.files, path, FileFacts(size=size, sha256=row["scene_sha256"]))
    return wrong


def settle(request: dict[str, Any]) -> dict[str, Any]:
    """Prove what a fault left, let an undisturbed run finish it, and prove that; all in one process, to be quick."""
    left = check(request)
    crash_writer.write(Path(request["folder"]), Path(request["durable"]))
    return {"left": left, "end": check(request)}


WORK: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "write": write,
    "read": read,
    "check": check,
    "settle": settle,
}


def answered(request: dict[str, Any]) -> dict[str, Any]:
    """Do a request in a process of its own; kill it after `kill_after_s`, if that is given."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        os.write(writer, json.dumps(_done(request)).encode())
        os._exit(0)
    os.close(writer)
    watched = os.pidfd_open(child)
    if "kill_after_s" in request and not select.select([watched], [], [], request["kill_after_s"])[0]:
        os.kill(child, signal.SIGKILL)
    if not select.select([watched], [], [], 120)[0]:
        os.kill(child, signal.SIGKILL)
        return {"error": "no answer within 120 s", "kind": "Stuck"}
    os.close(watched)
    with os.fdopen(reader) as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    return {**(json.loads(text) if text else {}), "killed": os.waitstatus_to_exitcode(status) == -signal.SIGKILL}


def _done(request: dict[str, Any]) -> dict[str, Any]:
    try:
        return WORK[request["do"]](request)
    except SceneGenError as error:
        return {"error": str(error), "kind": type(error).__name__}
    except BaseException as error:
        return {"error": traceback.format_exc(), "kind": type(error).__name__}


if __name__ == "__main__":
    for asked in sys.stdin:
        sys.stdout.write(json.dumps(answered(json.loads(asked))) + "\n")
        sys.stdout.flush()
