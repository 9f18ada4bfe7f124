"""How far one thing hangs above another, and where they touch first: for parts that lean or lie on others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from scenegen.geometry import Array, Pose
from scenegen.parts.part import Faces, Part

TOUCH_M = 0.0004
"""How far from the first contact others count as contacts too [m]."""

FLAT = 1 - 1e-6
"""Cosine between two triangles' normals above which they belong to one flat side."""

TINY_M2 = 1e-18
"""Area below which a triangle seen from above counts as upright, and two edges as parallel [m²]."""


@dataclass(frozen=True, eq=False)
class Body:
    """The surface of a compound collider: corners, edges and triangles."""

    points: Array
    """Corners [m], shape [n, 3]."""
    edges: Array
    """Ends of the edges between sides [m], shape [e, 2, 3]."""
    triangles: Array
    """Corners of outward triangles [m], shape [m, 3, 3]."""

    def at(self, pose: Pose) -> Body:
        """Return the body at a pose."""
        return Body(pose.apply(self.points), pose.apply(self.edges), pose.apply(self.triangles))

    def moved(self, offset: Array) -> Body:
        """Return the body moved by an offset [m], shape [3]."""
        return Body(self.points + offset, self.edges + offset, self.triangles + offset)


@lru_cache(maxsize=256)
def body_of(part: Part) -> Body:
    """Return a part's colliders as one body in the part's frame."""
    edges = [_edges(c.vertices, c.faces) for c in part.colliders]
    triangles = np.concatenate([c.vertices[c.faces] for c in part.colliders])
    return Body(part.collision_vertices, np.concatenate(edges), triangles)


def box_body(low: Array, high: Array) -> Body:
    """Return a box between two corners [m], shape [3]."""
    unit = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
    faces = np.array([[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4],
                      [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5]], np.int32)  # fmt: skip
    corners = low + unit * (high - low)
    return Body(corners, _edges(corners, faces), corners[faces])


def _edges(vertices: Array, faces: Faces) -> Array:
    """Edges of a convex hull, but for those that run within a flat side; shape [n, 2, 3]."""
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    sides: dict[tuple[int, int], list[int]] = {}
    for index, face in enumerate(faces.tolist()):
        for a, b in zip(face, face[1:] + face[:1], strict=True):
            sides.setdefault((min(a, b), max(a, b)), []).append(index)
    sharp = [
        ends
        for ends, touching in sides.items()
        if len(touching) != 2 or normals[touching[0]] @ normals[touching[1]] <= FLAT
    ]
    return vertices[np.array(sharp)]


def gap_above(upper: Body, lower: Body) -> float:
    """Return how far the upper body may sink before it touches the lower one [m].

    Corners of each are held against triangles of the other, and edges against edges. Negative where they overlap,
    infinite where neither is above the other.
    """
    return float(_contacts(upper, lower)[0].min(initial=np.inf))


def balances(upper: Body, lower: Body, center: Array) -> bool:
    """Tell whether a body that sank onto another one would stay: its weight lies within the points that touch first.

    Args:
        upper: What sinks.
        lower: What stays.
        center: The upper body's centre of mass in the plane [m], shape [2].
    """
    gaps, points = _contacts(upper, lower)
    least = gaps.min(initial=np.inf)
    if not np.isfinite(least):
        return False
    lever = points[gaps < least + TOUCH_M] - center
    angles = np.sort(np.arctan2(lever[:, 1], lever[:, 0]))
    turns = np.diff(np.concatenate([angles, angles[:1] + 2 * np.pi]))
    return bool(turns.max() < np.pi)


def _contacts(upper: Body, lower: Body) -> tuple[Array, Array]:
    """Gaps where two bodies could touch [m], shape [n], and the points in the plane [m], shape [n, 2]."""
    down = upper.points[:, 2] - _heights(lower, upper.points, upward=True)
    up = _heights(upper, lower.points, upward=False) - lower.points[:, 2]
    across, crossings = _crossings(upper.edges, lower.edges)
    return (
        np.concatenate([down, up, across]),
        np.concatenate([upper.points[:, :2], lower.points[:, :2], crossings]),
    )


def _crossings(upper: Array, lower: Array) -> tuple[Array, Array]:
    """Gaps between edges that cross as seen from above [m], shape [n], and where they do, shape [n, 2]."""
    upper, lower = _within(upper, lower), _within(lower, upper)
    p, r = upper[:, None, 0], upper[:, None, 1] - upper[:, None, 0]
    q, s = lower[None, :, 0], lower[None, :, 1] - lower[None, :, 0]
    area = r[..., 0] * s[..., 1] - r[..., 1] * s[..., 0]
    d = q - p
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (d[..., 0] * s[..., 1] - d[..., 1] * s[..., 0]) / area
        u = (d[..., 0] * r[..., 1] - d[..., 1] * r[..., 0]) / area
    i, j = ((np.abs(area) > TINY_M2) & (t >= 0) & (t <= 1) & (u >= 0) & (u <= 1)).nonzero()
    above = upper[i, 0] + t[i, j][:, None] * (upper[i, 1] - upper[i, 0])
    below = lower[j, 0, 2] + u[i, j] * (lower[j, 1, 2] - lower[j, 0, 2])
    return above[:, 2] - below, above[:, :2]


def _within(edges: Array, others: Array) -> Array:
    """Keep the edges that reach into the rectangle, seen from above, around others."""
    low, high = others[..., :2].min(axis=(0, 1)), others[..., :2].max(axis=(0, 1))
    ends = edges[..., :2]
    return edges[np.all((ends.max(axis=1) >= low) & (ends.min(axis=1) <= high), axis=1)]


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
    facing = area > TINY_M2 if upward else area < -TINY_M2
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
