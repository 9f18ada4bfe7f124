"""Authoring: layers as text against the same layers through Sdf and through Usd, as .usda and .usdc, disk and tmpfs."""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from compare import EVERY, Contents, compared, contents, same_bytes  # noqa: E402
from harness import REPEATS, Rows, load_average, write_result  # noqa: E402
from scenes import LIMIT, fastener_bases, fastener_cell, generator  # noqa: E402
from usd_api import author_on_stage  # noqa: E402

from scenegen.cell import Cell  # noqa: E402
from scenegen.parts.catalogue import Catalogue  # noqa: E402
from scenegen.scenario import Facet, Lights, Scenario  # noqa: E402
from scenegen.usd.files import asset_path, cell_path, layout_path, scene_path  # noqa: E402
from scenegen.usd.part_file import write_part  # noqa: E402
from scenegen.usd.prim import LayerTree  # noqa: E402
from scenegen.usd.sdf import author  # noqa: E402
from scenegen.usd.writer import SceneWriter  # noqa: E402

TMPFS = Path("/dev/shm")
NOTES = (
    "`text`: scenegen's writer, which writes .usda alone. `Sdf`: the same tree authored through Sdf (with a"
    " ChangeBlock) and exported. `Usd`: the same tree through a stage, `DefinePrim`, `CreateAttribute` and the like;"
    " sub-layers are added last, so that the stage need not compose them, but it does resolve references to parts.",
    "`ms` is one layer in memory, as text (a crate has no text). `ms disk` and `ms tmpfs` create the file too, in"
    " folders that exist; the disk is not flushed. All are processor time of the process (user and system), which other"
    " work on the machine disturbs less than wall time. Scenarios and their content ids are there beforehand, since a"
    " library needs them whatever writes the layer; every repeat begins with a new writer.",
    "Every file of the last repeat was opened. `layers equal`: its own content, exported as text, is that of the text"
    " writer's file. `flattened equal`: its stage, flattened with all that it refers to, is that of the text writer's"
    f" file (every {EVERY}th file, with the meshes of its parts).",
    "Poses: the layer of a layout with its references, poses and labels. Lighting: a scene layer that dims and colours"
    " all lights over one layout.",
    LIMIT,
)


class Way(NamedTuple):
    """A method and a file format."""

    method: str
    extension: str


WAYS = (Way("text", "usda"), Way("Sdf", "usda"), Way("Sdf", "usdc"), Way("Usd", "usda"), Way("Usd", "usdc"))


class Kind(NamedTuple):
    """A kind of layer: how it is called, laid out, written as text, and where it stands."""

    name: str
    tree: Callable[[SceneWriter, Scenario], LayerTree]
    text: Callable[[SceneWriter, Scenario], str]
    path: Callable[[Scenario], str]


LIGHTING = Kind("lighting", SceneWriter.scene_tree, SceneWriter.scene_layer, lambda scenario: scene_path(scenario.id))
POSES = Kind(
    "poses", SceneWriter.layout_tree, SceneWriter.layout_layer, lambda scenario: layout_path(scenario.key(Facet.LAYOUT))
)


def dimmed(scenario: Scenario, rng: np.random.Generator) -> Scenario:
    """Return the scene under other light: every light weaker and of another colour."""
    lights = []
    for light in scenario.lights.lights:
        amount = "illuminance_lux" if light.kind == "distant" else "luminance_nit"
        data = {**light.model_dump(), amount: getattr(light, amount) * rng.uniform(0.2, 1.0)}
        lights.append(type(light).model_validate({**data, "temperature_k": rng.uniform(2700, 8000)}))
    return scenario.varied(lights=Lights(lights=tuple(lights)))


def write_layer(way: Way, kind: Kind, writer: SceneWriter, scenario: Scenario, file: Path, *, save: bool) -> str:
    """Write one layer by one way, to its file or, as text, into memory."""
    if way.method == "text":
        text = kind.text(writer, scenario)
        if save:
            file.write_bytes(text.encode())
        return text
    tree = kind.tree(writer, scenario)
    layer = author(tree, extension=way.extension) if way.method == "Sdf" else author_on_stage(tree, file)
    if not save:
        return layer.ExportToString()
    if way.method == "Sdf":
        layer.Export(str(file))
    else:
        layer.Save()
    return ""


