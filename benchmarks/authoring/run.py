"""Authoring: override layers as text against the same layers through Sdf and through the Usd schema API."""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdLux

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from harness import REPEATS, Rows, load_average, write_result  # noqa: E402
from scenes import generator, thirty_part_bases, thirty_part_cell  # noqa: E402

from scenegen.scenario import Lights, Scenario  # noqa: E402
from scenegen.usd.part_file import write_part  # noqa: E402
from scenegen.usd.sdf import author  # noqa: E402
from scenegen.usd.writer import SceneWriter  # noqa: E402

NOTES = (
    "`text`: scenegen's writer. `Sdf`: the same tree authored through Sdf (with a ChangeBlock) and exported."
    " `Usd`: a stage on the cell layer, values set through UsdLux and UsdGeom, exported; it writes fewer opinions.",
    "`ms` is one layer in memory, as text; `ms + file` creates the file too. Scenarios and their content ids are there"
    " beforehand, since a library needs them whatever writes the layer; every repeat begins with a new writer.",
    "The text layers equal the Sdf layers: parsed, they export to the same bytes (asserted on every tenth).",
    "30 poses: the layer of a layout with its thirty references, poses and labels. Lighting: a scene layer that dims"
    " and colours all lights over one layout.",
)

Write = Callable[[Scenario], str]


def dimmed(scenario: Scenario, rng: np.random.Generator) -> Scenario:
    """Return the scene under other light: every light weaker and of another colour."""
    lights = []
    for light in scenario.lights.lights:
        amount = "illuminance_lux" if light.kind == "distant" else "luminance_nit"
        data = {**light.model_dump(), amount: getattr(light, amount) * rng.uniform(0.2, 1.0)}
        lights.append(type(light).model_validate({**data, "temperature_k": rng.uniform(2700, 8000)}))
    return scenario.varied(lights=Lights(lights=tuple(lights)))


class SchemaWriter:
    """Writes the layers through Usd's schema API, on a stage that sees the cell layer."""

    def __init__(self, base: Sdf.Layer, assets: Path) -> None:
        self._base, self._assets = base, assets

    def lighting(self, scenario: Scenario) -> str:
        """Override the lights."""
        layer, stage = self._open()
        for light in scenario.lights.lights:
            prim = UsdLux.LightAPI(stage.GetPrimAtPath(f"/World/Lights/{light.name}"))
            amount = light.illuminance_lux if light.kind == "distant" else light.luminance_nit
            prim.GetIntensityAttr().Set(amount)
            prim.GetColorTemperatureAttr().Set(light.temperature_k)
        return layer.ExportToString()

    def poses(self, scenario: Scenario) -> str:
        """Define all items with reference and pose."""
        layer, stage = self._open()
        for item in scenario.layout.items:
            x, y, z, w = item.pose_to_world.quat_xyzw
            xform = UsdGeom.Xform.Define(stage, f"/World/Items/{item.name}")
            xform.GetPrim().GetReferences().AddReference(str(self._assets / f"{item.part}.usdc"))
            xform.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(*item.pose_to_world.position_m))
            xform.AddOrientOp(UsdGeom.XformOp.PrecisionFloat).Set(Gf.Quatf(w, x, y, z))
            xform.GetPrim().CreateAttribute("scenegen:zone", Sdf.ValueTypeNames.Token).Set(item.zone)
        return layer.ExportToString()

    def _open(self) -> tuple[Sdf.Layer, Usd.Stage]:
        layer = Sdf.Layer.CreateAnonymous(".usda")
        layer.subLayerPaths = [self._base.identifier]
        return layer, Usd.Stage.Open(layer)


def require_equal(text: str, layer: Sdf.Layer) -> None:
    """Fail unless a text layer, parsed, is the layer that Sdf authored."""
    parsed = Sdf.Layer.CreateAnonymous(".usda")
    assert parsed.ImportFromString(text), "the text is no layer"
    assert parsed.ExportToString() == layer.ExportToString(), "text and Sdf differ"


def time_ms(begin: Callable[[], Write], scenarios: Sequence[Scenario], folder: Path | None) -> float:
    """Least time a layer [ms] of some repeats, each with a new writer; with a folder, files are created in it."""
    seconds = []
    for _ in range(REPEATS):
        write = begin()
        write(scenarios[0])
        start = time.perf_counter()
        for index, scenario in enumerate(scenarios[1:]):
            text = write(scenario)
            if folder is not None:
                (folder / f"{index}.usda").write_bytes(text.encode())
        seconds.append(time.perf_counter() - start)
        for file in folder.glob("*.usda") if folder else ():
            file.unlink()
    return 1e3 * min(seconds) / (len(scenarios) - 1)


def measure(name: str, ways: dict[str, Callable[[], Write]], scenarios: Sequence[Scenario], folder: Path) -> Rows:
    """Time each way of writing, in memory and to files."""
    rows = []
    for way, begin in ways.items():
        memory, files = time_ms(begin, scenarios, None), time_ms(begin, scenarios, folder)
        size = len(begin()(scenarios[0]).encode())
        figures = {"ms": memory, "ms + file": files, "files/s": 1e3 / files, "bytes": size}
        rows.append({"layer": name, "way": way, **figures})
    return rows


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="full sizes, as published")
    options = parser.parse_args()
    load = load_average()
    cell, parts = thirty_part_cell()
    count = 2000 if options.long else 200
    bases = thirty_part_bases(cell, parts, max(count // 10, 20))
    lit = [dimmed(bases[0], generator(index)) for index in range(count)]
    assert len({scenario.id for scenario in (*bases, *lit)}) == len(bases) + len(lit)

    def writer() -> SceneWriter:
        return SceneWriter(cell, parts)

    base = Sdf.Layer.CreateAnonymous(".usda")
    assert base.ImportFromString(writer().cell_layer()), "the cell layer is no layer"
    for scenario in lit[::10]:
        require_equal(writer().scene_layer(scenario), author(writer().scene_tree(scenario)))
    for scenario in bases[::10]:
        require_equal(writer().layout_layer(scenario), author(writer().layout_tree(scenario)))

    def through_sdf(tree: Callable) -> Write:
        return lambda scenario: author(tree(scenario)).ExportToString()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in parts.values():
            write_part(part, folder / f"{part.id}.usdc")
        schema = SchemaWriter(base, folder)
        lighting = {
            "text": lambda: writer().scene_layer,
            "Sdf": lambda: through_sdf(writer().scene_tree),
            "Usd": lambda: schema.lighting,
        }
        poses = {
            "text": lambda: writer().layout_layer,
            "Sdf": lambda: through_sdf(writer().layout_tree),
            "Usd": lambda: schema.poses,
        }
        rows = measure("lighting", lighting, lit, folder) + measure("30 poses", poses, bases, folder)
    write_result(HERE, rows, title="Authoring of USD layers", notes=NOTES, load_before=load)


if __name__ == "__main__":
    main()
