"""Write a scene and all that it needs into a folder laid out like a library."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from scenegen.cell import Cell
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Facet, Scenario
from scenegen.usd.files import asset_path, cell_path, cell_record_path, layout_path, scene_path
from scenegen.usd.part_file import write_part
from scenegen.usd.writer import SceneWriter


class StageFolder:
    """A folder that holds the USD files of one cell's scenes; what is there already is not written again.

    Args:
        root: The folder.
        cell: The cell.
        parts: The parts of its inventory.
        writer: A writer to share; by default one of its own.
        robots: Where the robot's file lies that the cell names; it is copied.

    Example:
        >>> folder = StageFolder(root, cell, parts)  # doctest: +SKIP
        >>> folder.write(scenario)  # doctest: +SKIP
        PosixPath('…/scenes/3f/3f….usda')
    """

    def __init__(
        self,
        root: Path,
        cell: Cell,
        parts: Catalogue,
        *,
        writer: SceneWriter | None = None,
        robots: Path | None = None,
    ) -> None:
        self.root = root
        self._robots = robots
        self.writer = writer or SceneWriter(cell, parts)
        self._cell = cell
        self._parts = parts

    def write(self, scenario: Scenario) -> Path:
        """Write a scenario's layer, and cell, layout and assets where they are missing; return the scene's file."""
        self.write_cell()
        for asset in scenario.assets:
            self.write_asset(asset.part)
        self.write_layout(scenario)
        return self._text(scene_path(scenario.id), lambda: self.writer.scene_layer(scenario))

    def write_cell(self) -> Path:
        """Write the cell's layer and specification; return the layer's file."""
        cell_id = self._cell.content_id
        self._text(cell_record_path(cell_id), self._cell.canonical_json)
        robot = self._cell.robot.usd
        if robot is not None and self._robots is not None:
            shutil.copyfile(self._robots / robot, self.root / cell_path(cell_id).rpartition("/")[0] / robot)
        return self._text(cell_path(cell_id), self.writer.cell_layer)

    def write_layout(self, scenario: Scenario) -> Path:
        """Write the layer of a scenario's layout; return its file."""
        key = scenario.key(Facet.LAYOUT)
        return self._text(layout_path(key), lambda: self.writer.layout_layer(scenario))

    def write_asset(self, part: str) -> Path:
        """Write a part's asset file; return it."""
        one = self._parts[part]
        path = self.root / asset_path(one)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_part(one, path)
        return path

    def _text(self, name: str, text: Callable[[], str]) -> Path:
        path = self.root / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_name(f".{path.name}.{os.getpid()}")
            draft.write_text(text(), encoding="utf-8")
            os.replace(draft, path)
        return path
