"""Shadow maps that are drawn for many worlds at once against those that rays find for one: is as much light hidden?"""

import argparse
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
# Behind this folder, whose `run` is meant below.
sys.path.append(str(HERE.parent))

from harness import Rows, load_average, write_result  # noqa: E402
from run import scene  # noqa: E402

from scenegen.cell import Cell  # noqa: E402
from scenegen.cells.loader import load_cell  # noqa: E402
from scenegen.commands.recipe import Workshop  # noqa: E402
from scenegen.geometry import Pose  # noqa: E402
from scenegen.imaging.blockers import Placed, blockers_of, placed  # noqa: E402
from scenegen.imaging.caster import GBufferCaster  # noqa: E402
from scenegen.imaging.gbuffer import GBuffer  # noqa: E402
from scenegen.imaging.light_set import AreaLight  # noqa: E402
from scenegen.imaging.micropolygons import EDGE_M, fixture_trays, micropolygons  # noqa: E402
from scenegen.imaging.raster_map import raster_shadow_map  # noqa: E402
from scenegen.imaging.render import enlarged  # noqa: E402
from scenegen.imaging.scene_lights import scene_lights  # noqa: E402
from scenegen.imaging.shadow_map import SIZE_PX, ShadowMap, cast_shadow_map, lit_share  # noqa: E402
from scenegen.imaging.shadow_view import STRIDE_PX  # noqa: E402
from scenegen.imaging.view import Viewer  # noqa: E402
from scenegen.parts.builtin import builtin_catalogue  # noqa: E402
from scenegen.parts.catalogue import Catalogue  # noqa: E402
from scenegen.scenario import Cameras, Scenario  # noqa: E402

AXES = (
    None,
    ("pose", 3),
    ("tilt", 3),
    ("stacking", 4),
    ("occlusion", 3),
    ("misplacement", 3),
    ("glare", 3),
    ("camera", 4),
)
PIXELS, FINE_PX = 128, 768
NOTES = (
    f"Cell `fasteners`, one scene an axis and its base, overhead and wrist camera at {PIXELS} x {PIXELS}, every light"
    " that has an area. Share of the light that reaches each pixel (`lit_share`), looked up in both maps: how many of"
    " those that show something differ by more than 0.1, and by how much all do; `hidden`: mean share that is hidden.",
    f"`drawn`: `raster_shadow_map`, {SIZE_PX} px, triangles up to {1e3 * EDGE_M:g} mm, against `cast_shadow_map` of"
    f" the same size. `grain`: the cast map against a cast one of {FINE_PX} px: what a map of this size misses anyhow.",
    "Where the two are apart, the map was widened because its pixels would have been smaller than the triangles.",
)


def main() -> None:
    """Draw, cast, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="all axes, as published")
    axes = AXES if parser.parse_args().long else AXES[:3]
    before = load_average()
    cell = load_cell("fasteners")
    parts = builtin_catalogue([item.part for item in cell.inventory])
    workshop, viewer = Workshop.of(cell, parts), Viewer(cell, parts)
    caster, drawer = GBufferCaster(viewer, cell), Drawer(workshop.cell, parts)
    rows: Rows = []
    for setting in axes:
        found = scene(workshop, setting)
        if found is None:
            continue
        cameras = tuple(enlarged(camera, PIXELS / camera.width_px) for camera in found.cameras.cameras)
        scenario = found.varied(cameras=Cameras(cameras=cameras))
        compared = [
            compare(viewer, drawer, scenario, light, caster.cast(scenario, camera.name))
            for camera in cameras
            for light in scene_lights(scenario).areas
        ]
        name = "base" if setting is None else " ".join(map(str, setting))
        rows.append({"scene": name, "maps": len(compared), **mean(compared)})
    write_result(HERE, rows, title="Drawn shadow maps", notes=NOTES, load_before=before, name="shadow")


class Drawer:
    """Draws the maps of one cell's scenes, one at a time."""

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self._parts = list(dict.fromkeys(item.part for item in cell.inventory))
        self._polygons, self._trays = micropolygons(parts, self._parts), fixture_trays(cell)

    def draw(self, scenario: Scenario, light: AreaLight, gbuffer: GBuffer) -> ShadowMap:
        """Draw the map of one light."""
        items = scenario.layout.items
        bodies = np.array([self._parts.index(item.part) for item in items])
        present = np.ones((1, len(items)), bool)
        blockers = blockers_of(self._polygons, self._trays, bodies, present, like=gbuffer.depth, xp=np)
        fixtures = at([fixture.pose_to_world for fixture in scenario.layout.fixtures])
        there = at([item.pose_to_world for item in items])
        return raster_shadow_map(blockers, there, fixtures, light, gbuffer, xp=np)


def at(poses: list[Pose]) -> Placed:
    """Bring poses into arrays of one world."""
    positions = np.array([[pose.position for pose in poses]], np.float32)
    return placed(positions, np.array([[pose.quat for pose in poses]], np.float32))


def compare(viewer: Viewer, drawer: Drawer, scenario: Scenario, light: AreaLight, gbuffer: GBuffer) -> dict[str, float]:
    """Compare what reaches the pixels by a drawn map, a cast one and a fine one."""
    spots = np.stack([gbuffer.plane(one)[0, ::STRIDE_PX, ::STRIDE_PX] for one in gbuffer.position], axis=-1)
    receivers = spots[gbuffer.plane(gbuffer.instance)[0, ::STRIDE_PX, ::STRIDE_PX] >= 0].astype(float)
    maps = (
        drawer.draw(scenario, light, gbuffer),
        cast_shadow_map(viewer, scenario.layout, light, receivers, size_px=SIZE_PX),
        cast_shadow_map(viewer, scenario.layout, light, receivers, size_px=FINE_PX),
    )
    shown = gbuffer.instance[0] >= 0
    drawn, cast, fine = (lit_share(one, gbuffer.position, gbuffer.normal, xp=np)[0, shown] for one in maps)
    return {
        "hidden": float(1 - cast.mean()),
        "drawn: % of px beyond 0.1": 100 * float((np.abs(drawn - cast) > 0.1).mean()),
        "drawn: mean apart": float(np.abs(drawn - cast).mean()),
        "grain: % of px beyond 0.1": 100 * float((np.abs(cast - fine) > 0.1).mean()),
        "grain: mean apart": float(np.abs(cast - fine).mean()),
    }


def mean(rows: list[dict[str, float]]) -> dict[str, float]:
    """Average rows."""
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}


if __name__ == "__main__":
    main()
