"""Where a kept scene came from: its chain from cell to scene, and what makes it again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Literal

from library.call_files import calls_path
from library.kept_file import read_kept
from library.row import Row
from library.snapshot import Snapshot
from library.tables import SCENARIOS
from library.versioned import USD, VersionedLibrary
from scenegen.cell import Cell
from scenegen.cells.loader import BUILTIN, load_cell
from scenegen.errors import LibraryError
from scenegen.expand import Expansion
from scenegen.parts.catalogue import Catalogue
from scenegen.provenance import AxisSetting
from scenegen.record import Record
from scenegen.usd.files import ASSETS, asset_name, cell_record_path
from scenegen.usd.part_file import read_part
from scenegen.vlm.asking import Asking

Role = Literal["cell", "base", "parent", "scene"]


class Link(Record):
    """One step of a chain."""

    role: Role
    id: str
    """A scenario's id; the cell's content id for the cell."""
    kept: bool = True
    """False for what the library does not hold: an attempt that the checks rejected and that was mended."""
    hidden: bool = False
    """Dropped, in quarantine or rejected by a reviewer."""
    made_by: str = ""
    """Generator and version, and the proposal of a model if there was one."""
    axes: tuple[AxisSetting, ...] = ()
    """How it departs from the base, with severities in units."""


def chain_of(snapshot: Snapshot, row: Row) -> tuple[Link, ...]:
    """Return a scene's chain: its cell, its base, its parents from the oldest to the nearest, and itself.

    Args:
        snapshot: The version that holds it.
        row: The scene.
    """
    base_id, current = row.provenance.base_id, row
    links = [_link("base" if row.scenario_id == base_id else "scene", row, snapshot)]
    seen = {row.scenario_id}
    while base_id not in seen:
        parent_id = current.provenance.parent_id or base_id
        if parent_id in seen:  # no scene is its own ancestor: what is left is the base
            parent_id = base_id
        seen.add(parent_id)
        role: Role = "base" if parent_id == base_id else "parent"
        parent = _kept(snapshot, parent_id, base_id)
        links.append(_link(role, parent, snapshot) if parent else Link(role=role, id=parent_id, kept=False))
        current = parent or row.replaced(provenance=row.provenance.replaced(parent_id=base_id))
    return (Link(role="cell", id=row.cell_id), *reversed(links))


def _kept(snapshot: Snapshot, scenario_id: str, base_id: str) -> Row | None:
    """Return a scene's row; where several roads led to it, the one from this base."""
    roads = snapshot.roads(scenario_id)
    return next((road for road in roads if road.provenance.base_id == base_id), roads[0] if roads else None)


def _link(role: Role, row: Row, snapshot: Snapshot) -> Link:
    origin = row.provenance
    call = f", proposal {origin.vlm_call_id}" if origin.vlm_call_id else ""
    return Link(
        role=role,
        id=row.scenario_id,
        hidden=row.scenario_id in snapshot.curated.hidden,
        made_by=f"{origin.generator} {origin.generator_version}{call}",
        axes=origin.axes,
    )


def chain_text(links: Iterable[Link]) -> list[str]:
    """Return a chain in words, one line a step, each step further in."""
    lines = []
    for depth, link in enumerate(links):
        notes = ["; ".join(_edit(setting) for setting in link.axes), link.made_by]
        notes.append("left out of the set" if link.hidden else "")
        notes.append("" if link.kept else "not kept" + (": rejected, then mended" if link.role == "parent" else ""))
        text = " - ".join(note for note in notes if note)
        indent = "   " * (depth - 1) + "└─ " if depth else ""
        lines.append(indent + f"{link.role} {link.id}" + (f": {text}" if text else ""))
    return lines


def _edit(setting: AxisSetting) -> str:
    values = ", ".join(f"{one.name} {one.value:.4g} {one.unit.value}" for one in setting.severity)
    return f"{setting.axis} {setting.level} ({values})"


