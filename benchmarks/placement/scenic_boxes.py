"""Boxes of 6 cm with free yaw in a square metre, by Scenic (runs in the peers' environment)."""

import json
import random  # noqa: TID251 - Scenic draws from the global generators
import sys
import time

import numpy as np
import scenic
from scenic.core.distributions import RejectionException

PROGRAM = """
workspace = Workspace(RectangularRegion(0@0, 0, {workspace}, {workspace}))
region = RectangularRegion(0@0, 0, {region}, {region})
class Box(Object):
    width: 0.06
    length: 0.06
    height: 0.06
    requireVisible: False
    position: new Point in region
    yaw: Range(0, 360) deg
ego = new Box
"""

TRIES = 100
"""Tries between two looks at the clock; all tries are alike, so that a break changes nothing."""


def main() -> None:
    """Generate scenes until enough or out of time; print rate, tries and centres as JSON."""
    mode, kind = sys.argv[1], sys.argv[5]
    count, wanted, budget_s = int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    # free: centres anywhere in the square metre; inside: whole boxes inside the given square.
    side = float(sys.argv[6]) if kind == "inside" else 1.0
    program = PROGRAM.format(region=side, workspace=side if kind == "inside" else 1.3) + "new Box\n" * (count - 1)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    scenario = scenic.scenarioFromString(program, mode2D=mode == "2D")
    scenario.generate(maxIterations=200_000)
    centers, tries, start = [], 0, time.perf_counter()
    while len(centers) < wanted and time.perf_counter() - start < budget_s:
        try:
            scene, iterations = scenario.generate(maxIterations=TRIES)
        except RejectionException:
            tries += TRIES
            continue
        tries += iterations
        centers.append([[box.position.x, box.position.y] for box in scene.objects])
    seconds = time.perf_counter() - start
    found = max(len(centers), 1)
    print(json.dumps({"scenes_per_s": len(centers) / seconds, "tries": tries / found, "centers": centers}))


if __name__ == "__main__":
    main()
