"""Solids in millimetres to render meshes and colliders in metres: rounded, welded, outward, with normals."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from manifold3d import Manifold, Mesh64
from numpy.typing import ArrayLike

from scenegen.geometry import Array
from scenegen.parts.part import GRID_M, Collider, Faces, Mesh

M_PER_MM = 1e-3
CREASE_DEG = 30.0
"""Edges that turn by more than this are sharp."""


def mesh_of(solid: Manifold, *, origin_mm: ArrayLike) -> Mesh:
    """Turn a solid into a render mesh.

    Args:
        solid: A closed solid [mm].
        origin_mm: Point of the drawing that becomes the part frame's origin [mm], shape [3].
    """
    raw = solid.to_mesh64()
    vertices = (np.asarray(raw.vert_properties)[:, :3] - np.asarray(origin_mm, float)) * M_PER_MM
    vertices, faces = weld(vertices, np.asarray(raw.tri_verts, np.int64))
    return Mesh(vertices=vertices, faces=faces, normals=corner_normals(vertices, faces))


def solid_of(vertices_m: Array, faces: ArrayLike) -> Manifold:
    """Turn a closed mesh [m] into a solid [mm]; the solid's `status` says whether it is one."""
    mesh = Mesh64(vert_properties=np.asarray(vertices_m) / M_PER_MM, tri_verts=np.asarray(faces, np.uint64))
    return Manifold(mesh)


def collider_of(corners_mm: Array, *, origin_mm: ArrayLike) -> Collider:
    """Wrap corners [mm], shape [k, 3], in their convex hull; axis-aligned boxes are kept as boxes."""
    vertices, faces = convex_hull((corners_mm - np.asarray(origin_mm, float)) * M_PER_MM)
    return Collider(kind="box" if _is_box(vertices) else "hull", vertices=vertices, faces=faces)


def convex_hull(points_m: ArrayLike) -> tuple[Array, Faces]:
    """Return corners [m] and outward triangles of the convex hull of points [m], shape [k, 3]."""
    points: Any = np.asarray(points_m, float) / M_PER_MM
    hull = Manifold.hull_points(points).to_mesh64()
    return weld(np.asarray(hull.vert_properties)[:, :3] * M_PER_MM, np.asarray(hull.tri_verts, np.int64))


def weld(vertices: Array, faces: ArrayLike) -> tuple[Array, Faces]:
    """Round vertices [m] to the grid, merge equal ones, drop triangles that collapse, and drop unused vertices."""
    keys, index = np.unique(np.round(np.asarray(vertices) / GRID_M).astype(np.int64), axis=0, return_inverse=True)
    corners = index.reshape(-1)[np.asarray(faces, np.int64)]
    a, b, c = corners.T
    corners = corners[(a != b) & (b != c) & (c != a)]
    used, compact = np.unique(corners, return_inverse=True)
    decimals = round(-np.log10(GRID_M))
    return np.asarray(np.round(keys[used] * GRID_M, decimals) + 0.0, np.float64), compact.reshape(-1, 3).astype(
        np.int32
    )


def is_watertight(faces: Faces) -> bool:
    """Tell whether every directed edge occurs once and its opposite once."""
    edges = np.asarray(faces, np.int64)[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    size = int(edges.max()) + 1
    forward, backward = edges @ [size, 1], edges @ [1, size]
    return len(np.unique(forward)) == len(forward) and np.array_equal(np.sort(forward), np.sort(backward))


def face_normals(vertices: Array, faces: Faces) -> Array:
    """Unit normals of triangles, shape [m, 3]; zero where a triangle has no area."""
    a, b, c = np.moveaxis(np.asarray(vertices)[faces], 1, 0)
    cross = np.cross(b - a, c - a)
    length = np.linalg.norm(cross, axis=1, keepdims=True)
    return np.divide(cross, length, out=np.zeros_like(cross), where=length > 0)


def corner_normals(vertices: Array, faces: Faces, *, crease_deg: float = CREASE_DEG) -> Array:
    """Unit normals at face corners, shape [m, 3, 3]: smooth across edges that turn less than the crease angle.

    A corner takes the mean normal of the triangles at its vertex that turn less than the crease angle from its own
    triangle, weighted by their angles at the vertex.
    """
    normals = face_normals(vertices, faces)
    weighted = normals[:, None, :] * _corner_angles(vertices, faces)[:, :, None]
    order = np.argsort(faces.reshape(-1), kind="stable")
    starts = np.searchsorted(faces.reshape(-1)[order], np.arange(len(vertices) + 1))
    result = np.empty((len(faces) * 3, 3))
    limit = np.cos(np.deg2rad(crease_deg))
    for start, end in pairwise(starts):
        corners = order[start:end]
        own = normals[corners // 3]
        near = (own @ own.T > limit) | np.eye(len(corners), dtype=bool)
        result[corners] = near @ weighted.reshape(-1, 3)[corners]
    length = np.linalg.norm(result, axis=1, keepdims=True)
    flat = np.repeat(normals, 3, axis=0)
    return np.where(length > 1e-12, result / np.maximum(length, 1e-12), flat).reshape(-1, 3, 3)


def _corner_angles(vertices: Array, faces: Faces) -> Array:
    corners = np.asarray(vertices)[faces]
    ahead = np.roll(corners, -1, axis=1) - corners
    behind = np.roll(corners, 1, axis=1) - corners
    sine = np.linalg.norm(np.cross(ahead, behind), axis=2)
    return np.arctan2(sine, np.einsum("ijk,ijk->ij", ahead, behind))


def _is_box(vertices: Array) -> bool:
    if len(vertices) != 8:
        return False
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    at_side = np.isclose(vertices, low, rtol=0, atol=GRID_M / 2) | np.isclose(vertices, high, rtol=0, atol=GRID_M / 2)
    return bool(at_side.all())
