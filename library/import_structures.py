"""Scenes of another library written anew in this one, with their cells and parts, which are looked at first."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from library.commit import FileFacts, damaged, file_hash
from library.import_cell import CELL_BYTES, refuse_unsafe_robot
from library.import_json import read_json
from library.lance_table import check_file
from library.layers import Layers
from library.row import Row
from library.snapshot import Snapshot
from library.structures import keep_structures
from library.versioned import USD, VersionedLibrary
from scenegen.cell import Cell
from scenegen.errors import InvalidRecord, LibraryError
from scenegen.parts.catalogue import Catalogue
from scenegen.usd.files import ASSETS, CELLS, asset_name, cell_record_path
from scenegen.usd.untrusted import refuse_unsafe


class ForeignScenes:
    """Writes scenes of another library's version into a library.

    Args:
        library: Where they go.
        source: The other library.
        version: The version of it.
        known: The files that the library has already.
    """

    def __init__(
        self, library: VersionedLibrary, source: VersionedLibrary, version: Snapshot, known: Mapping[str, FileFacts]
    ) -> None:
        self._library = library
        self._source = source
        self._layers = Layers(source, version)
        self._theirs: Mapping[str, FileFacts] = version.commit.files if version.commit else {}
        self._known = known
        self._kept: dict[str, set[tuple[str, str]]] = {}
        """Cell -> its parts that were kept, with their content ids."""
        self._inspected = False
        self.files: dict[str, FileFacts] = {}
        """Files of cells and parts that scenes need, for a commit."""

    def write(self, row: Row) -> str | None:
        """Write a scene's layers, its cell and its parts; return why that cannot be, if so.

        Raises:
            LibraryError: A file of the source is damaged, or the library cannot be written.
            UnsafeStage, UnreadableStage, InvalidRecord: A part, the cell or its robot is not what it must be.
        """
        self._keep_structures(row)
        try:
            texts = self._layers.texts(row)
        except RecursionError:
            return "its facets are nested too deeply"
        except (LibraryError, InvalidRecord, ValueError) as error:
            return str(error)[:500]
        if row.layout_sha256 is None or row.scene_sha256 is None:
            return None
        if [file_hash(data) for data in texts.values()] != [row.layout_sha256, row.scene_sha256]:
            return "its layers are not the ones that this scenegen writes - export it as USD and import that folder"
        for path, data in texts.items():
            self._library.files.put(path, data)
        return None

    def _keep_structures(self, row: Row) -> None:
        kept = self._kept.get(row.cell_id)
        if kept is not None and {(asset.part, asset.content) for asset in row.assets} <= kept:
            return
        root, record = self._source.usd, cell_record_path(row.cell_id)
        read_json(root / record, root=root, most_bytes=CELL_BYTES)
        self._inspect_parts(root)
        cell, parts = self._layers.cell_and_parts(row)
        self._require_named(row, cell, parts)
        refuse_unsafe_robot(cell, root, library=self._library.usd)
        robot = f"{USD}/{CELLS}/{cell.robot.usd}"
        if robot in self._theirs:
            check_file(self._source.files, robot, self._theirs[robot])
        self.files |= keep_structures(self._library, cell, parts, beside=root / record)
        self._kept[row.cell_id] = (kept or set()) | {(part.id, part.content_id) for part in parts.values()}

    def _inspect_parts(self, root: Path) -> None:
        """Hold all parts that this library does not have byte by byte against the rules for untrusted input, once."""
        if self._inspected:
            return
        for path, facts in self._theirs.items():
            if path.startswith(f"{USD}/{ASSETS}/") and self._known.get(path) != facts:
                check_file(self._source.files, path, facts)
                refuse_unsafe(self._source.files.local(path), root=root)
        self._inspected = True

    def _require_named(self, row: Row, cell: Cell, parts: Catalogue) -> None:
        """Refuse a cell or a part that is not the one that its file's name says."""
        if cell.content_id != row.cell_id:
            raise damaged(str(self._source.usd / cell_record_path(row.cell_id)), f"it holds cell {cell.content_id}")
        for asset in row.assets:
            if asset.part not in parts or parts[asset.part].content_id != asset.content:
                what = str(self._source.usd / ASSETS / asset_name(asset.part, asset.content))
                raise damaged(what, "it holds another part than its name says")
