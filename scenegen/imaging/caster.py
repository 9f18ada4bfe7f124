"""Cast rays from a scenario's camera to its G-buffer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scenegen.cell import Cell
from scenegen.geometry import Array
from scenegen.imaging.gbuffer import NOTHING, GBuffer, Vector, groove_depth
from scenegen.imaging.view import Body, View, Viewer
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Scenario

Floats = NDArray[np.float32]

LEAN = 0.85
"""How far the normals of a groove's sides lean toward its way out, held against path-traced threads.

Light leaves a groove that way, whichever of its sides it met last; but sides that face a lamp stay the brighter ones.
"""


class GBufferCaster:
    """Casts G-buffers of a cell's scenes; a part's ray structure is built once, a moved part costs its pose only.

    Each body is met by the rays of its own window of the image alone.

    Args:
        viewer: Places the cell's bodies; may be shared.
        cell: The cell.
    """

    def __init__(self, viewer: Viewer, cell: Cell) -> None:
        self._viewer = viewer
        self._table_up = cell.table.pose_top_to_world.rotation[:, 2]

    @classmethod
    def of(cls, cell: Cell, parts: Catalogue) -> GBufferCaster:
        """Build a caster of a cell and its parts."""
        return cls(Viewer(cell, parts), cell)

    def cast(self, scenario: Scenario, camera: str) -> GBuffer:
        """Say for each pixel what it shows.

        Args:
            scenario: The scene.
            camera: Name of one of its cameras.

        Returns:
            The G-buffer of one image, 32-bit floats; instances and depths are those of `MaskCaster.instance_depth`.

        Raises:
            UnknownName: The scenario has no such camera.
        """
        view = self._viewer.view(scenario, camera)
        return _GBufferCast(view, self._viewer.table_depth(view), self._table_up).gbuffer()


class _GBufferCast:
    """One G-buffer in the making; pixels in rows, h * w of them."""

    def __init__(self, view: View, table_depth: Array, table_up: Array) -> None:
        self._view, self._table_up = view, table_up
        self._names = (*view.bodies, "table")
        self._depth = table_depth
        self._alone = np.zeros(len(self._names), np.int64)
        self._alone[-1] = np.isfinite(table_depth).sum()
        table = len(self._names) - 1
        self._instance = np.where(np.isfinite(table_depth), table, NOTHING).astype(np.int32)
        self._face = np.zeros(table_depth.shape, np.int32)
        self._u, self._v = np.zeros(table_depth.shape, np.float32), np.zeros(table_depth.shape, np.float32)

    def gbuffer(self) -> GBuffer:
        bodies = list(self._view.bodies.values())
        for index, body in enumerate(bodies):
            self._meet(index, body)
        pose = self._view.camera.pose_to_world
        rays = (self._view.rays.reshape(-1, 3).astype(np.float32)) @ pose.rotation.T.astype(np.float32)
        depth = self._depth.reshape(-1)
        reach = np.where(np.isfinite(depth), depth, 1.0).astype(np.float32)[:, None]
        position = pose.position.astype(np.float32) + rays * reach
        normal, self_open = self._normals(bodies, pose.rotation)
        away = np.einsum("ij,ij->i", normal, rays) > 0
        normal[away] *= -1
        height, width = self._depth.shape
        return GBuffer(
            names=self._names,
            height_px=height,
            width_px=width,
            instance=self._instance.reshape(1, -1),
            normal=_vector(normal),
            position=_vector(position),
            depth=depth.astype(np.float32)[None],
            eye=_vector(pose.position[None]),
            alone=self._alone[None],
            self_open=self_open[None],
        )

    def _meet(self, index: int, body: Body) -> None:
        """Let rays meet one body, and keep what lies before all that they have met so far."""
        window = self._view.rays[body.window]
        size = window.shape[:2]
        found = body.hits(window.reshape(-1, 3))
        self._alone[index] = np.count_nonzero(found.faces >= 0)
        depth = self._depth[body.window]
        nearer = found.distances.reshape(size) < depth
        depth[nearer] = found.distances.reshape(size)[nearer]
        self._instance[body.window][nearer] = index
        self._face[body.window][nearer] = found.faces.reshape(size)[nearer]
        self._u[body.window][nearer] = found.u.reshape(size)[nearer]
        self._v[body.window][nearer] = found.v.reshape(size)[nearer]

    def _normals(self, bodies: list[Body], camera: Array) -> tuple[Floats, Floats]:
        """Unit normals in the world frame, shape [h * w, 3], and how open the body itself leaves them, shape [h * w].

        Up, and open, where the table or nothing is seen.
        """
        shown = self._instance.reshape(-1)
        normal = np.broadcast_to(self._table_up.astype(np.float32), (len(shown), 3)).copy()
        self_open = np.ones(len(shown), np.float32)
        items = len(self._view.layout.items)
        rows = np.flatnonzero((shown >= 0) & (shown < len(bodies)))
        rows = rows[np.argsort(shown[rows], kind="stable")]
        ends = np.cumsum(np.bincount(shown[rows], minlength=len(bodies)))
        face, u, v = self._face.reshape(-1), self._u.reshape(-1), self._v.reshape(-1)
        for index, (body, start, end) in enumerate(zip(bodies, [0, *ends[:-1]], ends, strict=True)):
            if end > start:
                chosen = rows[start:end]
                local = body.shape.normals(face[chosen], u[chosen], v[chosen])
                if index < items:
                    grooves = body.shape.grooves
                    self_open[chosen] = grooves.open[face[chosen]]
                    local = _leaned(local, grooves.outward[face[chosen]], self_open[chosen])
                normal[chosen] = local @ (camera @ body.rotation.T).astype(np.float32).T
        return normal, self_open


def _leaned(normals: Floats, outward: Floats, self_open: Floats) -> Floats:
    """Lean normals toward the way out of the grooves in which they lie, shapes [n, 3] and [n]."""
    lean = LEAN * groove_depth(self_open, np)[:, None]
    mixed = normals + lean * (outward - normals)
    return mixed / np.sqrt(np.einsum("ij,ij->i", mixed, mixed))[:, None]


def _vector(rows: Array | Floats) -> Vector:
    """From rows, shape [n, 3], to three arrays of shape [1, n]."""
    x, y, z = np.ascontiguousarray(rows.T, np.float32)[:, None]
    return x, y, z
