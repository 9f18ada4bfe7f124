"""The distance between two parts by mj_geomDistance, piece by piece: what all engines are held to."""

import mujoco
import numpy as np

from scenegen.cell import Cell
from scenegen.parts.catalogue import Catalogue
from scenegen.physics.model import SceneModel
from scenegen.scenario import Layout

FARTHEST_M = 0.001
"""Distances above this are not looked for [m]."""

Pair = tuple[int, str, str]


class ExactDistances:
    """Signed distances between the items of a layout; independent of MuJoCo's broad phase and contacts."""

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self._scene = SceneModel(cell, parts, sleep=False)
        self._radius = {
            part.id: float(np.linalg.norm(part.collision_vertices, axis=1).max()) for part in parts.values()
        }
        geoms = range(self._scene.model.ngeom)
        owner = [self._scene.owners[body] for body in self._scene.model.geom_bodyid]
        self._geoms = {slot: [geom for geom in geoms if owner[geom] == slot] for slot in self._scene.slots}

    def near(self, row: int, layout: Layout) -> dict[Pair, float]:
        """Find all pairs of items nearer than `FARTHEST_M`, with their distance [m], negative where they overlap."""
        scene, items = self._scene, layout.items
        scene.load(layout)
        mujoco.mj_kinematics(scene.model, scene.data)
        centers = np.array([item.pose_to_world.position for item in items])
        radii = np.array([self._radius[item.part] for item in items])
        reach = np.linalg.norm(centers[:, None] - centers[None], axis=2) - radii[:, None] - radii[None]
        found = {}
        for a, b in zip(*(indices.tolist() for indices in np.nonzero(np.triu(reach < FARTHEST_M, 1))), strict=True):
            distance = self._distance(items[a].name, items[b].name)
            if distance < FARTHEST_M:
                first, second = sorted((items[a].name, items[b].name))
                found[row, first, second] = distance
        return found

    def _distance(self, first: str, second: str) -> float:
        model, data = self._scene.model, self._scene.data
        pieces = ((a, b) for a in self._geoms[first] for b in self._geoms[second])
        return min(mujoco.mj_geomDistance(model, data, a, b, FARTHEST_M, None) for a, b in pieces)
