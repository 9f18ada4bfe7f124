"""Cast rays from a scenario's camera to its G-buffer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scenegen.cell import Cell
from scenegen.geometry import Array
from scenegen.imaging.gbuffer import NOTHING, GBuffer, Vector, groove_depth
from scenegen.imaging.kept import Kept
from scenegen.imaging.robot_shape import Posture
from scenegen.imaging.view import Body, View, Viewer
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Scenario

Floats = NDArray[np.float32]

LEAN = 0.85
"""How far the normals of a groove's sides lean toward its way out, held against path-traced threads.

Light leaves a groove that way, whichever of its sides it met last; but sides that face a lamp stay the brighter ones.
"""
BODIES = 192
"""Bodies at their places whose rays are kept: fixtures stay, and between a twin and its variant most parts do."""
CAMERAS = 8
"""Cameras whose view of the table is kept."""


@dataclass(frozen=True, eq=False)
class _Seen:
    """What the rays of a body's window meet of it; shapes [h, w] and [h, w, 3]."""

    depth: Array
    normal: Floats
    """Unit normals toward the camera, world frame; 0 where there is no hit."""
    self_open: Floats
    count: int


@dataclass(frozen=True, eq=False)
class _Ground:
    """What a camera sees where there is no body."""

    rays: Floats
    """A ray a pixel in the world's frame, 1 m deep, shape [h, w, 3]."""
    depth: Array
    """Depth of the table [m], infinite beside it, shape [h, w]."""


class GBufferCaster:
    """Casts G-buffers of a cell's scenes; a part's ray structure is built once, a moved part costs its pose only.

    Each body is met by the rays of its own window of the image alone; a body that stays before the same camera is not
    met again.

    Args:
        viewer: Places the cell's bodies; may be shared.
        cell: The cell.
    """

    def __init__(self, viewer: Viewer, cell: Cell) -> None:
        self._viewer = viewer
        self._table_up = cell.table.pose_top_to_world.rotation[:, 2].astype(np.float32)
        self._bodies, self._grounds = Kept(BODIES), Kept(CAMERAS)

    @classmethod
    def of(cls, cell: Cell, parts: Catalogue) -> GBufferCaster:
        """Build a caster of a cell and its parts."""
        return cls(Viewer(cell, parts), cell)

    def cast(self, scenario: Scenario, camera: str, posture: Posture | None = None) -> GBuffer:
        """Say for each pixel what it shows.

        Args:
            scenario: The scene.
            camera: Name of one of its cameras.
            posture: How the robot stands; None: it is not there.

        Returns:
            The G-buffer of one image, 32-bit floats; instances and depths are those of `MaskCaster.instance_depth`.

        Raises:
            UnknownName: The scenario has no such camera.
        """
        view = self._viewer.view(scenario, camera, posture)
        names = (*view.bodies, "table")
        ground: _Ground = self._grounds.get(view.camera.content_id, lambda: self._ground(view))
        depth = ground.depth.copy()
        on_table = np.isfinite(depth)
        alone = np.zeros(len(names), np.int64)
        alone[-1] = on_table.sum()
        instance = np.where(on_table, len(names) - 1, NOTHING).astype(np.int32)
        normal = np.broadcast_to(self._table_up, ground.rays.shape).copy()
        self_open = np.ones(depth.shape, np.float32)
        for index, body in enumerate(view.bodies.values()):
            seen = self._seen(view, body, ground, grooved=index < len(view.layout.items))
            alone[index] = seen.count
            here = body.window
            nearer = seen.depth < depth[here]
            for whole, part in ((depth, seen.depth), (normal, seen.normal), (self_open, seen.self_open)):
                whole[here][nearer] = part[nearer]
            instance[here][nearer] = index
        eye = view.camera.pose_to_world.position
        reach = np.where(np.isfinite(depth), depth, 1.0).astype(np.float32)[..., None]
        return GBuffer(
            names=names,
            height_px=depth.shape[0],
            width_px=depth.shape[1],
            instance=instance.reshape(1, -1),
            normal=_vector(normal.reshape(-1, 3)),
            position=_vector((eye.astype(np.float32) + ground.rays * reach).reshape(-1, 3)),
            depth=depth.astype(np.float32).reshape(1, -1),
            eye=_vector(eye[None]),
            alone=alone[None],
            self_open=self_open.reshape(1, -1),
        )

    def _ground(self, view: View) -> _Ground:
        turn = view.camera.pose_to_world.rotation.T.astype(np.float32)
        return _Ground(rays=view.rays.astype(np.float32) @ turn, depth=self._viewer.table_depth(view))

    def _seen(self, view: View, body: Body, ground: _Ground, *, grooved: bool) -> _Seen:
        key = (view.camera.content_id, body.kind, body.pose_to_world)
        return self._bodies.get(key, lambda: _meet(view, body, ground.rays[body.window], grooved=grooved))


def _meet(view: View, body: Body, rays: Floats, *, grooved: bool) -> _Seen:
    """Let the rays of its window meet a body; its own grooves are felt where it may have any."""
    size = rays.shape[:2]
    found = body.hits(view.rays[body.window].reshape(-1, 3))
    hit = np.flatnonzero(found.faces >= 0)
    faces = found.faces[hit]
    local = body.shape.normals(faces, found.u[hit], found.v[hit])
    self_open = np.ones(len(found.faces), np.float32)
    if grooved:
        grooves = body.shape.grooves
        self_open[hit] = grooves.open[faces]
        local = _leaned(local, grooves.outward[faces], self_open[hit])
    normal = np.zeros((len(found.faces), 3), np.float32)
    normal[hit] = local @ (view.camera.pose_to_world.rotation @ body.rotation.T).astype(np.float32).T
    normal[np.einsum("ij,ij->i", normal, rays.reshape(-1, 3)) > 0] *= -1
    return _Seen(found.distances.reshape(size), normal.reshape(*size, 3), self_open.reshape(size), len(hit))


def _leaned(normals: Floats, outward: Floats, self_open: Floats) -> Floats:
    """Lean normals toward the way out of the grooves in which they lie, shapes [n, 3] and [n]."""
    lean = LEAN * groove_depth(self_open, np)[:, None]
    mixed = normals + lean * (outward - normals)
    return mixed / np.sqrt(np.einsum("ij,ij->i", mixed, mixed))[:, None]


def _vector(rows: Array | Floats) -> Vector:
    """From rows, shape [n, 3], to three arrays of shape [1, n]."""
    x, y, z = np.ascontiguousarray(rows.T, np.float32)[:, None]
    return x, y, z
