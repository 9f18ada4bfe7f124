"""What stands and lies in the scenes of one cell, as triangles in the world."""

from __future__ import annotations

import numpy as np

from scenegen.cell import Cell
from scenegen.imaging.ray_shape import container_boxes
from scenegen.imaging.stage import Solid
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Scenario

TABLE = "table"
"""Name of the table among fixtures and items."""


class Props:
    """Places table, fixtures and parts of one cell; meshes are prepared once."""

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self._parts = parts
        self._solids: dict[str, Solid] = {}
        self._fixtures = {name: Solid.boxes(container_boxes(box)) for name, box in cell.containers.items()}
        x, y, thickness = cell.table.size_m
        slab = np.array([[[-x / 2, -y / 2, -thickness], [x / 2, y / 2, 0.0]]])
        self._table = Solid.boxes(slab).placed(cell.table.pose_top_to_world)

    def placed(self, scenario: Scenario) -> list[tuple[str, Solid]]:
        """Return table, fixtures and items by name, world frame."""
        layout = scenario.layout
        return [
            (TABLE, self._table),
            *(
                (fixture.name, self._fixtures[fixture.name].placed(fixture.pose_to_world))
                for fixture in layout.fixtures
            ),
            *((item.name, self._solid(item.part).placed(item.pose_to_world)) for item in layout.items),
        ]

    def _solid(self, part: str) -> Solid:
        solid = self._solids.get(part)
        if solid is None:
            mesh = self._parts[part].mesh
            solid = self._solids[part] = Solid(mesh.vertices[mesh.faces], mesh.normals)
        return solid
