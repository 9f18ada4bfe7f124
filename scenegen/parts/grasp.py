"""Antipodal grasps of a mesh for a parallel gripper, found by casting rays through it."""

from __future__ import annotations

import numpy as np
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene

from scenegen.geometry import Array
from scenegen.parts.mesh import face_normals
from scenegen.parts.part import Faces, Grasps, Mesh

FRICTION = 0.5
"""Pads and parts: the friction cone within which both contacts must lie."""
MAX_WIDTH_M = 0.12
MAX_GRASPS = 64
SAMPLES = 1500
FINGER_ROOM_M = 0.010
"""Free depth that a finger needs inside a hole to grasp across the wall."""
MISS = -1


class Rays:
    """First hits of rays on a mesh; works in coordinates scaled to the mesh, since embree computes in 32 bits."""

    def __init__(self, vertices: Array, faces: Faces) -> None:
        self._low = vertices.min(axis=0)
        self._scale = 100.0 / float(np.linalg.norm(vertices.max(axis=0) - self._low))
        self._scene = EmbreeScene()
        TriangleMesh(self._scene, ((vertices - self._low) * self._scale).astype(np.float32), faces.astype(np.int32))
        self._origins, self._normals = vertices[faces[:, 0]], face_normals(vertices, faces)

    def first(self, origins: Array, directions: Array) -> tuple[Array, Array]:
        """Cast rays.

        Args:
            origins: Starts [m], shape [n, 3].
            directions: Unit directions, shape [n, 3].

        Returns:
            Distances [m], shape [n] (infinite for a miss), and the triangles that were hit, shape [n] (-1 for a miss).
        """
        scaled = ((origins - self._low) * self._scale).astype(np.float32)
        hit = np.asarray(self._scene.run(scaled, directions.astype(np.float32)), np.int64)
        normals = self._normals[hit]
        along = np.einsum("ij,ij->i", directions, normals)
        offset = np.einsum("ij,ij->i", self._origins[hit] - origins, normals)
        valid = (hit != MISS) & (np.abs(along) > 1e-9)
        distance = np.divide(offset, along, out=np.full(len(hit), np.inf), where=valid)
        return distance, np.where(valid, hit, MISS)


def antipodal_grasps(mesh: Mesh, *, rng: np.random.Generator) -> Grasps:
    """Find diverse grasps whose two contacts lie in each other's friction cone.

    The pads close from outside on the whole part, or across a wall where the hole behind it takes a finger.

    Args:
        mesh: The part's mesh [m].
        rng: Draws the sampled surface points and closing directions.
    """
    points, normals = _surface_points(mesh, rng)
    directions = _within_cone(-normals, rng)
    rays = Rays(mesh.vertices, mesh.faces)
    pairs = [_outer_pairs(rays, points, directions), _wall_pairs(rays, points, directions)]
    starts, ends, axes = (np.concatenate(part) for part in zip(*pairs, strict=True))
    widths = np.einsum("ij,ij->i", ends - starts, axes)
    fits = (widths > 1e-5) & (widths <= MAX_WIDTH_M)
    centers, axes, widths = ((starts + ends) / 2)[fits], axes[fits], widths[fits]
    chosen = _spread(centers, axes, widths)
    return Grasps(centers_m=centers[chosen], axes=axes[chosen], widths_m=widths[chosen])


def _surface_points(mesh: Mesh, rng: np.random.Generator) -> tuple[Array, Array]:
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    chosen = rng.choice(len(areas), SAMPLES, p=areas / areas.sum())
    u, v = rng.random((2, SAMPLES, 1))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    points = a[chosen] + u * (b - a)[chosen] + v * (c - a)[chosen]
    return points, face_normals(mesh.vertices, mesh.faces)[chosen]


def _within_cone(normals: Array, rng: np.random.Generator) -> Array:
    """Half of the directions are the normals themselves, half lean within the friction cone."""
    lean = rng.normal(size=normals.shape) * (0.4 * FRICTION) * (rng.random((len(normals), 1)) < 0.5)
    lean -= np.einsum("ij,ij->i", lean, normals)[:, None] * normals
    directions = normals + lean
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def _outer_pairs(rays: Rays, points: Array, directions: Array) -> tuple[Array, Array, Array]:
    far = 1.0
    near_t, near_f = rays.first(points - far * directions, directions)
    far_t, far_f = rays.first(points + far * directions, -directions)
    starts = points + (near_t - far)[:, None] * directions
    ends = points - (far_t - far)[:, None] * directions
    return _kept(rays, (starts, near_f), (ends, far_f), directions, np.ones(len(points), bool))


def _wall_pairs(rays: Rays, points: Array, directions: Array) -> tuple[Array, Array, Array]:
    skin = 1e-6
    wall_t, wall_f = rays.first(points + skin * directions, directions)
    ends = points + (wall_t + skin)[:, None] * directions
    beyond, _ = rays.first(np.where(np.isfinite(ends), ends, 0.0) + skin * directions, directions)
    before, _ = rays.first(points - skin * directions, -directions)
    room = np.isfinite(wall_t) & (beyond > FINGER_ROOM_M) & (before > FINGER_ROOM_M)
    _, near_f = rays.first(points - skin * directions, directions)
    return _kept(rays, (points, near_f), (ends, wall_f), directions, room & (np.isfinite(beyond) | np.isfinite(before)))


def _kept(
    rays: Rays, start: tuple[Array, Array], end: tuple[Array, Array], directions: Array, also: Array
) -> tuple[Array, Array, Array]:
    limit = np.cos(np.arctan(FRICTION))
    (starts, start_f), (ends, end_f) = start, end
    normals = rays._normals
    holds = also & (start_f != MISS) & (end_f != MISS)
    holds &= np.einsum("ij,ij->i", -normals[start_f], directions) >= limit
    holds &= np.einsum("ij,ij->i", normals[end_f], directions) >= limit
    return starts[holds], ends[holds], directions[holds]


def _spread(centers: Array, axes: Array, widths: Array) -> Array:
    """Choose up to `MAX_GRASPS` that differ most, by farthest-point selection; returns sorted indices."""
    if len(centers) <= MAX_GRASPS:
        return np.arange(len(centers))
    scale = float(np.ptp(centers, axis=0).max()) + float(widths.mean())
    lines = (axes[:, :, None] * axes[:, None, :]).reshape(-1, 9)
    features = np.column_stack([centers / scale, lines, widths / scale])
    chosen = [int(np.argmin(np.linalg.norm(centers, axis=1)))]
    distance = np.linalg.norm(features - features[chosen[0]], axis=1)
    while len(chosen) < MAX_GRASPS:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(features - features[chosen[-1]], axis=1))
    return np.sort(chosen)
