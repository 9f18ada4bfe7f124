"""Antipodal grasps of a mesh for a parallel gripper, found by casting rays through it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scenegen.geometry import Array
from scenegen.parts.part import Grasps, Mesh
from scenegen.parts.rays import MISS, Indices, Rays

FRICTION = 0.5
"""Pads and parts: the friction cone within which both contacts must lie."""
MAX_WIDTH_M = 0.12
MAX_GRASPS = 64
SAMPLES = 1500
FINGER_ROOM_M = 0.010
"""Free depth that a finger needs inside a hole to grasp across the wall."""


def antipodal_grasps(mesh: Mesh, *, rng: np.random.Generator) -> Grasps:
    """Find diverse grasps whose two contacts lie in each other's friction cone.

    The pads close from outside on the whole part, or across a wall where the hole behind it takes a finger.

    Args:
        mesh: The part's mesh [m].
        rng: Draws the sampled surface points and closing directions.
    """
    rays = Rays(mesh.vertices, mesh.faces)
    points, touched = _surface_points(mesh, rng)
    directions = _within_cone(-rays.normals[touched], rng)
    pairs = [_outer_pairs(rays, points, directions), _wall_pairs(rays, points, touched, directions)]
    starts, ends, axes = (np.concatenate(part) for part in zip(*pairs, strict=True))
    widths = np.einsum("ij,ij->i", ends - starts, axes)
    fits = (widths > 1e-5) & (widths <= MAX_WIDTH_M)
    centers, axes, widths = ((starts + ends) / 2)[fits], axes[fits], widths[fits]
    chosen = _spread(centers, axes, widths)
    return Grasps(centers_m=centers[chosen], axes=axes[chosen], widths_m=widths[chosen])


def _surface_points(mesh: Mesh, rng: np.random.Generator) -> tuple[Array, Indices]:
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    chosen = rng.choice(len(areas), SAMPLES, p=areas / areas.sum())
    u, v = rng.random((2, SAMPLES, 1))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    points = a[chosen] + u * (b - a)[chosen] + v * (c - a)[chosen]
    return points, chosen


def _within_cone(normals: Array, rng: np.random.Generator) -> Array:
    """Half of the directions are the normals themselves, half lean within the friction cone."""
    lean = rng.normal(size=normals.shape) * (0.4 * FRICTION) * (rng.random((len(normals), 1)) < 0.5)
    lean -= np.einsum("ij,ij->i", lean, normals)[:, None] * normals
    directions = normals + lean
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def _outer_pairs(rays: Rays, points: Array, directions: Array) -> tuple[Array, Array, Array]:
    far = 2 * rays.reach_m
    near_t, near_f = rays.first(points - far * directions, directions)
    far_t, far_f = rays.first(points + far * directions, -directions)
    starts = points + (near_t - far)[:, None] * directions
    ends = points - (far_t - far)[:, None] * directions
    return _kept(rays, (starts, near_f), (ends, far_f), directions, np.ones(len(points), bool))


def _wall_pairs(rays: Rays, points: Array, touched: Indices, directions: Array) -> tuple[Array, Array, Array]:
    skin = 1e-6
    wall_t, wall_f = rays.first(points + skin * directions, directions)
    through = np.isfinite(wall_t)
    ends = points + np.where(through, wall_t + skin, 0.0)[:, None] * directions
    beyond, _ = rays.first(ends + skin * directions, directions)
    before, _ = rays.first(points - skin * directions, -directions)
    in_hole = np.isfinite(beyond) | np.isfinite(before)
    room = np.minimum(beyond, before) > FINGER_ROOM_M
    return _kept(rays, (points, touched), (ends, wall_f), directions, through & in_hole & room)


def _kept(
    rays: Rays,
    start: tuple[Array, Indices],
    end: tuple[Array, Indices],
    directions: Array,
    also: NDArray[np.bool_],
) -> tuple[Array, Array, Array]:
    """Keep the pairs of contacts (points and triangles) that lie in each other's friction cone."""
    limit = np.cos(np.arctan(FRICTION))
    (starts, start_f), (ends, end_f) = start, end
    normals = rays.normals
    holds = also & (start_f != MISS) & (end_f != MISS)
    holds &= np.einsum("ij,ij->i", -normals[start_f], directions) >= limit
    holds &= np.einsum("ij,ij->i", normals[end_f], directions) >= limit
    return starts[holds], ends[holds], directions[holds]


def _spread(centers: Array, axes: Array, widths: Array) -> Indices:
    """Choose up to `MAX_GRASPS` that differ most, by farthest-point selection; returns sorted indices."""
    if len(centers) <= MAX_GRASPS:
        return np.arange(len(centers), dtype=np.int64)
    scale = float(np.ptp(centers, axis=0).max()) + float(widths.mean())
    lines = (axes[:, :, None] * axes[:, None, :]).reshape(-1, 9)
    features = np.column_stack([centers / scale, lines, widths / scale])
    chosen = [int(np.argmin(np.linalg.norm(centers, axis=1)))]
    distance = np.linalg.norm(features - features[chosen[0]], axis=1)
    while len(chosen) < MAX_GRASPS:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(features - features[chosen[-1]], axis=1))
    return np.sort(np.array(chosen, np.int64))
