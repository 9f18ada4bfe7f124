"""Placement: scenegen's sequential and exact modes against Scenic's whole-scene rejection, and thirty real parts."""

import argparse
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import ks_2samp

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
NOTES = (
    "(a) Whole-scene rejection draws uniformly under the condition that nothing overlaps; sequential"
    " insertion does not. Mode `uniform` does (Gibbs sweeps after insertion), and the last row compares its distances"
    " between boxes with those of Scenic.",
    "(b) Sceniris, the fastest published peer, checks meshes and relations on a GPU; it is not measured here.",
    "(c) Scenic also evaluates requirements and visibility and offers meshes; it is run in its 2D mode without them.",
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
    rows = []
    for count in counts:
        cell, parts = box_cell(count, SIDE_M)
        peer = ask_peer(HERE / "scenic_boxes.py", count, scenes, budget_s, "free")
        row = {"scene": f"{count} boxes", "Scenic 3.1.1 scenes/s": peer["scenes_per_s"], "its tries": peer["tries"]}
        for mode in ("sequential", "uniform"):
            options = PlaceOptions(clearance_m=0.0, wall_clearance_m=0.0, mode=mode, attempts=2000)
            number = scenes if mode == "sequential" else max(scenes // 10, 5)
            seconds = best_of(partial(place_boxes, cell, parts, options, number))
            row[f"{mode} scenes/s"] = number / seconds
        row["sequential / Scenic"] = row["sequential scenes/s"] / peer["scenes_per_s"]
        rows.append(row)
    return rows


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
    blank = {"Scenic 3.1.1 scenes/s": "", "its tries": "", "uniform scenes/s": "", "sequential / Scenic": ""}
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
    peer = ask_peer(HERE / "scenic_boxes.py", 10, scenes, 300, "inside", SIDE_M)
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
    rows = box_rows([10, 20, 30] if options.long else [10, 20], 200, budget_s=90 if options.long else 10)
    rows += real_rows(300 if options.long else 60)
    notes = (*NOTES, agreement(1500 if options.long else 200))
    write_result(HERE, rows, title="Placement against Scenic", notes=notes, load_before=load)


if __name__ == "__main__":
    main()
