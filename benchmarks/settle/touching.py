"""How many scenes of touching parts does one process settle a second? Thirty fasteners, some stacked at level 3.

python benchmarks/settle/touching.py [SEED]: start it twice at once, with two seeds, for two processes.
"""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from groups import axis_context, make
from scenes import fastener_cell

from scenegen.physics.contacts import ContactFinder
from scenegen.physics.settle import Settler

SCENES, SECONDS, NEAR_M = 25, 8.0, 5e-4


def main(seed: int) -> None:
    """Print the rate, and how many pairs of items touch in a scene."""
    cell, parts = fastener_cell(30)
    settler, finder, slots = Settler(cell, parts), ContactFinder(cell, parts), set(cell.slots)
    context = axis_context(cell, parts)
    scenes = [make("touching", index, context, seed=seed) for index in range(SCENES)]
    touching = [c for s in scenes for c in finder.contacts(s.layout, margin_m=NEAR_M) if {c.a, c.b} <= slots]
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        scene = scenes[count % SCENES]
        settler.settle(scene.layout, scene.matter)
        count += 1
    rate = count / (time.perf_counter() - start)
    print(f"{rate:.1f} settles/s, {len(touching) / SCENES:.1f} touching pairs a scene, load {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
