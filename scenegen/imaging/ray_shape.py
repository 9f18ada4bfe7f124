"""Rigid meshes ready for rays: built once, placed by moving the rays."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene
from numpy.typing import NDArray

from scenegen.cell import Container
from scenegen.geometry import Array

UNIT_CORNERS = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
"""Corners of the unit cube, X fastest, shape [8, 3]."""

_BOX_FACES = np.array(
    [[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6],
     [1, 3, 5], [3, 7, 5]], np.int32
)  # fmt: skip
_EMBREE_SIZE = 100.0
"""Shapes are scaled to about this size before they meet embree's 32-bit arithmetic."""
NO_HIT = 1e30
"""Distances from here on are none."""
_FEELERS = 48
"""Rays from each triangle that feel for the shape itself."""
_LIFT = 0.02
"""How far they start off their triangle, in embree's size."""


class Grooves(NamedTuple):
    """How far a shape stands in its own way, one row a triangle."""

    open: NDArray[np.float32]
    """Share of the triangle's surroundings, by the cosine law, that the shape itself leaves open, shape [m]."""
    outward: NDArray[np.float32]
    """Unit mean direction to what is open, in the shape's frame, shape [m, 3]."""


class Hits(NamedTuple):
    """First hits, one row a ray that meets the shape, shape [h]."""

    rays: NDArray[np.int64]
    """Which rays these are, in their order."""
    distances: Array
    """How many direction vectors lie between origin and hit."""
    faces: NDArray[np.int32]
    """The triangle that was hit."""
    u: NDArray[np.float32]
    """Weight of the triangle's second corner."""
    v: NDArray[np.float32]
    """Weight of its third corner."""


class RayShape:
    """One rigid triangle mesh, ready for rays in its own frame; built once, placed by moving the rays.

    Args:
        vertices: Positions [m], shape [n, 3].
        faces: Triangles, shape [m, 3].
        normals: Unit normals at the triangles' corners, shape [m, 3, 3]; flat ones if not given.
    """

    def __init__(self, vertices: Array, faces: NDArray[np.int32], normals: Array | None = None) -> None:
        self.low, self.high = vertices.min(axis=0), vertices.max(axis=0)
        self.corners = self.low + UNIT_CORNERS * (self.high - self.low)
        """Corners of the bounding box in the shape's frame [m], shape [8, 3]."""
        self._scale = _EMBREE_SIZE / float(np.linalg.norm(self.high - self.low))
        self._scene = EmbreeScene()
        scaled = np.ascontiguousarray((vertices - self.low) * self._scale, np.float32)
        TriangleMesh(scene=self._scene, vertices=scaled, indices=np.ascontiguousarray(faces, np.int32))
        self.normals = (_flat_normals(vertices, faces) if normals is None else normals).astype(np.float32)
        """Unit normals at the triangles' corners in the shape's frame, shape [m, 3, 3]."""
        self._centers = scaled[faces].mean(axis=1)

    @property
    def scene(self) -> EmbreeScene:
        """Embree's copy of the shape, its lower corner `low` at zero."""
        return self._scene

    @property
    def scale(self) -> float:
        """How large a metre of the shape is in `scene`."""
        return self._scale

    def distances(self, origin: Array, directions: Array) -> Array:
        """Return how many direction vectors lie between origin and first hit; infinite where there is none.

        Args:
            origin: Common start of the rays in the shape's frame [m], shape [3].
            directions: Directions in the shape's frame, of any length, shape [n, 3].
        """
        if not len(directions):
            return np.empty(0)
        found = self._scene.run(*self._rays(origin, directions), query="DISTANCE")
        return np.where(found < NO_HIT, found / self._scale, np.inf)

    def hits(self, origin: Array, directions: Array) -> Hits:
        """Return where on which triangle those of the rays end that meet the shape; see `distances`."""
        if not len(directions):
            return Hits(np.empty(0, np.int64), np.empty(0), *(np.empty(0, kind) for kind in ("i4", "f4", "f4")))
        found = self._scene.run(*self._rays(origin, directions), output=True)
        met = np.flatnonzero(found["primID"] >= 0)
        return Hits(met, found["tfar"][met] / self._scale, *(found[name][met] for name in ("primID", "u", "v")))

    @cached_property
    def grooves(self) -> Grooves:
        """Feel from the middle of each triangle, once: threads, teeth and holes stand in their own way."""
        normals = self.normals.mean(axis=1)
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
        # The sum of a unit normal and a point of the unit sphere follows the cosine law; points on a golden spiral.
        height = 1 - (2 * np.arange(_FEELERS) + 1) / _FEELERS
        turn = np.arange(_FEELERS) * (np.pi * (3 - np.sqrt(5)))
        ring = np.sqrt(1 - height**2)
        sphere = np.stack([ring * np.cos(turn), ring * np.sin(turn), height], axis=1).astype(np.float32)
        feelers = normals[:, None] + 0.999 * sphere
        feelers /= np.linalg.norm(feelers, axis=2, keepdims=True)
        starts = np.repeat(self._centers + _LIFT * normals, _FEELERS, axis=0)
        met = self._scene.run(starts, np.ascontiguousarray(feelers.reshape(-1, 3)), query="OCCLUDED") >= 0
        free = ~met.reshape(len(normals), _FEELERS)
        outward = (feelers * free[..., None]).sum(axis=1) + 1e-3 * normals
        outward /= np.linalg.norm(outward, axis=1, keepdims=True)
        return Grooves(free.mean(axis=1).astype(np.float32), outward.astype(np.float32))

    def _rays(self, origin: Array, directions: Array) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        start = np.repeat(((origin - self.low) * self._scale).astype(np.float32)[None], len(directions), axis=0)
        return start, np.ascontiguousarray(directions, np.float32)


def container_boxes(box: Container) -> Array:
    """Lower and upper corners of floor and walls in the container's frame [m], shape [5, 2, 3]."""
    x, y, t = box.size_m[0] / 2, box.size_m[1] / 2, box.wall_thickness_m
    floor, top = -box.floor_thickness_m, box.wall_height_m
    return np.array(
        [
            [[-x - t, -y - t, floor], [x + t, y + t, 0.0]],
            [[-x - t, -y - t, 0.0], [-x, y + t, top]],
            [[x, -y - t, 0.0], [x + t, y + t, top]],
            [[-x, -y - t, 0.0], [x, -y, top]],
            [[-x, y, 0.0], [x, y + t, top]],
        ]
    )


def container_shape(box: Container) -> RayShape:
    """Prepare floor and walls of a container for rays in its frame."""
    boxes = container_boxes(box)
    vertices = (boxes[:, :1] + UNIT_CORNERS * (boxes[:, 1:] - boxes[:, :1])).reshape(-1, 3)
    faces = (_BOX_FACES[None] + 8 * np.arange(len(boxes))[:, None, None]).reshape(-1, 3)
    return RayShape(vertices, faces.astype(np.int32))


def _flat_normals(vertices: Array, faces: NDArray[np.int32]) -> Array:
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    cross = np.cross(b - a, c - a)
    unit = cross / np.maximum(np.linalg.norm(cross, axis=1, keepdims=True), 1e-300)
    return np.repeat(unit[:, None], 3, axis=1)
