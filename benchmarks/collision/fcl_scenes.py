"""Overlapping parts by trimesh's collision manager on python-fcl (runs in the peers' environment)."""

import json
import sys
import time
from importlib.metadata import version

import numpy as np
import trimesh
from trimesh.collision import CollisionManager

REPEATS = 3


def main() -> None:
    """Check all scenes some times over; print the best rate and the overlapping pairs as JSON."""
    data = np.load(sys.argv[1])
    manager = CollisionManager()
    names = data["names"].tolist()
    for name, part in zip(names, data["parts"].tolist(), strict=True):
        pieces = [
            trimesh.Trimesh(data[f"vertices/{part}/{piece}"], data[f"faces/{part}/{piece}"], process=False)
            for piece in data[f"pieces/{part}"].tolist()
        ]
        manager.add_object(name, trimesh.util.concatenate(pieces))
    seconds, pairs = [], []
    transforms = data["transforms"]
    for _ in range(REPEATS):
        pairs = []
        start = time.perf_counter()
        for row, scene in enumerate(transforms):
            for name, transform in zip(names, scene, strict=True):
                manager.set_transform(name, transform)
            _, found = manager.in_collision_internal(return_names=True)
            pairs += [(row, *pair) for pair in found]
        seconds.append(time.perf_counter() - start)
    engine = f"trimesh {version('trimesh')}, python-fcl {version('python-fcl')}"
    print(json.dumps({"engine": engine, "scenes_per_s": len(transforms) / min(seconds), "pairs": pairs}))


if __name__ == "__main__":
    main()
