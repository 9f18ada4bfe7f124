"""Narrow phase: which of thirty parts overlap, and how deep, by scenegen, trimesh, python-fcl, coal and mujoco."""

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from exact import FARTHEST_M, ExactDistances, Pair  # noqa: E402
from harness import Rows, ask_peer, best_of, load_average, write_result  # noqa: E402
from scenes import fastener_bases, generator, thirty_part_cell  # noqa: E402

from scenegen.cell import Cell  # noqa: E402
from scenegen.geometry import Pose, quat_multiply, quat_yaw  # noqa: E402
from scenegen.parts.catalogue import Catalogue  # noqa: E402
from scenegen.physics.contacts import ContactFinder  # noqa: E402
from scenegen.physics.model import SceneModel  # noqa: E402
from scenegen.scenario import Layout  # noqa: E402

SHIFT_M = 0.0025
"""Standard deviation of the parts' displacement, chosen so that about a third of the scenes have an overlap."""
TOLERANCE_M = 1e-5
NOTES = (
    "The same scenes of 30 fasteners with the same colliders (convex pieces; a nut is a ring of them), moved at random"
    " so that some overlap. Rates include loading a scene's poses and exclude building the models.",
    "scenegen: `ContactFinder`, which is mujoco with the true pieces, walls and floor too, and the deepest contact of"
    " each pair. mujoco: the same model, `mj_kinematics` and `mj_collision` alone, contacts left as they are. trimesh:"
    " its CollisionManager, one python-fcl bounding-volume mesh a part, yes or no. coal, python-fcl: one convex shape a"
    " piece, contacts with depth, after a NumPy search for pieces whose boxes meet. Peers see no walls and no floor.",
    "Held to the least `mj_geomDistance` over the pieces of each two parts. Depth of a pair: that of its deepest two"
    " pieces. `scenes judged otherwise`: by the whole-scene verdict, any overlap or none. `pairs beyond"
    f" {TOLERANCE_M:g} m`: those whose depth is off by more, missed and invented pairs included; for yes or no, pairs"
    f" judged otherwise whose distance is more than that. `deepest error`: of all pairs; a pair that is invented"
    f" across more than {FARTHEST_M * 1e3:g} mm counts with that distance.",
)

Depths = dict[Pair, float]


def shaken(layout: Layout, rng: np.random.Generator) -> Layout:
    """Return the layout with every item displaced and turned a little in the plane."""
    items = []
    for item in layout.items:
        pose = item.pose_to_world
        offset = np.append(rng.normal(0, SHIFT_M, 2), 0.0)
        moved = Pose.of(pose.position + offset, quat_multiply(quat_yaw(rng.normal(0, 0.1)), pose.quat))
        items.append(item.model_copy(update={"pose_to_world": moved}))
    return layout.model_copy(update={"items": tuple(items)})


def overlaps(finder: ContactFinder, layouts: Sequence[Layout]) -> Depths:
    """Find all pairs of items that overlap, and how deep [m]."""
    found = {}
    for index, layout in enumerate(layouts):
        names = {item.name for item in layout.items}
        for contact in finder.contacts(layout):
            if contact.depth_m > 0 and contact.a in names:
                found[(index, *sorted((contact.a, contact.b)))] = contact.depth_m
    return found


def contacts_alone(cell: Cell, parts: Catalogue, layouts: Sequence[Layout]) -> tuple[float, Depths]:
    """Time mujoco's own collision [s], and find the same pairs from its contacts."""
    scene = SceneModel(cell, parts, sleep=False)
    model, data = scene.model, scene.data

    def collide(layout: Layout) -> None:
        scene.load(layout)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)

    seconds = best_of(lambda: [collide(layout) for layout in layouts])
    found: Depths = {}
    for index, layout in enumerate(layouts):
        collide(layout)
        for geoms, distance in zip(data.contact.geom.tolist(), data.contact.dist.tolist(), strict=True):
            first, second = sorted(scene.owners[model.geom_bodyid[geom]] for geom in geoms)
            if distance < 0 and first in scene.slots and second in scene.slots:
                key = (index, first, second)
                found[key] = max(found.get(key, 0.0), -distance)
    return seconds, found


