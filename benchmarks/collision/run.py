"""Narrow phase: which of thirty parts overlap, by scenegen's contact finder and by trimesh with python-fcl."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from harness import ask_peer, best_of, load_average, write_result  # noqa: E402
from scenes import generator, thirty_part_bases, thirty_part_cell  # noqa: E402

from scenegen.geometry import Pose, quat_multiply, quat_yaw  # noqa: E402
from scenegen.parts.catalogue import Catalogue  # noqa: E402
from scenegen.physics.contacts import ContactFinder  # noqa: E402
from scenegen.scenario import Layout  # noqa: E402

SHIFT_M = 0.003
"""Standard deviation of the parts' displacement, chosen so that about a third of the scenes have an overlap."""
TOLERANCE_M = 1e-5
NOTES = (
    "The same scenes of 30 fasteners with the same colliders (convex pieces; a nut is a ring of them), moved at random"
    " so that some overlap. scenegen: mujoco with the true pieces, walls and floor too, depths and all. Peer: trimesh's"
    " CollisionManager, one python-fcl bounding-volume mesh a part, parts against parts alone, yes or no.",
    "Both include loading a scene's poses; neither includes building the models.",
)

Pair = tuple[int, str, str]


def shaken(layout: Layout, rng: np.random.Generator) -> Layout:
    """Return the layout with every item displaced and turned a little in the plane."""
    items = []
    for item in layout.items:
        pose = item.pose_to_world
        offset = np.append(rng.normal(0, SHIFT_M, 2), 0.0)
        moved = Pose.of(pose.position + offset, quat_multiply(quat_yaw(rng.normal(0, 0.1)), pose.quat))
        items.append(item.model_copy(update={"pose_to_world": moved}))
    return layout.model_copy(update={"items": tuple(items)})


def overlaps(finder: ContactFinder, layouts: Sequence[Layout]) -> set[Pair]:
    """Find all pairs of items that overlap."""
    found = set()
    for index, layout in enumerate(layouts):
        names = {item.name for item in layout.items}
        for contact in finder.contacts(layout):
            if contact.depth_m > 0 and contact.a in names:
                found.add((index, *sorted((contact.a, contact.b))))
    return found


def gap_m(finder: ContactFinder, layout: Layout, pair: Pair) -> float:
    """Distance between two items [m], negative where they overlap; infinite above a millimetre."""
    for contact in finder.contacts(layout, margin_m=1e-3):
        if sorted((contact.a, contact.b)) == list(pair[1:]):
            return -contact.depth_m
    return float("inf")


def export(file: Path, parts: Catalogue, layouts: Sequence[Layout]) -> None:
    """Write colliders and poses for the peer."""
    arrays = {}
    for part in parts.values():
        counts = np.cumsum([0, *(len(c.vertices) for c in part.colliders[:-1])])
        arrays[f"vertices/{part.id}"] = part.collision_vertices
        faces = [c.faces + start for c, start in zip(part.colliders, counts, strict=True)]
        arrays[f"faces/{part.id}"] = np.concatenate(faces)
    items = layouts[0].items
    arrays["names"], arrays["parts"] = np.array([i.name for i in items]), np.array([i.part for i in items])
    transforms = np.tile(np.eye(4), (len(layouts), len(items), 1, 1))
    for row, layout in enumerate(layouts):
        for column, item in enumerate(layout.items):
            transforms[row, column, :3, :3] = item.pose_to_world.rotation
            transforms[row, column, :3, 3] = item.pose_to_world.position
    np.savez(file, **arrays, transforms=transforms)


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="full sizes, as published")
    options = parser.parse_args()
    load = load_average()
    cell, parts = thirty_part_cell()
    count = 2000 if options.long else 200
    bases = thirty_part_bases(cell, parts, 20)
    rng = generator(0)
    layouts = [shaken(bases[index % len(bases)].layout, rng) for index in range(count)]
    finder = ContactFinder(cell, parts)
    ours = overlaps(finder, layouts)
    seconds = best_of(lambda: overlaps(finder, layouts))
    with tempfile.TemporaryDirectory() as folder:
        export(Path(folder) / "scenes.npz", parts, layouts)
        peer = ask_peer(HERE / "fcl_scenes.py", Path(folder) / "scenes.npz")
    theirs = {(row, *sorted((a, b))) for row, a, b in peer["pairs"]}
    differing = sorted(ours ^ theirs)
    real = [pair for pair in differing if abs(gap_m(finder, layouts[pair[0]], pair)) > TOLERANCE_M]
    rate = count / seconds
    rows = [
        {"engine": "scenegen ContactFinder (mujoco)", "scenes/s": rate, "overlapping pairs": len(ours)},
        {"engine": peer["engine"], "scenes/s": peer["scenes_per_s"], "overlapping pairs": len(theirs)},
    ]
    hit = len({pair[0] for pair in ours}) / count
    notes = (
        *NOTES,
        f"{count} scenes, {hit:.0%} with an overlap. Pairs on which the two differ: {len(differing)};"
        f" of these, {len(real)} by more than {TOLERANCE_M * 1e3:g} mm.",
    )
    write_result(HERE, rows, title="Overlap of thirty parts", notes=notes, load_before=load)


if __name__ == "__main__":
    main()