def expansion_of(store: VersionedLibrary, snapshot: Snapshot, row: Row) -> tuple[Expansion, tuple[int, ...]]:
    """Return the expansion that makes a scene, and its indices at which the scene is to be found.

    A base is made by every expansion of its seed and cell; one that made variants of it is preferred.

    Raises:
        LibraryError: No expansion made it, or the expansion's record is missing or damaged.
    """
    if row.expansion is not None:
        return _expansion(store, snapshot, row.expansion), (row.provenance.index,)
    variants = snapshot.table(SCENARIOS.name).look_up("base_id", [row.scenario_id])
    found = sorted((one["expansion"], one["index"]) for one in variants if one["expansion"])
    if found:
        return _expansion(store, snapshot, found[0][0]), (found[0][1],)
    index = row.provenance.index
    for path in sorted(snapshot.commit.files if snapshot.commit else ()):
        expansion = _maybe_expansion(store, snapshot, path)
        if expansion and (expansion.cell_id, expansion.seed) == (row.cell_id, row.provenance.seed):
            first = index * expansion.per_base
            return expansion, (index, *range(first, first + expansion.per_base))
    raise LibraryError(
        snapshot.name,
        f"no expansion made scene {row.scenario_id} ({row.provenance.generator})",
        "only scenes of `scenegen expand` can be made again",
    )


def cell_and_parts_of(store: VersionedLibrary, snapshot: Snapshot, expansion: Expansion) -> tuple[Cell, Catalogue]:
    """Return the cell of an expansion and the very parts that it used, from the library.

    Raises:
        LibraryError: A file is missing or damaged.
    """
    cell = Cell.from_json(read_kept(store, snapshot, f"{USD}/{cell_record_path(expansion.cell_id)}"))
    names = dict.fromkeys(item.part for item in cell.inventory)
    paths = [f"{USD}/{ASSETS}/{asset_name(name, expansion.assets[name])}" for name in names]
    for path in paths:
        read_kept(store, snapshot, path)
    return cell, Catalogue(read_part(store.files.local(path)) for path in paths)


def expand_command(store: VersionedLibrary, expansion: Expansion, index: int, *, library: str = "again") -> str:
    """Return the command line that makes the scenes of an expansion up to an index, into another library.

    Args:
        store: The library that holds the expansion; the cell is read from it unless it is a built-in one.
        expansion: The expansion.
        index: The last index wanted.
        library: Folder of the library to make.
    """
    axes = [word for axis in expansion.axes for word in ("--axis", axis)]
    words = ["scenegen", "expand", *axes, *_asking(store, expansion), "--n", str(index + 1)]
    options = {
        "--levels": _unless_default(expansion, "levels", ",".join(map(str, expansion.levels))),
        "--cell": _cell_name(store, expansion.cell_id),
        **{
            f"--{name.replace('_', '-')}": _unless_default(expansion, name, str(getattr(expansion, name)))
            for name in ("seed", "design", "strength", "per_base", "placement")
        },
    }
    words += [word for option, value in options.items() if value is not None for word in (option, value)]
    words += ["--repair"] if expansion.repair else []
    return shlex.join([*words, "--library", library])


def _asking(store: VersionedLibrary, expansion: Expansion) -> list[str]:
    """Return the options that ask the model again: from the library's log of calls, where there is one."""
    if expansion.proposer is None:
        return []
    asking = Asking.from_json(store.files.read(f"records/{expansion.proposer}.json"))
    log = store.files.local(calls_path(asking.model))
    words = ["--vlm", f"replay:{log}" if log.is_file() else asking.model, "--proposals", str(asking.count)]
    return [*words, *["--judge"] * asking.judged, *["--text-only"] * (not asking.pictures)]


def _unless_default(expansion: Expansion, field: str, text: str) -> str | None:
    return None if getattr(expansion, field) == Expansion.model_fields[field].default else text


def _cell_name(store: VersionedLibrary, cell_id: str) -> str | None:
    """Return how `--cell` names a cell: not at all for the default one, by name, or by the file in the library."""
    name = next((name for name in BUILTIN if load_cell(name).content_id == cell_id), None)
    if name is not None:
        return None if name == BUILTIN[0] else name
    return str(store.files.local(f"{USD}/{cell_record_path(cell_id)}"))


def _expansion(store: VersionedLibrary, snapshot: Snapshot, expansion_id: str) -> Expansion:
    return Expansion.from_json(read_kept(store, snapshot, f"records/{expansion_id}.json"))


def _maybe_expansion(store: VersionedLibrary, snapshot: Snapshot, path: str) -> Expansion | None:
    """Read a record if it is an expansion's; records of other kinds have no `per_base`."""
    data = read_kept(store, snapshot, path) if path.startswith("records/") else b""
    return Expansion.from_json(data) if b'"per_base":' in data else None
