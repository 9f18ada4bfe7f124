"""Threads from near, quick and path-traced: are they as bright, light by light?"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from glare import lit  # noqa: E402
from harness import Rows, load_average, write_result  # noqa: E402

from scenegen.base import sample_base  # noqa: E402
from scenegen.cell import Cell  # noqa: E402
from scenegen.cells.loader import load_cell  # noqa: E402
from scenegen.geometry import Pose, look_at, quat_multiply, quat_yaw  # noqa: E402
from scenegen.imaging.caster import GBufferCaster  # noqa: E402
from scenegen.imaging.lamps import LUMINANCE  # noqa: E402
from scenegen.imaging.path_tracer import PathTracer  # noqa: E402
from scenegen.imaging.photographer import Photographer  # noqa: E402
from scenegen.parts.builtin import builtin_catalogue  # noqa: E402
from scenegen.parts.catalogue import Catalogue  # noqa: E402
from scenegen.scenario import (  # noqa: E402
    Camera,
    Cameras,
    DomeLight,
    Item,
    Layout,
    Lights,
    Look,
    Scenario,
    Surface,
    Surfaces,
)
from scenegen.streams import stream  # noqa: E402

PARTS = ("hex_bolt_m8x20", "hex_bolt_m6x20")
ROUGHNESS = (0.2, 0.35)
YAWS_RAD = (0.0, 0.8, 1.57, 2.6)
VIEWS_M = ((-0.18, 0.0, 0.3), (0.0, 0.001, 0.35))
"""Where the camera stands, seen from the bolt: slanted and from above [m]."""
SPP = 64
OPEN = 0.9
"""Threads are what a bolt itself leaves open by less than this share."""
NOTES = (
    "Two bolts of steel (base colour 0.57) of two roughnesses, turned four ways on the tray, seen from above and"
    f" slanted, 96 px: 32 scenes a light. Truth: Mitsuba 3 `path`, {SPP} paths a pixel.",
    "`threads` is the sum of the threaded pixels' mean luminances over the true sum, `rest` that of the bolt's other"
    " pixels; `each` the mean error of a scene's threads. `pattern` is the correlation within threads, pixel by pixel.",
    "`lamp above` and `lamp from the side`: 12 cm, 0.6 m away, with a dim dome; `nominal`: the cell's own lights.",
)


def main() -> None:
    """Render, compare, write the result."""
    before = load_average()
    cell = load_cell("fasteners")
    parts = builtin_catalogue([item.part for item in cell.inventory])
    photographer, tracer, caster = Photographer(cell, parts), PathTracer(cell, parts), GBufferCaster.of(cell, parts)
    found: dict[str, list[tuple[float, ...]]] = {}
    for light, scenario in scenes(cell, parts):
        camera = scenario.cameras.cameras[0]
        gbuffer = caster.cast(scenario, camera.name)
        bolt, self_open = gbuffer.plane(gbuffer.instance)[0] == 0, gbuffer.plane(gbuffer.self_open)[0]
        quick = photographer.radiance(scenario, camera) @ LUMINANCE
        true = tracer.radiance(scenario, camera, spp=SPP) @ LUMINANCE
        threads, rest = bolt & (self_open < OPEN), bolt & (self_open >= OPEN)
        means = [float(image[mask].mean()) for mask in (threads, rest) for image in (quick, true)]
        found.setdefault(light, []).append((*means, float(np.corrcoef(quick[threads], true[threads])[0, 1])))
    found["all"] = [one for group in found.values() for one in group]
    rows: Rows = []
    for light, values in found.items():
        quick, true, quick_rest, true_rest, pattern = np.array(values).T
        row = {"threads": quick.sum() / true.sum(), "each": np.abs(quick / true - 1).mean()}
        row |= {"rest": quick_rest.sum() / true_rest.sum(), "pattern": pattern.mean()}
        rows.append({"light": light, **{name: float(value) for name, value in row.items()}})
    write_result(HERE, rows, title="Threads against path tracing", notes=NOTES, load_before=before, name="threads")


def scenes(cell: Cell, parts: Catalogue) -> Iterator[tuple[str, Scenario]]:
    """Yield close-ups of one bolt with the name of their light."""
    base = sample_base(cell, parts, rng=stream("benchmark", "glare"))
    gone = {item.name for item in base.layout.items}
    kept = [surface for surface in base.surfaces.surfaces if surface.subject not in gone]
    for part in PARTS:
        rest = parts[part].stable_poses[0]
        for roughness in ROUGHNESS:
            steel = Look(color=(0.56, 0.57, 0.58), metallic=1.0, roughness=roughness)
            for yaw in YAWS_RAD:
                lying = Pose.of((0.0, 0.0, rest.height_m), quat_multiply(quat_yaw(yaw), rest.quat_xyzw))
                pose = cell.feed.pose_to_world.after(lying)
                item = Item(name=f"{part}_0", part=part, zone="feed", pose_to_world=pose)
                alone = base.varied(
                    layout=Layout(fixtures=base.layout.fixtures, items=(item,)),
                    surfaces=Surfaces(surfaces=(*kept, Surface(subject=item.name, look=steel))),
                )
                middle = pose.apply(parts[part].mesh.vertices).mean(axis=0)
                lights = {
                    "nominal": base.lights,
                    "lamp above": lit(middle, 0.1),
                    "lamp from the side": lit(middle, -0.6),
                    "dome": Lights(lights=(DomeLight(name="dome", luminance_nit=40),)),
                }
                for view in VIEWS_M:
                    seen = alone.varied(cameras=Cameras(cameras=(near(middle, middle + np.array(view)),)))
                    yield from ((name, seen.varied(lights=light)) for name, light in lights.items())


def near(middle: np.ndarray, eye: np.ndarray) -> Camera:
    """Look at a spot from near."""
    return Camera(
        name="close",
        pose_to_world=look_at(eye, middle),
        width_px=96,
        height_px=96,
        focal_px=(900.0, 900.0),
        principal_px=(48.0, 48.0),
        distortion=(0.0, 0.0, 0.0, 0.0, 0.0),
    )


if __name__ == "__main__":
    main()
