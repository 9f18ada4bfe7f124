"""How parallel jaws can hold a part from above when it lies in a given way, by closing on its outline.

Flat jaws that close along a direction stop where the part reaches farthest within the strip that they sweep. They hold
it if the line between the two contacts lies in the friction cones of both (Nguyen 1988: planar antipodal grasps), and
nothing of the part stands beside them, since they were wider open before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from scenegen.footprint import convex_outline
from scenegen.geometry import Array
from scenegen.parts.part import Part

MAX_GRASPS = 24
"""Grasps that are kept, at different angles and places."""

FRICTION = 0.5
"""Friction of pads on parts: the tangent of the cone's half angle."""

FLAT_M = 0.0003
"""What reaches to within this of the farthest point is touched, too [m]: pads give."""

EDGE_SHARE = 0.65
"""How far from its middle toward its edge a pad may hold, as a share of its half width."""

EVEN_ANGLES = 8
EDGE_ANGLES = 8
"""Closing directions that are tried: so many even ones, and so many at right angles to the outline's longest edges."""


@dataclass(frozen=True)
class Jaws:
    """What matters of a gripper to a grasp."""

    width_m: float
    """Size of a finger across the closing direction [m]."""
    opening_m: float
    """Largest distance of the contacts [m]."""
    pad_m: float
    """How far the finger tips reach below the contacts [m]."""


@dataclass(frozen=True, eq=False)
class JawGrasps:
    """Grasps from above, in the part's frame."""

    centers_m: Array
    """Midway between the pads [m], shape [k, 3]."""
    axes: Array
    """Unit closing direction, level, shape [k, 3]."""
    widths_m: Array
    """Distance of the contacts [m], shape [k]."""


@dataclass(frozen=True, eq=False)
class _Edges:
    """Outlines of all colliders seen from above, as edges of convex polygons."""

    starts: Array
    """Where the edges begin [m], shape [e, 2]."""
    ends: Array
    low_m: Array
    """Lowest point of the collider that the edge belongs to [m], shape [e]."""
    high_m: Array
    hull: Array
    """Corners of the convex outline of the whole part in order [m], shape [h, 2]."""


@lru_cache(maxsize=4096)
def jaw_grasps(part: Part, up: tuple[float, float, float], jaws: Jaws) -> JawGrasps:
    """Find grasps from above.

    Args:
        part: The part.
        up: The vertical, in the part's frame.
        jaws: The gripper.
    """
    frame = _frame(np.array(up))
    edges = _edges(part, frame)
    balance = frame @ np.array(part.mass.center_of_mass_m)
    angles, offsets = _tries(edges, balance[:2], jaws.width_m / 2)
    found, done = [], np.zeros(len(angles), bool)
    for height in dict.fromkeys([round(float(balance[2]), 5), *_middles(part, frame)]):
        held, middle, width = _close(edges, angles, offsets, height, jaws)
        found.append(np.column_stack([angles, middle, np.full(len(angles), height), width])[held & ~done])
        done |= held
    rows = _spread(np.concatenate(found))
    along = np.column_stack([np.cos(rows[:, 0]), np.sin(rows[:, 0]), np.zeros(len(rows))])
    return JawGrasps(rows[:, 1:4] @ frame, along @ frame, rows[:, 4])


@dataclass(frozen=True, eq=False)
class Closed:
    """Jaws that closed at given places; k tries."""

    holds: np.ndarray
    """They hold the part, shape [k]."""
    middles_m: Array
    """Midway between the pads, in the part's frame, shape [k, 3]; not finite where nothing is between them."""
    widths_m: Array
    """Distance of the pads [m], shape [k]; not finite likewise."""


def close_jaws(part: Part, up: tuple[float, float, float], jaws: Jaws, centers_m: Array, axes: Array) -> Closed:
    """Close the jaws at given places, whether or not they are among those of `jaw_grasps`.

    Args:
        part: The part.
        up: The vertical, in the part's frame.
        jaws: The gripper.
        centers_m: Where the middle of the open gripper is, in the part's frame, shape [k, 3].
        axes: Level closing directions, shape [k, 3].
    """
    frame = _frame(np.array(up))
    edges, level, along = _edges(part, frame), centers_m @ frame.T, axes @ frame[:2].T
    angles = np.arctan2(along[:, 1], along[:, 0])
    offsets = level[:, 1] * np.cos(angles) - level[:, 0] * np.sin(angles)
    holds, middles, widths = np.zeros(len(level), bool), level.copy(), np.zeros(len(level))
    heights = np.round(level[:, 2], 5)
    for height in np.unique(heights).tolist():
        rows = np.flatnonzero(heights == height)
        holds[rows], middles[rows, :2], widths[rows] = _close(edges, angles[rows], offsets[rows], height, jaws)
    return Closed(holds, middles @ frame, widths)


def _frame(vertical: Array) -> Array:
    """Return three directions of the part's frame as rows, the last one `vertical`, right-handed, shape [3, 3]."""
    vertical = vertical / np.linalg.norm(vertical)
    side = np.cross(vertical, np.eye(3)[int(np.argmin(np.abs(vertical)))])
    side /= np.linalg.norm(side)
    return np.stack([side, np.cross(vertical, side), vertical])


