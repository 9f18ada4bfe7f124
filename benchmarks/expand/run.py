"""Whole `scenegen expand` runs: valid scenes a second from a cold start, in the steady state, and where time goes."""

import argparse
import cProfile
import io
import json
import os
import pstats
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from harness import ROOT, Rows, load_average, write_result  # noqa: E402
from scenes import thirty_part_text  # noqa: E402

from library.files import FolderFiles  # noqa: E402
from library.keeper import Keeper  # noqa: E402
from scenegen.cells.loader import builtin_text, load_cell  # noqa: E402
from scenegen.commands.recipe import Workshop  # noqa: E402
from scenegen.expand import Expander, Expansion  # noqa: E402
from scenegen.parts.builtin import builtin_catalogue  # noqa: E402
from validators.run import Checker  # noqa: E402

PROFILE_LINES = 22
NOTES = (
    "`scenes/s`: one command in a new process and a new library, divided by its whole time, start included: bases are"
    " sampled, every check runs, USD is written and published, and so are the unperturbed twins (not counted).",
    "`steady, one process`: the same work without start and publishing, in one process, after the first scenes.",
    "`passed`: share of the attempts that the checks accepted. `simulated`: share of the settle checks that needed the"
    " simulation, the rest rests by construction.",
)


@dataclass(frozen=True)
class Run:
    """One expansion: a name, the axes, a cell, and how many scenes."""

    name: str
    axes: tuple[str, ...]
    short: int
    long: int
    cell: str = "fasteners"
    levels: tuple[int, ...] = (1, 2, 3, 4, 5)


RUNS = (
    Run("pose", ("pose",), 60, 1000),
    Run("lighting", ("lighting",), 400, 10_000),
    Run("lighting, strength and colour", ("lighting",), 400, 10_000, cell="remix.yaml"),
    Run("lighting, direction and shadow", ("lighting",), 400, 2000, cell="redirect.yaml"),
    Run("glare", ("glare",), 100, 1000),
    Run("color_shift", ("color_shift",), 100, 1000),
    Run("tilt, occlusion, levels 3-5", ("tilt", "occlusion"), 30, 200, levels=(3, 4, 5)),
    Run("pose, 30 parts", ("pose",), 30, 500, cell="thirty.yaml"),
    Run("lighting, 30 parts", ("lighting",), 400, 2000, cell="thirty.yaml"),
    Run("stacking, 30 parts", ("stacking",), 30, 60, cell="thirty.yaml"),
)

_STILL = "{illuminance_factor: [1, 1], temperature_shift: [0, 0]}"
_ALIGHT = "{direction: [0, 0], shadow: [0, 0]}"
CELLS = {
    "thirty.yaml": thirty_part_text(),
    "remix.yaml": builtin_text("fasteners").replace("envelope: {}", f"envelope: {{lighting: {_ALIGHT}}}"),
    "redirect.yaml": builtin_text("fasteners").replace("envelope: {}", f"envelope: {{lighting: {_STILL}}}"),
}
"""Cell files that are not built in; the last two leave the axis `lighting` one kind of change."""