class Library(NamedTuple):
    """A cell's folder tree for each file system: what every layer refers to is there."""

    cell: Cell
    parts: Catalogue
    roots: dict[str, Path]

    @classmethod
    def create(cls, cell: Cell, parts: Catalogue, base: Scenario, folders: dict[str, Path]) -> "Library":
        """Write cell, parts and one base layout into a root for each way and file system."""
        writer = SceneWriter(cell, parts)
        roots = {f"{way.method}.{way.extension} {name}": folder for way in WAYS for name, folder in folders.items()}
        for key, folder in roots.items():
            root = roots[key] = folder / f"{cell.name}_{key.split()[0]}"
            files = {cell_path(cell.content_id): writer.cell_layer(), POSES.path(base): writer.layout_layer(base)}
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            for part in parts.values():
                (root / asset_path(part)).parent.mkdir(exist_ok=True)
                write_part(part, root / asset_path(part))
        return cls(cell, parts, roots)

    def root(self, way: Way, system: str) -> Path:
        """Return the root of a way on a file system."""
        return self.roots[f"{way.method}.{way.extension} {system}"]

    def files(self, way: Way, system: str, kind: Kind, scenarios: Sequence[Scenario]) -> list[Path]:
        """Return the files of scenarios, in folders that exist."""
        root = self.root(way, system)
        found = [(root / kind.path(scenario)).with_suffix(f".{way.extension}") for scenario in scenarios]
        for file in found:
            file.parent.mkdir(parents=True, exist_ok=True)
        return found

    def time_ms(self, way: Way, kind: Kind, scenarios: Sequence[Scenario], *, system: str, save: bool) -> float:
        """Least processor time a layer [ms] of some repeats, each with a new writer; the last files stay."""
        seconds = []
        files = self.files(way, system, kind, scenarios)
        for _ in range(REPEATS):
            for file in files if save else ():
                file.unlink(missing_ok=True)
            writer = SceneWriter(self.cell, self.parts)
            write_layer(way, kind, writer, scenarios[0], files[0], save=save)
            start = time.process_time()
            for scenario, file in zip(scenarios[1:], files[1:], strict=True):
                write_layer(way, kind, writer, scenario, file, save=save)
            seconds.append(time.process_time() - start)
        return 1e3 * min(seconds) / (len(scenarios) - 1)

    def rows(self, kind: Kind, scenarios: Sequence[Scenario]) -> tuple[Rows, int]:
        """Measure each way on one kind of layer, and count files whose bytes differ between the file systems."""
        rows: Rows = []
        differing = 0
        expected: Contents | None = None
        for way in WAYS:
            disk = self.time_ms(way, kind, scenarios, system="disk", save=True)
            tmpfs = self.time_ms(way, kind, scenarios, system="tmpfs", save=True)
            row: dict[str, Any] = {"layer": kind.name, "parts": len(scenarios[0].layout.items), "way": way.method}
            row |= {"format": way.extension, "ms": "", "ms disk": disk, "ms tmpfs": tmpfs, "files / CPU s": 1e3 / tmpfs}
            found = self.files(way, "tmpfs", kind, scenarios)
            differing += not_the_same(found, self.files(way, "disk", kind, scenarios))
            said = contents(found)
            expected = expected or said
            row |= {"bytes": found[0].stat().st_size, **compared(said, expected)}
            if way.extension == "usda":
                row["ms"] = self.time_ms(way, kind, scenarios, system="tmpfs", save=False)
            rows.append(row)
        return rows, differing


def not_the_same(files: Sequence[Path], others: Sequence[Path]) -> int:
    """Count pairs of files with other bytes."""
    return sum(not same_bytes(file, other) for file, other in zip(files, others, strict=True))


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="full sizes, as published")
    options = parser.parse_args()
    load = load_average()
    count = 200 if options.long else 100
    rows: Rows = []
    differing = 0
    with ExitStack() as stack:
        places = {"disk": None, "tmpfs": TMPFS}
        temporary = {name: tempfile.TemporaryDirectory(dir=place) for name, place in places.items()}
        folders = {name: Path(stack.enter_context(folder)) for name, folder in temporary.items()}
        for parts in (10, 30):
            cell, catalogue = fastener_cell(parts)
            bases = fastener_bases(cell, catalogue, count // 5)
            lit = [dimmed(bases[0], generator(index)) for index in range(count)]
            assert len({scenario.id for scenario in (*bases, *lit)}) == len(bases) + len(lit)
            library = Library.create(cell, catalogue, bases[0], folders)
            for kind, scenarios in ((LIGHTING, lit), (POSES, bases)):
                measured, other = library.rows(kind, scenarios)
                rows, differing = rows + measured, differing + other
    numbers = f"{count} lighting layers and {count // 5} layers of poses for each number of parts and way."
    bytes_note = f"Files with other bytes on disk than on tmpfs: {differing}."
    write_result(HERE, rows, title="Authoring of USD layers", notes=(*NOTES, numbers, bytes_note), load_before=load)


if __name__ == "__main__":
    main()
