"""Make the scenes that `gpu.py` settles, each with MuJoCo's own verdict, and write them into one file.

Fasteners, twelve and thirty a scene, in cells of 14 and 30 slots: touching (some with one stacked part moved aside) and
apart. Takes half an hour of one core at full size, since stacking searches.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from groups import axis_context, make
from scenes import NAMES, fastener_cell
from verdicts import Scene, accepted, write

from scenegen.axes.axis import AxisContext
from validators.settled import SETTLED

COUNTS = (12, 30)
SHARES = {"touching": 0.75, "shifted": 0.25}
"""Of the touching scenes, how many lie as the axis left them, and how many have a part moved aside."""


def main() -> None:
    """Make, settle, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the file that is written, some megabytes of .jsonl.gz")
    parser.add_argument("--touching", type=int, default=256, help="touching scenes of each cell")
    parser.add_argument("--apart", type=int, default=1024, help="scenes of each cell whose parts lie apart")
    arguments = parser.parse_args()
    cells = {NAMES[count]: fastener_cell(count) for count in COUNTS}
    wanted = {group: round(share * arguments.touching) for group, share in SHARES.items()} | {"apart": arguments.apart}
    scenes = [
        scene
        for name, (cell, parts) in cells.items()
        for group, number in wanted.items()
        for scene in settled(name, group, number, axis_context(cell, parts))
    ]
    write(arguments.out, cells, SETTLED.limits, scenes)
    print(f"{arguments.out.name}: {arguments.out.stat().st_size / 1e6:.1f} MB, {len(scenes)} scenes", file=sys.stderr)


def settled(name: str, group: str, number: int, context: AxisContext) -> Iterator[Scene]:
    """Make the scenes of one group and settle them."""
    start = time.perf_counter()
    for index in range(number):
        scenario = make(group, index, context, seed=1)
        result = context.settler.settle(scenario.layout, scenario.matter)
        drift = max(result.drift_m.values())
        yield Scene(name, group, scenario.layout, scenario.matter, accepted(result, SETTLED.limits), drift)
    print(f"{name} {group}: {number} in {time.perf_counter() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