def command(run: Run, count: int, folder: Path) -> tuple[float, dict[str, Any]]:
    """Run one expansion as a user would; return its wall time [s] and its report."""
    options = [option for axis in run.axes for option in ("--axis", axis)]
    options += ["--levels", ",".join(map(str, run.levels)), "--cell", run.cell, "--n", str(count)]
    scenegen = Path(sys.executable).with_name("scenegen")
    start = time.perf_counter()
    done = subprocess.run(
        [scenegen, "expand", *options, "--library", "library", "--json"],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    seconds = time.perf_counter() - start
    if not done.stdout.strip():
        raise SystemExit(f"{run.name}: {done.stderr.strip()}")
    return seconds, json.loads(done.stdout.splitlines()[-1])


def steady(run: Run, count: int, folder: Path, profile: Path | None) -> tuple[float, float]:
    """Make scenes in this process; return scenes a second and the simulated share, and write a profile."""
    cell = load_cell(str(folder / run.cell) if run.cell.endswith(".yaml") else run.cell)
    parts = builtin_catalogue([item.part for item in cell.inventory])
    assets = {part: parts[part].content_id for part in sorted(parts)}
    expansion = Expansion(cell_id=cell.content_id, assets=assets, axes=run.axes, levels=run.levels, seed=1)
    workshop = Workshop.of(cell, parts)
    expander = Expander(expansion, workshop.session(expansion))
    keeper = Keeper(
        workshop.writer,
        workshop.context.metered,
        expansion_id=expansion.content_id,
        usd=FolderFiles(folder / "steady"),
    )

    def work(first: int, last: int) -> int:
        return sum(keeper.keep(expander.make(index)).scenario_id is not None for index in range(first, last))

    work(0, 20)
    settled = workshop.checker.profile["settled"]
    runs, rested = settled.runs, settled.by_construction
    profiler = cProfile.Profile()
    start = time.perf_counter()
    kept = profiler.runcall(work, 20, 20 + count) if profile else work(20, 20 + count)
    rate = kept / (time.perf_counter() - start)
    runs, rested = settled.runs - runs, settled.by_construction - rested
    if profile:
        title = f"{run.name}: {count} scenes, one process (cProfile slows everything, small functions most)"
        write_profile(profiler, workshop.checker, profile, title)
    return rate, (runs - rested) / max(runs, 1)


def write_profile(profiler: cProfile.Profile, checker: Checker, file: Path, title: str) -> None:
    """Write what each check cost, and the functions that took longest, by their own and by their whole time."""
    text = io.StringIO()
    print(title, "", f"{'check':<16}{'runs':>8}{'reused':>8}{'ms a run':>10}{'seconds':>10}", sep="\n", file=text)
    for name, one in sorted(checker.profile.items(), key=lambda pair: -pair[1].seconds):
        each = 1e3 * one.seconds / max(one.runs, 1)
        print(f"{name:<16}{one.runs:>8}{one.reused:>8}{each:>10.3f}{one.seconds:>10.2f}", file=text)
    stats = pstats.Stats(profiler, stream=text)
    stats.sort_stats("tottime").print_stats(PROFILE_LINES)
    stats.sort_stats("cumulative").print_stats(r"/(scenegen|validators|library)/", PROFILE_LINES)
    plain = text.getvalue()
    for folder in (sysconfig.get_paths()["purelib"], sys.base_prefix, str(ROOT)):
        plain = plain.replace(f"{folder}/", "")
    lines = plain.splitlines()
    file.write_text("\n".join(line.rstrip() for line in lines) + "\n", encoding="utf-8")


def measure(run: Run, *, long: bool) -> dict[str, Any]:
    """Measure one expansion."""
    count = run.long if long else run.short
    some = min(count, 400)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in CELLS.items():
            (folder / file).write_text(text, encoding="utf-8")
        seconds, report = command(run, count, folder)
        rate, simulated = steady(run, some, folder, None)
        steady(run, some, folder, HERE / f"profile_{'_'.join(run.axes)}_{Path(run.cell).stem}.txt")
    rejected = sum(report["rejected"].values())
    return {
        "expansion": run.name,
        "n": report["kept"],
        "scenes/s": report["kept"] / seconds,
        "steady, one process": rate,
        "passed": f"{report['kept'] / max(report['kept'] + rejected, 1):.0%}",
        "simulated": f"{simulated:.0%}",
    }


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="full sizes, as published")
    parser.add_argument("--only", default="", help="only runs whose name begins so")
    options = parser.parse_args()
    load = load_average()
    chosen = [run for run in RUNS if run.name.startswith(options.only)]
    rows: Rows = [measure(run, long=options.long) for run in chosen]
    notes = (*NOTES, f"{os.cpu_count()} worker processes. Profiles: `profile_*.txt`.")
    write_result(HERE, rows, title="Whole expansions", notes=notes, load_before=load)


if __name__ == "__main__":
    main()
