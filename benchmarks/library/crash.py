"""Kill writers of a library, over and over, and count what was lost and what was torn; both have to be 0.

`--kills` kills at random times (a library is killed ten times before it is finished), and a kill at every `--every`-th
call that changes a file. After each kill, every file, row and layer of every version is proved.
"""

import argparse
import datetime
import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT), str(ROOT / "tests/library/crash")]

from crash_faults import Crashes, Kills, Undisturbed, build_shim, killed_at, killed_at_random  # noqa: E402
from harness import load_average, machine, table  # noqa: E402

AT_ONCE = 10
"""Kills of one library before it is finished."""


def at_random(crashes: Crashes, undisturbed: Undisturbed, total: Kills, kills: int) -> None:
    """Kill at random times and calls."""
    rng = np.random.default_rng(0)
    while total.kills < kills:
        result = killed_at_random(crashes, undisturbed, rng=rng, kills=min(AT_ONCE, kills - total.kills))
        total.kills += result.kills
        total.count(result.problems)
        _tell("at random", total, kills)


def at_calls(crashes: Crashes, undisturbed: Undisturbed, total: Kills, every: int) -> None:
    """Kill at calls that change a file."""
    calls = range(1, undisturbed.calls + 1, every)
    for at in calls:
        total.count([one.split(": ", 1)[1] for one in killed_at(crashes, undisturbed, at)])
        total.kills += 1
        _tell("at calls", total, len(calls))


def _tell(name: str, total: Kills, wanted: int) -> None:
    print(f"{name}: {total.kills} of {wanted} kills, {total.lost} lost, {total.torn} torn", file=sys.stderr)


def main() -> int:
    """Kill, count, and write `crash.md`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="kills at random times")
    parser.add_argument("--every", type=int, default=1, help="1 kills at every call, 10 at every tenth")
    parser.add_argument("--folder", help="where the libraries are written; the system's temporary folder by default")
    options = parser.parse_args()
    before, begin = load_average(), time.monotonic()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        with Crashes(folder, build_shim(folder)) as crashes:
            undisturbed = Undisturbed(crashes)
            results = {"at random": Kills(), "at a call": Kills()}
            with suppress(KeyboardInterrupt):  # what was counted until then is written
                at_random(crashes, undisturbed, results["at random"], options.kills)
                at_calls(crashes, undisturbed, results["at a call"], options.every)
    rows = [
        {"kill -9": name, "kills": one.kills, "lost rows": one.lost, "torn versions": one.torn}
        for name, one in results.items()
    ]
    about = machine()
    lines = [
        "# Kills of a writer",
        "",
        f"{datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d %H:%M UTC}, `python benchmarks/library/crash.py"
        f" {' '.join(sys.argv[1:])}`, {about['cores']} cores ({about['processor']}), Python {about['python']},"
        f" load average {before:.2f} before and {os.getloadavg()[0]:.2f} after,"
        f" {(time.monotonic() - begin) / 60:.0f} minutes.",
        "",
        *table(rows),
        "",
        "- The writer goes the way of `expand`: journal, layers, three commits, a tag, a branch; its rows are made up.",
        f"- An undisturbed writer makes {undisturbed.calls} calls that change a file; at random each library is"
        f" killed up to {AT_ONCE} times, each run going on where the last one was killed: one in four after a random"
        " time, the others at a random call.",
        "- After each kill every version is proved whole: commits, all files by SHA-256, all rows by their hashes and"
        " the fingerprint, all layers. `lost rows` were durable before a kill and gone after it; `torn versions` counts"
        " everything else, among it runs that could not go on and ends that differ from an undisturbed run's.",
        "",
    ]
    text = "\n".join(lines)
    (HERE / "crash.md").write_text(text, encoding="utf-8")
    print(text)
    for one in [problem for result in results.values() for problem in result.problems][:20]:
        print(one, file=sys.stderr)
    return int(any(result.problems for result in results.values()))


if __name__ == "__main__":
    sys.exit(main())
