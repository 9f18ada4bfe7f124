"""USD layers of kept scenes on disk: proved before they are handed out, made where they are not there yet."""

from __future__ import annotations

from pathlib import Path

from library.commit import FileFacts, damaged
from library.files import USD
from library.lance_table import check_file
from library.row import Row
from library.snapshot import Snapshot
from library.versioned import VersionedLibrary
from scenegen.cell import Cell
from scenegen.errors import LibraryError
from scenegen.facet import Facet, scenario_key
from scenegen.parts.catalogue import Catalogue
from scenegen.usd.files import ASSETS, CELLS, asset_name, cell_path, cell_record_path, layout_path, scene_path
from scenegen.usd.part_file import read_part
from scenegen.usd.writer import SceneWriter


class Layers:
    """The USD files of one version's scenes.

    Example:
        >>> layers = Layers(library, library.at("v1"))  # doctest: +SKIP
        >>> layers.scene(row)  # doctest: +SKIP
        PosixPath('scenarios/usd/v1/scenes/3f/3f….usda')
    """

    def __init__(self, library: VersionedLibrary, snapshot: Snapshot) -> None:
        self._library = library
        self._snapshot = snapshot
        self._known = snapshot.commit.files if snapshot.commit else {}
        self._cells: dict[str, tuple[Cell, Catalogue]] = {}
        self._writers: dict[str, SceneWriter] = {}

    def cell_and_parts(self, row: Row) -> tuple[Cell, Catalogue]:
        """Return a scenario's cell, and the parts of the cell's inventory.

        Raises:
            LibraryError: A file is damaged or missing.
        """
        wanted = {asset.part: asset.content for asset in row.assets}
        key = row.frame
        if key not in self._cells:
            cell = Cell.from_json(self._library.files.read(self._checked(cell_record_path(row.cell_id))))
            names = dict.fromkeys([*wanted, *(item.part for item in cell.inventory)])
            paths = [self._asset(part, wanted.get(part)) for part in names]
            parts = Catalogue(read_part(self._library.files.local(self._checked(path))) for path in paths)
            self._cells[key] = (cell, parts)
        return self._cells[key]

    def robot(self, row: Row) -> Path | None:
        """Return the robot's own file that a scenario's cell names, proved; None where it names none.

        Raises:
            LibraryError: The file is damaged or missing.
        """
        cell, _ = self.cell_and_parts(row)
        if cell.robot.usd is None:
            return None
        return self._library.files.local(self._checked(f"{CELLS}/{cell.robot.usd}"))

    def scene(self, row: Row) -> Path:
        """Return the scenario's root layer, proved; layers that were never written are written now.

        Raises:
            LibraryError: A layer that was kept, or a file that it needs, is damaged or missing.
        """
        self.cell_and_parts(row)
        self._checked(cell_path(row.cell_id))
        scene = f"{USD}/{scene_path(row.scenario_id)}"
        if row.scene_sha256 is None or row.layout_sha256 is None:
            self.write(row)
            return self._library.files.local(scene)
        layout = layout_path(scenario_key(row.cell_id, row.assets, {Facet.LAYOUT: row.facets[Facet.LAYOUT]}))
        for path, sha256 in ((f"{USD}/{layout}", row.layout_sha256), (scene, row.scene_sha256)):
            target = self._library.files.local(path)
            if not target.is_file():
                raise damaged(str(target), "the file is missing")
            check_file(self._library.files, path, FileFacts(size=target.stat().st_size, sha256=sha256))
        return self._library.files.local(scene)

    def texts(self, row: Row) -> dict[str, bytes]:
        """Make a scenario's layers from its facets.

        Returns:
            Path in the library -> bytes: the layer of its layout, and its own.
        """
        scenario = self._snapshot.scenario(row)
        writer = self._writer(row)
        return {
            f"{USD}/{layout_path(scenario.key(Facet.LAYOUT))}": writer.layout_layer(scenario).encode(),
            f"{USD}/{scene_path(scenario.id)}": writer.scene_layer(scenario).encode(),
        }

    def write(self, row: Row) -> None:
        """Write a scenario's layers, whatever is there."""
        for path, data in self.texts(row).items():
            self._library.files.put(path, data)

    def _writer(self, row: Row) -> SceneWriter:
        cell, parts = self.cell_and_parts(row)
        if row.frame not in self._writers:
            self._writers[row.frame] = SceneWriter(cell, parts)
        return self._writers[row.frame]

    def _asset(self, part: str, content: str | None) -> str:
        """Return the path of a part's file: of that content, or of any that this version holds."""
        if content is not None:
            return f"{ASSETS}/{asset_name(part, content)}"
        begin = f"{USD}/{ASSETS}/{part}_"
        found = sorted(path for path in self._known if path.startswith(begin) and "_" not in path[len(begin) :])
        if not found:
            raise LibraryError(self._snapshot.name, f"no asset of part {part!r} is kept", "run `scenegen expand` again")
        return found[0].removeprefix(f"{USD}/")

    def _checked(self, name: str) -> str:
        path = f"{USD}/{name}"
        if path not in self._known:
            raise LibraryError(
                self._snapshot.name, f"{path} is not a file of this version", "run `scenegen library verify`"
            )
        check_file(self._library.files, path, self._known[path])
        return path
