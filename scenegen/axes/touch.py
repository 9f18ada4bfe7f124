"""How far one thing hangs above another, and where they touch first: for parts that lean or lie on others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from scenegen.geometry import Array, Pose
from scenegen.parts.part import Faces, Part

SPACING_M = 0.0025
"""Distance between sample points along a collider's edges [m]."""

TOUCH_M = 0.0004
"""How far from the first contact others count as contacts too [m]."""

FLAT = 1 - 1e-6
"""Cosine between two triangles' normals above which they belong to one flat side."""

FACING_M2 = 1e-18
"""Twice the area of a triangle seen from above below which it counts as upright [m²]."""


@dataclass(frozen=True, eq=False)
class Body:
    """Points and triangles of a collider's surface."""

    points: Array
    """Corners and points along edges [m], shape [n, 3]."""
    triangles: Array
    """Corners of outward triangles [m], shape [m, 3, 3]."""

    def at(self, pose: Pose) -> Body:
        """Return the body at a pose."""
        return Body(pose.apply(self.points), pose.apply(self.triangles))

    def moved(self, offset: Array) -> Body:
        """Return the body moved by an offset [m], shape [3]."""
        return Body(self.points + offset, self.triangles + offset)


@lru_cache(maxsize=256)
def body_of(part: Part) -> Body:
    """Return a part's colliders as one body in the part's frame."""
    edges = [_along_edges(c.vertices, c.faces) for c in part.colliders]
    triangles = np.concatenate([c.vertices[c.faces] for c in part.colliders])
    return Body(np.concatenate([part.collision_vertices, *edges]), triangles)


def box_body(low: Array, high: Array) -> Body:
    """Return a box between two corners [m], shape [3]."""
    unit = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
    faces = np.array([[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4],
             [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5]], np.int32)  # fmt: skip
    corners = low + unit * (high - low)
    return Body(np.concatenate([corners, _along_edges(corners, faces)]), corners[faces])


def _along_edges(vertices: Array, faces: Faces) -> Array:
    """Sample the edges of a convex hull, but for those that run within a flat side; shape [n, 3]."""
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    sides: dict[tuple[int, int], list[int]] = {}
    for index, face in enumerate(faces.tolist()):
        for a, b in zip(face, face[1:] + face[:1], strict=True):
            sides.setdefault((min(a, b), max(a, b)), []).append(index)
    points = [np.empty((0, 3))]
    for (a, b), touching in sides.items():
        if len(touching) == 2 and normals[touching[0]] @ normals[touching[1]] > FLAT:
            continue
        count = int(np.linalg.norm(vertices[b] - vertices[a]) / SPACING_M)
        points.append(vertices[a] + (vertices[b] - vertices[a]) * (np.arange(1, count + 1) / (count + 1))[:, None])
    return np.concatenate(points)


def gap_above(upper: Body, lower: Body) -> float:
    """Return how far the upper body may sink before it touches the lower one [m].

    Points of each are held against triangles of the other, so a contact between two edges is found to within the
    spacing of the sample points. Negative where they overlap, infinite where neither is above the other.
    """
    return float(min(gaps.min() for gaps in _gaps(upper, lower)))


def balances(upper: Body, lower: Body, center: Array) -> bool:
    """Tell whether a body that sank onto another one would stay: its weight lies within the points that touch first.

    Args:
        upper: What sinks.
        lower: What stays.
        center: The upper body's centre of mass in the plane [m], shape [2].
    """
    down, up = _gaps(upper, lower)
    least = min(down.min(), up.min())
    if not np.isfinite(least):
        return False
    points = np.concatenate([upper.points[down < least + TOUCH_M], lower.points[up < least + TOUCH_M]])[:, :2] - center
    angles = np.sort(np.arctan2(points[:, 1], points[:, 0]))
    turns = np.diff(np.concatenate([angles, angles[:1] + 2 * np.pi]))
    return bool(turns.max() < np.pi)


def _gaps(upper: Body, lower: Body) -> tuple[Array, Array]:
    """Gaps below the upper body's points and above the lower body's [m]; infinite where the other one is not there."""
    down = upper.points[:, 2] - _heights(lower, upper.points, upward=True)
    return down, _heights(upper, lower.points, upward=False) - lower.points[:, 2]


def _heights(body: Body, points: Array, *, upward: bool) -> Array:
    """Return the height of a body's upper (or lower) surface over points, shape [n]; far away where it is not there."""
    missing = -np.inf if upward else np.inf
    low, high = body.points[:, :2].min(axis=0), body.points[:, :2].max(axis=0)
    inside = np.flatnonzero(np.all((points[:, :2] >= low) & (points[:, :2] <= high), axis=1))
    heights = np.full(len(points), missing)
    if not len(inside):
        return heights
    a, b, c = np.moveaxis(body.triangles, 1, 0)
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    facing = area > FACING_M2 if upward else area < -FACING_M2
    a, b, c, area = a[facing], b[facing] - a[facing], c[facing] - a[facing], area[facing]
    # Barycentric coordinates, and the height, are linear in x and y: one product for all points and triangles.
    u = np.stack([c[:, 1], -c[:, 0], a[:, 1] * c[:, 0] - a[:, 0] * c[:, 1]]) / area
    v = np.stack([-b[:, 1], b[:, 0], a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]]) / area
    z = u * b[:, 2] + v * c[:, 2]
    z[2] += a[:, 2]
    plane = np.column_stack([points[inside, :2], np.ones(len(inside))])
    us, vs = plane @ u, plane @ v
    z = np.where((us >= 0) & (vs >= 0) & (us + vs <= 1), plane @ z, missing)
    heights[inside] = z.max(axis=1, initial=missing) if upward else z.min(axis=1, initial=missing)
    return heights
