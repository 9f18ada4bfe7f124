"""Collect real scenes for `gpu.py` into one file, so that the machine with the GPU needs no ray caster and no USD.

Eight base scenes of the `fasteners` cell, at 128 x 128 pixels: what the overhead camera sees of five and the wrist
camera of three, their surfaces and lights, poses of parts and bins, and the parts' micropolygons.
"""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scenegen.base import sample_base
from scenegen.cell import Cell
from scenegen.cells.loader import load_cell
from scenegen.imaging.ambient import open_shares
from scenegen.imaging.caster import GBufferCaster
from scenegen.imaging.exposure import nominal_gain
from scenegen.imaging.micropolygons import fixture_trays, micropolygons
from scenegen.imaging.render import enlarged
from scenegen.imaging.scene_lights import scene_lights
from scenegen.imaging.scene_surfaces import scene_surfaces
from scenegen.imaging.stacked import filled, renumbered, stacked
from scenegen.nominal import nominal_fixtures
from scenegen.parts.builtin import builtin_catalogue
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Cameras, Scenario
from scenegen.streams import stream

SIZE_PX = 128
CAMERAS = ("overhead",) * 5 + ("wrist",) * 3
PARKED_M = (0.0, 0.0, -5.0)
"""Where items are that are not there."""


def main() -> None:
    """Cast, collect, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the file that is written, some megabytes of .npz")
    out = parser.parse_args().out
    cell = load_cell("fasteners")
    parts = builtin_catalogue([item.part for item in cell.inventory])
    arrays = collected(cell, parts)
    np.savez_compressed(out, **arrays)
    print(f"{out.name}: {out.stat().st_size / 1e6:.1f} MB, {len(CAMERAS)} scenes", file=sys.stderr)


def collected(cell: Cell, parts: Catalogue) -> dict[str, Any]:
    """Return all arrays by name; names of fields joined by dots."""
    scenes = [scaled(sample_base(cell, parts, rng=stream("benchmark", "gpu", i))) for i in range(len(CAMERAS))]
    names = (*cell.slots, *(fixture.name for fixture in nominal_fixtures(cell)), "table")
    caster = GBufferCaster.of(cell, parts)
    seen = [caster.cast(scene, camera) for scene, camera in zip(scenes, CAMERAS, strict=True)]
    gbuffer = stacked([renumbered(one, names) for one in seen])
    used = list(dict.fromkeys(item.part for item in cell.inventory))
    return {
        **flat("gbuffer", gbuffer),
        **flat("surfaces", stacked([scene_surfaces(scene, names) for scene in scenes])),
        **flat("lights", stacked(filled([scene_lights(scene) for scene in scenes]))),
        **flat("polygons", micropolygons(parts, used)),
        **flat("trays", fixture_trays(cell)),
        **placements(cell, scenes),
        "open_share": np.concatenate([open_shares(one, xp=np) for one in seen]),
        "bodies": np.array([used.index(item.part) for item in cell.slots.values()]),
        "nominal_gain": np.array(nominal_gain(cell)),
    }


def scaled(scene: Scenario) -> Scenario:
    """Give a scene cameras of the same views with `SIZE_PX` pixels."""
    cameras = tuple(enlarged(camera, SIZE_PX / camera.width_px) for camera in scene.cameras.cameras)
    return scene.varied(cameras=Cameras(cameras=cameras))


def placements(cell: Cell, scenes: list[Scenario]) -> dict[str, Any]:
    """Return poses of slots and fixtures, and which slots are filled."""
    rows = [{item.name: item.pose_to_world for item in scene.layout.items} for scene in scenes]
    fixed = [[fixture.pose_to_world for fixture in scene.layout.fixtures] for scene in scenes]
    parked = (PARKED_M, (0.0, 0.0, 0.0, 1.0))
    poses = [[(row[s].position, row[s].quat) if s in row else parked for s in cell.slots] for row in rows]
    return {
        "present": np.array([[slot in row for slot in cell.slots] for row in rows]),
        "item_positions": np.array([[p for p, _ in row] for row in poses], np.float32),
        "item_quats": np.array([[q for _, q in row] for row in poses], np.float32),
        "fixture_positions": np.array([[pose.position for pose in row] for row in fixed], np.float32),
        "fixture_quats": np.array([[pose.quat for pose in row] for row in fixed], np.float32),
    }


def flat(name: str, value: Any) -> Mapping[str, Any]:
    """Return the arrays, numbers and words of a record by dotted names; what is None is left out."""
    if value is None:
        return {}
    if is_dataclass(value):
        pairs = {field.name: getattr(value, field.name) for field in fields(value)}
    elif hasattr(value, "_asdict"):
        pairs = value._asdict()
    elif isinstance(value, tuple) and any(isinstance(one, np.ndarray | tuple) or is_dataclass(one) for one in value):
        pairs = {str(index): one for index, one in enumerate(value)}
    else:
        return {name: np.asarray(value)}
    return {key: one for field, part in pairs.items() for key, one in flat(f"{name}.{field}", part).items()}


if __name__ == "__main__":
    main()
