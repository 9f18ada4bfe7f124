"""A library of a million scenes: append, look up, filter, iterate, aggregate; beside Parquet and one file a scene."""

import argparse
import gc
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from harness import Rows, load_average, write_result  # noqa: E402

from library.lance_table import LanceTable  # noqa: E402
from library.query import ask  # noqa: E402
from library.row import KeptVerdict, Row, attempt_columns, sealed  # noqa: E402
from library.tables import SCENARIOS, TABLES, Columns  # noqa: E402
from library.versioned import Changes, Signature, VersionedLibrary  # noqa: E402
from scenegen.provenance import AxisSetting, Provenance  # noqa: E402
from scenegen.record import content_hash  # noqa: E402
from scenegen.scenario import FACETS, Asset, Facet  # noqa: E402
from scenegen.units import Quantity  # noqa: E402
from scenegen.verdict import Status  # noqa: E402

COMMIT = 100_000
"""Rows of a commit while the library is filled."""
APPENDED = 10_000
LOOKUPS = 500
AXES = ("lighting", "glare", "color_shift", "pose", "tilt", "stacking", "occlusion", "camera", "sensor", "contact")
PER_BASE = 20
WHERE = "axis = 'glare' AND level = 3"
AGGREGATE = "SELECT axis, level, count(*), avg(severity) FROM {} GROUP BY ALL ORDER BY ALL"
CHECKS = {f"check_{number}@1": Status.PASSED for number in range(23)}
LIGHTS = json.dumps({"lights": [{"kind": "rect", "name": "key", "pose_to_world": [0.4567891] * 7}] * 4, "casters": []})

Facts = dict[str, Any]


def digest(kind: str, index: int) -> str:
    """Return an id for something that is not there."""
    return content_hash(f"{kind} {index}".encode())


