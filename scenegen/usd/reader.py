"""USD scenes back into scenarios: the composed prims are the truth, whoever wrote them."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

from pxr import Usd, UsdGeom

from scenegen.cell import Cell
from scenegen.errors import InvalidRecord, UnreadableStage
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Part
from scenegen.record import ID_LENGTH
from scenegen.scenario import Asset, Layout, Scenario
from scenegen.usd import read_facets as facets
from scenegen.usd.files import ASSETS, CELLS, asset_name, asset_path, cell_record_path
from scenegen.usd.part_file import read_part
from scenegen.usd.read_lights import read_lights
from scenegen.usd.stage import PrimView, open_stage
from scenegen.usd.strangers import refuse_strangers
from scenegen.usd.unchanged import refuse_changed_cell, refuse_changed_parts
from scenegen.usd.untrusted import refuse_unsafe

WORLD = "/World"


def read_scenario(path: Path, *, trusted: bool = False) -> Scenario:
    """Read a scene that scenegen wrote, whatever a person has moved about in it since.

    Args:
        path: The scene's root layer.
        trusted: True for files of one's own library whose hashes were checked; skips the rules for untrusted input.

    Raises:
        UnsafeStage: The file breaks a rule for untrusted input.
        UnreadableStage: The file, a prim or something that it names is missing or not as it must be.
    """
    stage, root = _open(path, trusted=trusted)
    cell, parts = _cell(stage, path, root), _parts(stage, path, root)
    world = _world(stage, path)
    scenario = _scenario(world, cell, parts)
    if not trusted:
        refuse_changed_cell(world, cell)
        refuse_changed_parts(world.child("Items"), lambda item: parts[facets.part_and_content(item)[0]])
    return scenario


def scenario_of(stage: Usd.Stage, path: Path) -> Scenario:
    """Read a scene whose stage is open already, as a trusted one; as `read_scenario`.

    Args:
        stage: The scene.
        path: The scene's root layer.
    """
    root = library_root(path)
    return _scenario(_world(stage, path), _cell(stage, path, root), _parts(stage, path, root))


def read_cell_and_parts(path: Path, *, trusted: bool = False) -> tuple[Cell, Catalogue]:
    """Read the cell of a scene and all parts of the cell's inventory.

    Parts that the scene holds come from the files that it references, the others from its library.

    Raises:
        UnsafeStage: The file breaks a rule for untrusted input.
        UnreadableStage: The file, the cell's specification or an asset is missing or not as it must be.
    """
    stage, root = _open(path, trusted=trusted)
    cell = _cell(stage, path, root)
    files = _part_files(stage, path, root)
    for part in (item.part for item in cell.inventory):
        if part not in files:
            files[part] = _library_asset(part, path, root)
            if not trusted:
                _refuse_unsafe_part(*_stamp(files[part]), str(root))
    return cell, Catalogue(_part(*_stamp(files[part])) for part in sorted(files))


def library_root(path: Path) -> Path:
    """Return the library that a scene stands in, at most two folders above its own; without one, its own folder."""
    own = path.absolute().parent
    near = (own, own.parent, own.parent.parent)
    return next((one for one in near if (one / CELLS).is_dir() and (one / ASSETS).is_dir()), own)


def _open(path: Path, *, trusted: bool) -> tuple[Usd.Stage, Path]:
    root = library_root(path)
    if not trusted:
        refuse_unsafe(path, root=root)
    return open_stage(path), root


def _world(stage: Usd.Stage, path: Path) -> PrimView:
    prim = stage.GetPrimAtPath(WORLD)
    if not prim or not prim.IsDefined():
        raise UnreadableStage(str(path), WORLD, "no such prim - accepted: scenes written by scenegen")
    up, metres = UsdGeom.GetStageUpAxis(stage), UsdGeom.GetStageMetersPerUnit(stage)
    if up != UsdGeom.Tokens.z or metres != 1.0:
        reason = f"upAxis {up}, metersPerUnit {metres:g} - accepted: upAxis Z, metersPerUnit 1"
        raise UnreadableStage(str(path), "/", reason)
    return PrimView(str(path), prim)


def _scenario(world: PrimView, cell: Cell, parts: dict[str, Part]) -> Scenario:
    fixtures = tuple(cell.containers)
    lights, casters = world.child("Lights"), world.find("ShadowCasters")
    items = world.child("Items")
    refuse_strangers(world, fixtures)
    cameras, sensor = facets.read_cameras(world.child("Cameras"))
    with items.building():
        layout = Layout.from_data(
            {
                "fixtures": facets.read_fixtures(world.child("Fixtures"), fixtures),
                "items": facets.read_items(items),
            }
        )
    return Scenario(
        cell_id=cell.content_id,
        assets=tuple(Asset(part=name, content=parts[name].content_id) for name in sorted(parts)),
        layout=layout,
        matter=facets.read_matter(items),
        motion=facets.read_motion(world.child("Motion")),
        surfaces=facets.read_surfaces(world, fixtures),
        lights=read_lights(lights, casters),
        cameras=cameras,
        sensor=sensor,
        task=facets.read_task(world.child("Task")),
    )


def _cell(stage: Usd.Stage, path: Path, root: Path) -> Cell:
    """Find the cell's specification beside the cell layer, or in the library by the id that the scene carries."""
    candidates = [
        Path(layer.realPath).with_suffix(".json")
        for layer in stage.GetUsedLayers()
        if layer.realPath and Path(layer.realPath).parent.name == CELLS
    ]
    facts = stage.GetRootLayer().customLayerData.get("scenegen", {})
    cell_id = facts.get("cellId") if hasattr(facts, "get") else None
    if isinstance(cell_id, str) and cell_id.isalnum():
        candidates.append(root / cell_record_path(cell_id))
    for file in candidates:
        if file.is_file():
            return _parse_cell(*_stamp(file))
    looked = ", ".join(str(file) for file in candidates) or "no cell layer and no cell id in customLayerData"
    raise UnreadableStage(str(path), "/", f"the cell's specification is missing (looked for: {looked})")