def _edges(part: Part, frame: Array) -> _Edges:
    starts, ends, low, high = [], [], [], []
    for collider in part.colliders:
        corners = collider.vertices @ frame.T
        outline = convex_outline(corners[:, :2])
        starts.append(outline)
        ends.append(np.roll(outline, -1, axis=0))
        low.append(np.full(len(outline), corners[:, 2].min()))
        high.append(np.full(len(outline), corners[:, 2].max()))
    points = np.concatenate(starts)
    return _Edges(points, np.concatenate(ends), np.concatenate(low), np.concatenate(high), convex_outline(points))


def _middles(part: Part, frame: Array) -> list[float]:
    """Middle heights of the colliders, in tenths of a millimetre, each once."""
    heights = [collider.vertices @ frame[2] for collider in part.colliders]
    return list(dict.fromkeys(round(float(h.min() + h.max()) / 2, 4) for h in heights))[:3]


def _tries(edges: _Edges, balance: Array, half_m: float) -> tuple[Array, Array]:
    """Closing directions [rad] and offsets across them [m] to be tried, shapes [t].

    The pads hold about the centre of mass, with their middle or near an edge (where there is little room beside it),
    or halfway to an end of the part.
    """
    sides = np.roll(edges.hull, -1, axis=0) - edges.hull
    longest = np.argsort(-np.linalg.norm(sides, axis=1), kind="stable")[:EDGE_ANGLES]
    normals = np.arctan2(sides[longest, 0], -sides[longest, 1]) % np.pi
    angles = np.unique(np.round(np.concatenate([np.arange(EVEN_ANGLES) * np.pi / EVEN_ANGLES, normals]), 4))
    across = np.stack([-np.sin(angles), np.cos(angles)])
    reach = edges.hull @ across
    low, high, middle = reach.min(axis=0), reach.max(axis=0), balance @ across
    sideways = EDGE_SHARE * half_m
    offsets = [middle, middle - sideways, middle + sideways, (middle + low) / 2, (middle + high) / 2]
    return np.tile(angles, len(offsets)), np.concatenate(offsets)


def _close(edges: _Edges, angles: Array, offsets: Array, height: float, jaws: Jaws) -> tuple[np.ndarray, Array, Array]:
    """Close the jaws: which tries hold, the points midway between the pads in the plane, the widths.

    Where nothing is between the jaws the last two are not finite.
    """
    along = np.stack([np.cos(angles), np.sin(angles)])
    across = np.stack([-along[1], along[0]])
    seen = edges.high_m > height - jaws.pad_m
    ends = (edges.starts[seen], edges.ends[seen])
    u0, u1 = (end @ along for end in ends)
    v0, v1 = (end @ across - offsets for end in ends)
    u, v = _clipped(u0, u1, v0, v1, jaws.width_m / 2)
    holds_height = (edges.low_m[seen] <= height) & (edges.high_m[seen] >= height)
    # At a border of the strip a jaw's own edge touches: that holds only where the outline runs about along the jaw.
    faces_jaw = np.abs(u1 - u0) <= FRICTION * np.abs(v1 - v0)
    touchable = holds_height[None, :, None] & np.stack([np.ones_like(faces_jaw), faces_jaw, faces_jaw])
    sides = []
    for sign in (1.0, -1.0):
        reach = np.where(np.isfinite(u), sign * u, -np.inf)
        farthest = reach.max(axis=(0, 1), initial=-np.inf)
        touched = (reach >= farthest - FLAT_M) & touchable
        sides.append(
            (farthest, np.where(touched, v, np.inf).min(axis=(0, 1)), np.where(touched, v, -np.inf).max(axis=(0, 1)))
        )
    (far, low, high), (near, other_low, other_high) = sides
    width = far + near
    with np.errstate(invalid="ignore"):
        apart = np.maximum(np.maximum(low, other_low) - np.minimum(high, other_high), 0.0)
        held = np.isfinite(apart) & (width > 1e-5) & (width <= jaws.opening_m) & (apart <= FRICTION * width)
        middle = (far - near) / 2 * along + offsets * across
    return held, middle.T, width


def _clipped(u0: Array, u1: Array, v0: Array, v1: Array, half_m: float) -> tuple[Array, Array]:
    """Points of edges inside a strip: their starts and where they cross its borders; NaN for none; shape [3, e, t]."""
    inside = np.abs(v0) <= half_m
    points_u, points_v = [np.where(inside, u0, np.nan)], [np.where(inside, v0, np.nan)]
    rise = v1 - v0
    for border in (-half_m, half_m):
        crosses = (v0 - border) * (v1 - border) < 0
        share = np.divide(border - v0, rise, out=np.zeros_like(rise), where=crosses)
        points_u.append(np.where(crosses, u0 + share * (u1 - u0), np.nan))
        points_v.append(np.where(crosses, border, np.nan))
    return np.stack(points_u), np.stack(points_v)


def _spread(rows: Array) -> Array:
    """Keep up to `MAX_GRASPS` rows, evenly over angles, then over places."""
    order = rows[np.lexsort((rows[:, 3], rows[:, 2], rows[:, 1], rows[:, 0]))]
    if len(order) <= MAX_GRASPS:
        return order
    return order[np.linspace(0, len(order) - 1, MAX_GRASPS).astype(int)]