def scenario(index: int) -> Row:
    """Make up the row of one scene: ids are hashes, axes and levels follow each other."""
    axis, level, base = AXES[index % len(AXES)], index // len(AXES) % 5 + 1, digest("base", index // PER_BASE)
    severity = (Quantity.model_validate({"name": "change", "value": level + index % 997 / 997, "unit": "factor"}),)
    same = {facet: digest(facet.value, index // PER_BASE) for facet in FACETS}
    return Row(
        kind="variant",
        scenario_id=digest("scenario", index),
        cell_id=digest("cell", 0),
        assets=tuple(Asset(part=f"part_{number}", content=digest("part", number)) for number in range(4)),
        facets={**same, Facet.LIGHTS: digest("lights", index)},
        provenance=Provenance(
            axes=(AxisSetting(axis=axis, level=level, severity=severity),),
            base_id=base,
            parent_id=base,
            generator="procedural",
            generator_version="0.1.0",
            seed=0,
            index=index,
        ),
        expansion=digest("expansion", 0),
        plan_id=digest("plan", 0),
        layout_sha256=hashlib.sha256(base.encode()).hexdigest(),
        scene_sha256=hashlib.sha256(b"%d" % index).hexdigest(),
    )


def changes(first: int, last: int) -> Changes:
    """Make up what an expansion publishes: a scenario, a facet, a verdict and an attempt an index."""
    rows: dict[str, list[Columns]] = {name: [] for name in ("scenarios", "facets", "verdicts", "attempts")}
    for index in range(first, last):
        row = scenario(index)
        verdict = KeptVerdict(scenario_id=row.scenario_id, plan_id=digest("plan", 0), ok=True, statuses=CHECKS)
        facet = {"facet_id": row.facets[Facet.LIGHTS], "facet": "lights", "json": LIGHTS}
        rows["scenarios"].append(row.columns())
        rows["facets"].append(sealed(facet))
        rows["verdicts"].append(verdict.columns())
        rows["attempts"].append(attempt_columns(digest("expansion", 0), index, row.scenario_id, {}))
    return Changes(rows=rows)


def timed(work: Callable[[], Any]) -> float:
    """Return the wall time of one run [s]."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_mb() -> float:
    """Return the most memory that this process ever held [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def now_mb() -> float:
    """Return the memory that this process holds now [MB]."""
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * resource.getpagesize() / 2**20


def fill(folder: Path, rows: int) -> None:
    """Fill a library by commits of `COMMIT` rows a table."""
    library = VersionedLibrary.create(folder)
    for first in range(0, rows, COMMIT):
        some = changes(first, min(first + COMMIT, rows))
        seconds = timed(lambda: library.publish(some, Signature.here("benchmark")))  # noqa: B023
        print(f"{first + COMMIT}/{rows} rows, commit {seconds:.1f} s", file=sys.stderr, flush=True)


def append(folder: Path, rows: int) -> Facts:
    """Append to a library three times in one process, and once what is there already."""
    library, seconds = VersionedLibrary.open(folder), []
    for number in range(3):
        some = changes(rows + number * APPENDED, rows + (number + 1) * APPENDED)
        gc.collect()
        seconds.append(timed(lambda: library.publish(some, Signature.here("benchmark"))))  # noqa: B023
    again = timed(lambda: library.publish(some, Signature.here("benchmark")))
    return {"first": seconds[0], "later": min(seconds[1:]), "again": again}


def read(folder: Path, rows: int) -> Facts:
    """Read a library in a new process."""
    ids = [digest("scenario", int(index)) for index in np.random.default_rng(1).integers(0, rows, LOOKUPS + 1)]
    start = time.perf_counter()
    snapshot = VersionedLibrary.open(folder).at()
    first = snapshot.find(ids[0])
    cold = time.perf_counter() - start
    each = sorted(timed(lambda: snapshot.find(one)) for one in ids[1:])  # noqa: B023
    table = snapshot.table(SCENARIOS.name)
    filtered = min(timed(lambda: table.scan(where=WHERE, columns=["scenario_id"])) for _ in range(5))
    whole = min(timed(lambda: table.scan(where=WHERE)) for _ in range(3))
    count = table.scan(where=WHERE, columns=["scenario_id"]).num_rows
    question = AGGREGATE.format("scenarios")
    sql_first = timed(lambda: list(ask(snapshot, question).rows))
    sql = min(timed(lambda: list(ask(snapshot, question).rows)) for _ in range(3))
    assert first.scenario_id == ids[0]
    facts = {"cold": cold, "median": each[len(each) // 2], "p99": each[int(0.99 * len(each))]}
    return {**facts, "filter": filtered, "filter whole": whole, "matching": count, "sql first": sql_first, "sql": sql}


def iterate(folder: Path, what: str) -> Facts:
    """Iterate over all scenes in a new process, and watch its memory."""
    snapshot = VersionedLibrary.open(folder).at()
    each: Iterator[Any] = iter(snapshot.columns() if what == "columns" else snapshot.rows())
    next(each)
    start, held, count = time.perf_counter(), [], 1
    for count, _ in enumerate(each, start=2):
        if count % 50_000 == 0:
            held.append(now_mb())
    seconds = time.perf_counter() - start
    return {"rows/s": count / seconds, "early MB": held[0] if held else now_mb(), "peak MB": peak_mb()}


def parquet(folder: Path, library: Path, rows: int) -> Facts:
    """The same rows of `scenarios` as Parquet files, read by DuckDB: no versions, no hashes, no check for doubles."""
    folder.mkdir()
    table = VersionedLibrary.open(library).at().table(SCENARIOS.name)
    write_parquet(folder, table)
    some = SCENARIOS.arrow([scenario(index).columns() for index in range(rows, rows + APPENDED)])
    appended = timed(lambda: synced(folder / "appended.parquet", some))
    connection, files = duckdb.connect(), f"read_parquet('{folder}/*.parquet')"
    ids = [digest("scenario", int(index)) for index in np.random.default_rng(1).integers(0, rows, 51)]

    def ask_one(one: str) -> None:
        assert connection.execute(f"SELECT * FROM {files} WHERE scenario_id = '{one}'").fetchall()

    cold = timed(lambda: ask_one(ids[0]))
    each = sorted(timed(lambda: ask_one(one)) for one in ids[1:])  # noqa: B023
    where = f"SELECT scenario_id FROM {files} WHERE {WHERE}"
    facts = {"append": appended, "cold": cold, "median": each[len(each) // 2], "p99": each[-1]}
    facts["filter"] = min(timed(lambda: connection.execute(where).fetchall()) for _ in range(5))
    facts["sql"] = min(timed(lambda: connection.execute(AGGREGATE.format(files)).fetchall()) for _ in range(3))
    return facts


def write_parquet(folder: Path, table: LanceTable) -> None:
    """Write a table as Parquet files of about `COMMIT` rows."""
    batches, count = [], 0
    for number, batch in enumerate(table.batches()):
        batches.append(batch)
        count += batch.num_rows
        if count >= COMMIT:
            synced(folder / f"{number:05d}.parquet", type(table.scan(where="false")).from_batches(batches))
            batches, count = [], 0
    if batches:
        synced(folder / "last.parquet", type(table.scan(where="false")).from_batches(batches))


def synced(path: Path, table: Any) -> None:
    """Write a Parquet file durably."""
    pq.write_table(table, path, compression="zstd")
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def json_files(folder: Path, rows: int) -> Facts:
    """One JSON file a scene: what a folder without a library does; nothing is synced."""

    def write(first: int, last: int) -> None:
        for index in range(first, last):
            row = scenario(index)
            path = folder / row.scenario_id[:2] / f"{row.scenario_id}.json"
            with suppress(FileExistsError):
                path.parent.mkdir(parents=True)
            path.write_text(json.dumps(row.columns()), encoding="utf-8")

    def matching() -> list[str]:
        each = (json.loads(path.read_bytes()) for path in folder.rglob("*.json"))
        return [row["scenario_id"] for row in each if row["axis"] == "glare" and row["level"] == 3]

    write(0, rows)
    made = timed(lambda: [scenario(index).columns() for index in range(rows, rows + APPENDED)])
    appended = timed(lambda: write(rows, rows + APPENDED)) - made
    ids = [digest("scenario", int(index)) for index in np.random.default_rng(1).integers(0, rows, LOOKUPS)]
    each = sorted(timed(lambda: json.loads((folder / one[:2] / f"{one}.json").read_bytes())) for one in ids)  # noqa: B023
    facts = {"append": appended, "cold": each[-1], "median": each[len(each) // 2], "p99": each[int(0.99 * len(each))]}
    return {**facts, "filter": timed(matching)}


STEPS: dict[str, Callable[[Path, int], Facts | None]] = {
    "fill": fill,
    "append": append,
    "read": read,
    "rows": lambda folder, _: iterate(folder, "rows"),
    "columns": lambda folder, _: iterate(folder, "columns"),
}


def step(name: str, folder: Path, rows: int) -> Facts:
    """Run one step in a process of its own, so that nothing is warm but the system's own cache of files."""
    command = [sys.executable, __file__, "--step", name, "--rows", str(rows), "--folder", folder]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def milliseconds(seconds: float | None) -> Any:
    """Show a time in milliseconds."""
    return "-" if seconds is None else seconds * 1e3


def size_mb(folder: Path) -> float:
    """Return the size of all files below a folder [MB]."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def measure(folder: Path, rows: int, files: int, filled: Path | None) -> tuple[Rows, list[str]]:
    """Measure the library and its peers."""
    library = folder / "library"
    if filled:
        shutil.copytree(filled, library)
    else:
        step("fill", library, rows)
    scenes = size_mb(library / TABLES["scenarios"].path)
    facts = step("read", library, rows)
    iterated, plain = step("rows", library, rows), step("columns", library, rows)
    appended = step("append", library, rows)
    after = step("read", library, rows)
    beside = parquet(folder / "parquet", library, rows)
    size = size_mb(folder / "parquet")
    single = json_files(folder / "json", files)

    def row(what: str, target: str, ours: Any, *peers: Any) -> Facts:
        one, two = (*peers, "-", "-")[:2]
        return {"task": what, "target": target, "library": ours, "Parquet + DuckDB": one, "a JSON file a scene": two}

    ms = milliseconds
    table = [
        row("scenes", "", rows, rows, files),
        row("append 10,000, first commit of a process [ms]", "", ms(appended["first"])),
        row(
            "append 10,000, later commits [ms]",
            "≤ 2000",
            ms(appended["later"]),
            ms(beside["append"]),
            ms(single["append"]),
        ),
        row("append 10,000 that are there already [ms]", "", ms(appended["again"])),
        row("first look-up by id of a process [ms]", "", ms(facts["cold"]), ms(beside["cold"]), ms(single["cold"])),
        row("look-up by id, median [ms]", "≤ 2", ms(facts["median"]), ms(beside["median"]), ms(single["median"])),
        row("look-up by id, 99th percentile [ms]", "", ms(facts["p99"]), ms(beside["p99"]), ms(single["p99"])),
        row("look-up by id after three small commits, median [ms]", "", ms(after["median"])),
        row("ids of one axis and level [ms]", "≤ 50", ms(facts["filter"]), ms(beside["filter"]), ms(single["filter"])),
        row("whole rows of one axis and level [ms]", "", ms(facts["filter whole"])),
        row("SQL: count and mean by axis and level [ms]", "", ms(facts["sql"]), ms(beside["sql"])),
        row("iterate over all scenes as records [rows/s]", "", iterated["rows/s"]),
        row("the same as plain data [rows/s]", "", plain["rows/s"]),
        row("memory after 50,000 records [MB]", "", iterated["early MB"]),
        row("most memory over all records [MB]", "flat", iterated["peak MB"]),
        row("size of the table of scenes [MB]", "", scenes, size, size_mb(folder / "json")),
    ]
    return table, notes_of(facts["matching"], files)


def notes_of(matching: int, files: int) -> list[str]:
    """Say what the figures are of."""
    return [
        f"The library's commits bring four rows a scene: scenario, facet, verdict, attempt; it was filled by commits of"
        f" {COMMIT:,}. Each is checked for rows that are there already, indexed, hashed and synced. Parquet holds the"
        " scenarios alone and does none of this but the sync; the JSON files are not even synced.",
        "The first look-up of a process opens the library and reads the table's files once, to hold them against their"
        " hashes; the system's file cache is warm. Later look-ups prove the row by its hash and"
        " build its record.",
        f"{matching:,} scenes have the axis and level of the filter. The JSON folder was made with"
        f" {files:,} scenes only: it is the smaller one by far, and still reads every file to filter.",
        "Rows are made up (ids are hashes, axes and levels in turn), and published as `scenegen expand` does.",
    ]


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="a million scenes, as published; 100,000 otherwise")
    parser.add_argument("--rows", type=int, default=0, help="another number of scenes")
    parser.add_argument("--folder", type=Path, help="where to work; by default among temporary files, removed after")
    parser.add_argument("--filled", type=Path, help="a library that `--step fill` made before; it is copied")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    rows = options.rows or (1_000_000 if options.long else 100_000)
    if options.step:
        print(json.dumps(STEPS[options.step](options.folder, rows) or {}))
        return
    load = load_average()
    folder = Path(tempfile.mkdtemp(dir=options.folder))
    try:
        table, notes = measure(folder, rows, min(rows, 100_000), options.filled)
    finally:
        shutil.rmtree(folder)
    write_result(HERE, table, title=f"A library of {rows:,} scenes", notes=notes, load_before=load, name="scale")


if __name__ == "__main__":
    main()