def export(file: Path, parts: Catalogue, layouts: Sequence[Layout]) -> None:
    """Write colliders and poses for the peers."""
    arrays = {}
    for part in parts.values():
        for index, collider in enumerate(part.colliders):
            arrays[f"vertices/{part.id}/{index}"] = collider.vertices
            arrays[f"faces/{part.id}/{index}"] = collider.faces
        arrays[f"pieces/{part.id}"] = np.arange(len(part.colliders))
    items = layouts[0].items
    arrays["names"], arrays["parts"] = np.array([i.name for i in items]), np.array([i.part for i in items])
    transforms = np.tile(np.eye(4), (len(layouts), len(items), 1, 1))
    for row, layout in enumerate(layouts):
        for column, item in enumerate(layout.items):
            transforms[row, column, :3, :3] = item.pose_to_world.rotation
            transforms[row, column, :3, 3] = item.pose_to_world.position
    np.savez(file, **arrays, transforms=transforms)


def compared(pairs: Mapping[Pair, float | None], exact: Mapping[Pair, float]) -> dict[str, Any]:
    """Compare an engine's overlapping pairs with exact distances; a depth of None is a mere yes."""
    hit, true = {key[0] for key in pairs}, {key[0] for key, distance in exact.items() if distance < 0}
    errors = []
    for key in pairs.keys() | exact.keys():
        distance, depth = exact.get(key, FARTHEST_M), pairs.get(key, 0.0)
        if depth is None:
            errors.append(max(distance, 0.0))
        else:
            # Without a contact an engine says no more than that the depth is zero.
            errors.append(abs(depth + distance) if depth > 0 else max(-distance, 0.0))
    depths = None not in pairs.values()
    return {
        "overlapping pairs": len(pairs),
        "scenes judged otherwise": len(hit ^ true),
        f"pairs beyond {TOLERANCE_M:g} m": sum(error > TOLERANCE_M for error in errors),
        "deepest error [m]": max(errors, default=0.0) if depths else "no depths",
    }


def peers(parts: Catalogue, layouts: Sequence[Layout], exact: Mapping[Pair, float]) -> Rows:
    """Measure and compare everything that runs in the peers' environment."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenes.npz"
        export(file, parts, layouts)
        asked = [ask_peer(HERE / "fcl_scenes.py", file)]
        asked += [ask_peer(HERE / "convex_scenes.py", engine, file) for engine in ("fcl", "coal")]
    for answer in asked:
        found = {(row, *sorted((a, b))): depth[0] if depth else None for row, a, b, *depth in answer["pairs"]}
        rows.append({"engine": answer["engine"], "scenes/s": answer["scenes_per_s"], **compared(found, exact)})
    return rows


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="full sizes, as published")
    options = parser.parse_args()
    load = load_average()
    cell, parts = thirty_part_cell()
    count = 2000 if options.long else 200
    bases = fastener_bases(cell, parts, 20)
    rng = generator(0)
    layouts = [shaken(bases[index % len(bases)].layout, rng) for index in range(count)]
    distances = ExactDistances(cell, parts)
    exact = {key: value for row, layout in enumerate(layouts) for key, value in distances.near(row, layout).items()}
    finder = ContactFinder(cell, parts)
    ours = overlaps(finder, layouts)
    seconds = best_of(lambda: overlaps(finder, layouts))
    alone, bare = contacts_alone(cell, parts, layouts)
    engine = f"mujoco {mujoco.__version__} mj_collision"
    rows = [
        {"engine": "scenegen ContactFinder", "scenes/s": count / seconds, **compared(ours, exact)},
        {"engine": engine, "scenes/s": count / alone, **compared(bare, exact)},
        *peers(parts, layouts, exact),
    ]
    deep = [key for key, distance in exact.items() if distance < 0]
    hit = len({key[0] for key in deep}) / count
    touching = f"{count} scenes, {hit:.0%} with an overlap; {len(deep)} pairs overlap by `mj_geomDistance`."
    write_result(HERE, rows, title="Overlap of thirty parts", notes=(*NOTES, touching), load_before=load)


if __name__ == "__main__":
    main()
