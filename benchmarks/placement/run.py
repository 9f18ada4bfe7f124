"""Placement: scenegen's sequential and exact modes against Scenic's whole-scene rejection, and thirty real parts."""

import argparse
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import chi2, ks_2samp

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from harness import Rows, ask_peer, best_of, load_average, write_result  # noqa: E402
from scenes import box_cell, generator, thirty_part_cell  # noqa: E402

from scenegen.base import sample_base  # noqa: E402
from scenegen.cell import Cell  # noqa: E402
from scenegen.parts.catalogue import Catalogue  # noqa: E402
from scenegen.place import PlaceOptions, place  # noqa: E402
from validators.check import CheckContext  # noqa: E402
from validators.plan import all_checks  # noqa: E402
from validators.run import Checker  # noqa: E402

SIDE_M = 1.06
"""Feed for the boxes [m]: their centres have at most the square metre of Scenic's, and less where boxes are turned."""
MODES = ("2D", "3D")
FEW = 50
"""Rates from fewer scenes get an interval."""
NOTES = (
    "(a) Whole-scene rejection draws uniformly under the condition that nothing overlaps; sequential"
    " insertion does not. Mode `uniform` does (Gibbs sweeps after insertion), and the last row compares its distances"
    " between boxes with those of Scenic.",
    "(b) Sceniris, the fastest published peer, checks meshes and relations on a GPU; it is not measured here.",
    "(c) Scenic also evaluates requirements and visibility and offers meshes; here it has boxes alone.",
    "`2D`, `3D`: Scenic's two modes, each with a budget of time for each number of boxes (90 s with `--long`, else"
    " 10 s). `scenes`: how many it finished, after one that is not counted; a rate from few scenes is rough, since the"
    " number of tries is geometric, and a ratio to it is no figure to quote.",
    "scenegen's rows include building the records of all items. `place` proves its clearance by exact footprints.",
    "`base + checks`: a whole base scene is sampled and passes every check but the USD one.",
)


def place_boxes(cell: Cell, parts: Catalogue, options: PlaceOptions, scenes: int) -> list[np.ndarray]:
    """Place all boxes of the cell again and again; return their centres [m], shape [n, 2] each."""
    slots, rng = list(cell.slots), generator(0)
    found = []
    for _ in range(scenes):
        items = place(cell, parts, slots=slots, zone="feed", rng=rng, options=options)
        found.append(np.array([item.pose_to_world.position_m[:2] for item in items]))
    return found


def distances(scenes: list[np.ndarray]) -> np.ndarray:
    """One distance between two boxes a scene, so that all are independent [m]."""
    return np.array([np.linalg.norm(scene[0] - scene[1]) for scene in scenes])


def box_rows(counts: list[int], scenes: int, budget_s: float) -> Rows:
    """Compare rates for each number of boxes."""
    rows: Rows = []
    for count in counts:
        cell, parts = box_cell(count, SIDE_M)
        row: dict[str, Any] = {"scene": f"{count} boxes"}
        for mode in MODES:
            peer = ask_peer(HERE / "scenic_boxes.py", mode, count, scenes, budget_s, "free")
            row[f"Scenic {mode} scenes/s"] = peer["scenes_per_s"] if peer["centers"] else f"none in {budget_s:g} s"
            row[f"its {mode} scenes, tries each"] = f"{len(peer['centers'])}, {peer['tries']:,.1f}"
        for mode in ("sequential", "uniform"):
            options = PlaceOptions(clearance_m=0.0, wall_clearance_m=0.0, mode=mode, attempts=2000)
            number = scenes if mode == "sequential" else max(scenes // 10, 5)
            seconds = best_of(partial(place_boxes, cell, parts, options, number))
            row[f"{mode} scenes/s"] = number / seconds
        peer_rate = row["Scenic 2D scenes/s"]
        ours = row["sequential scenes/s"]
        row["sequential / Scenic 2D"] = ours / peer_rate if isinstance(peer_rate, float) else ""
        rows.append(row)
    return rows


def rough_rates(rows: Rows) -> list[str]:
    """Say how uncertain Scenic's rates are where it finished few scenes: exact interval of a Poisson count."""
    notes = []
    for row, mode in ((row, mode) for row in rows for mode in MODES):
        rate, scenes = row[f"Scenic {mode} scenes/s"], int(row[f"its {mode} scenes, tries each"].split(",")[0])
        if scenes < FEW and isinstance(rate, float):
            seconds = scenes / rate
            low, high = chi2.ppf(0.025, 2 * scenes) / 2 / seconds, chi2.ppf(0.975, 2 * scenes + 2) / 2 / seconds
            notes.append(
                f"{row['scene']}, Scenic {mode}: {scenes} scenes in {seconds:.0f} s; 95 % interval of the rate"
                f" {low:.2g} to {high:.2g} scenes/s."
            )
    return notes


def real_rows(scenes: int) -> Rows:
    """Rates for thirty real parts in the tray, as records and with all checks."""
    cell, parts = thirty_part_cell()
    checker = Checker(CheckContext.of(cell, parts), all_checks())

    def bases() -> list:
        rng = generator(1)
        return [sample_base(cell, parts, rng=rng) for _ in range(scenes)]

    sampled = bases()
    start = time.perf_counter()
    valid = sum(checker.check(scenario).ok for scenario in sampled)
    checking = time.perf_counter() - start
    sampling = best_of(bases)
    blank = {f"Scenic {mode} scenes/s": "" for mode in MODES}
    blank |= {f"its {mode} scenes, tries each": "" for mode in MODES}
    blank |= {"uniform scenes/s": "", "sequential / Scenic 2D": ""}
    rate = "sequential scenes/s"
    return [
        {"scene": "30 fasteners in the tray, base", **blank, rate: scenes / sampling},
        {"scene": f"the same, base + checks ({valid} of {scenes} valid)", **blank, rate: valid / (sampling + checking)},
    ]


def agreement(scenes: int) -> str:
    """Compare one pair distance a scene, uniform mode against Scenic, 10 boxes inside the same square."""
    cell, parts = box_cell(10, SIDE_M)
    options = PlaceOptions(clearance_m=0.0, wall_clearance_m=0.0, mode="uniform", attempts=2000)
    ours = distances(place_boxes(cell, parts, options, scenes))
    peer = ask_peer(HERE / "scenic_boxes.py", "2D", 10, scenes, 300, "inside", SIDE_M)
    theirs = distances([np.array(scene) for scene in peer["centers"]])
    test = ks_2samp(ours, theirs)
    return (
        f"Distances between two of 10 boxes, mode `uniform` against Scenic, {len(ours)} and {len(theirs)} independent"
        f" scenes: Kolmogorov-Smirnov D = {test.statistic:.3f}, p = {test.pvalue:.2f}."
    )


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="full sizes, as published")
    options = parser.parse_args()
    load = load_average()
    counts = [5, 10, 15, 20, 25, 30] if options.long else [10, 20]
    rows = box_rows(counts, 200, budget_s=90 if options.long else 10)
    rough = rough_rates(rows)
    rows += real_rows(300 if options.long else 60)
    notes = (*NOTES, *rough, agreement(1500 if options.long else 200))
    write_result(HERE, rows, title="Placement against Scenic 3.1.1", notes=notes, load_before=load)


if __name__ == "__main__":
    main()
