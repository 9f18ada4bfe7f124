"""First hits of rays on a mesh, by embree."""

from __future__ import annotations

import numpy as np
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene
from numpy.typing import NDArray

from scenegen.geometry import Array
from scenegen.parts.mesh import face_normals
from scenegen.parts.part import Faces

MISS = -1
Indices = NDArray[np.int64]


class Rays:
    """First hits of rays on a mesh; works in coordinates scaled to the mesh, since embree computes in 32 bits."""

    def __init__(self, vertices: Array, faces: Faces) -> None:
        self._low = vertices.min(axis=0)
        self._scale = 100.0 / float(np.linalg.norm(vertices.max(axis=0) - self._low))
        self._scene = EmbreeScene()
        TriangleMesh(self._scene, ((vertices - self._low) * self._scale).astype(np.float32), faces.astype(np.int32))
        self._origins = vertices[faces[:, 0]]
        self.normals = face_normals(vertices, faces)
        """Unit normals of the triangles, shape [m, 3]."""
        self.reach_m = 100.0 / self._scale
        """Diagonal of the mesh's bounding box [m]."""

    def first(self, origins: Array, directions: Array) -> tuple[Array, Indices]:
        """Cast rays.

        Args:
            origins: Starts [m], shape [n, 3].
            directions: Unit directions, shape [n, 3].

        Returns:
            Distances [m], shape [n] (infinite for a miss), and the triangles that were hit, shape [n] (-1 for a miss).
        """
        scaled = ((origins - self._low) * self._scale).astype(np.float32)
        hit = np.asarray(self._scene.run(scaled, directions.astype(np.float32)), np.int64)
        normals = self.normals[hit]
        along = np.einsum("ij,ij->i", directions, normals)
        offset = np.einsum("ij,ij->i", self._origins[hit] - origins, normals)
        valid = (hit != MISS) & (np.abs(along) > 1e-9)
        distance = np.divide(offset, along, out=np.full(len(hit), np.inf), where=valid)
        return distance, np.where(valid, hit, MISS)