@lru_cache(maxsize=16)
def _parse_cell(file: str, _modified: int, _size: int) -> Cell:
    try:
        cell = Cell.from_json(Path(file).read_bytes(), what=file)
    except InvalidRecord as error:
        raise UnreadableStage(file, "/", "; ".join(error.sentences)) from error
    if cell.content_id != Path(file).stem:
        raise UnreadableStage(file, "/", f"holds the cell {cell.content_id} - accepted: the cell that its name says")
    return cell


def _part_files(stage: Usd.Stage, path: Path, root: Path) -> dict[str, Path]:
    """Find the asset file of each part: the one that is referenced, or the library's one if the stage was flattened."""
    real_paths = [layer.realPath for layer in stage.GetUsedLayers()]
    referenced = {os.path.basename(real_path): Path(real_path) for real_path in real_paths if real_path}
    files: dict[str, Path] = {}
    contents: dict[str, str] = {}
    for item in _world(stage, path).child("Items").children():
        part, content = facets.part_and_content(item)
        if contents.get(part) == content:
            continue
        name = asset_name(part, content)
        file = referenced.get(name, root / ASSETS / name)
        if not file.is_file():
            raise item.fail(f"the asset of part {part!r} is missing (looked for: {file})")
        if part in files:
            raise item.fail(f"references {file}, another item references {files[part]} - accepted: one asset a part")
        files[part], contents[part] = file, content
    return files


def _parts(stage: Usd.Stage, path: Path, root: Path) -> dict[str, Part]:
    return {name: _part(*_stamp(file)) for name, file in _part_files(stage, path, root).items()}


def _library_asset(part: str, path: Path, root: Path) -> Path:
    """Find a part that the scene itself does not hold; of several versions the first by name."""
    name = re.compile(rf"{part}_[0-9a-f]{{{ID_LENGTH}}}\.usdc")
    found = sorted(file for file in (root / ASSETS).glob(f"{part}_*.usdc") if name.fullmatch(file.name))
    if not found:
        raise UnreadableStage(
            str(path), f"{WORLD}/Cell", f"the asset of part {part!r} is missing (looked in: {root / ASSETS})"
        )
    return found[0]


def _stamp(file: Path) -> tuple[str, int, int]:
    """Name a file's present contents, so that what was read from it can be remembered."""
    stat = file.stat()
    return str(file), stat.st_mtime_ns, stat.st_size


@lru_cache(maxsize=256)
def _refuse_unsafe_part(file: str, _modified: int, _size: int, root: str) -> None:
    """Hold a part that the scene does not refer to against the rules for untrusted input, once."""
    refuse_unsafe(Path(file), root=Path(root))


@lru_cache(maxsize=256)
def _part(file: str, _modified: int, _size: int) -> Part:
    part = read_part(Path(file))
    if Path(file).name != Path(asset_path(part)).name:
        reason = f"holds {part.id} {part.content_id} - accepted: what the file's name says; import the part anew"
        raise UnreadableStage(file, f"/{part.id}", reason)
    return part
