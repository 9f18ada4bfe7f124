"""How many scenes of touching parts does one process settle a second? Thirty fasteners, some stacked at level 3.

python benchmarks/settle/touching.py [SEED]: start it twice at once, with two seeds, for two processes.
"""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from scenes import thirty_part_text

from scenegen.axes.axis import AxisContext
from scenegen.axes.registry import AXES
from scenegen.base import sample_base
from scenegen.cells.loader import parse_cell
from scenegen.errors import PlacementFailed, VariationFailed
from scenegen.imaging.mask import MaskCaster
from scenegen.parts.builtin import builtin_catalogue
from scenegen.physics.contacts import ContactFinder
from scenegen.physics.settle import Settler
from scenegen.scenario import Scenario
from scenegen.streams import stream

SCENES, SECONDS, LEVEL, NEAR_M = 25, 8.0, 3, 5e-4


def stacked(context: AxisContext, seed: int) -> list[Scenario]:
    """Make scenes in which some parts lie on others."""
    scenes: list[Scenario] = []
    index = 0
    while len(scenes) < SCENES:
        index += 1
        rng = stream("touching", seed, index)
        try:
            base = sample_base(context.cell, context.parts, rng=rng)
            scenes.append(AXES["stacking"].vary(base, LEVEL, ctx=context, rng=rng))
        except (PlacementFailed, VariationFailed):
            continue
    return scenes


def main(seed: int) -> None:
    """Print the rate, and how many pairs of items touch in a scene."""
    cell = parse_cell(thirty_part_text(), what="thirty")
    parts = builtin_catalogue([item.part for item in cell.inventory])
    settler, finder, slots = Settler(cell, parts), ContactFinder(cell, parts), set(cell.slots)
    scenes = stacked(AxisContext(cell, parts, settler, MaskCaster(cell, parts).hidden_share), seed)
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
