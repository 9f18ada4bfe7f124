"""From a part at rest to the area that it covers: exact outlines of its colliders, seen from above.

Points of the plane are complex numbers x + iy [m], so that a yaw is a factor exp(i yaw).
"""

from __future__ import annotations

import cmath
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from scenegen.geometry import Array, quat_conjugate, quat_multiply, quat_to_matrix
from scenegen.parts.part import Part

COLLINEAR_M = 1e-7
"""Corners that lie nearer than this to their neighbours' line are dropped [m]."""

LEAN_TOLERANCE = 2e-3
"""How far a part may lean and still count as resting in a stable pose [rad]."""

Outline = shapely.Geometry
Outlines = NDArray[np.object_]
Plane = NDArray[np.complex128]
"""Points of the plane, x + iy [m]."""


@dataclass(frozen=True, eq=False)
class Footprint:
    """What a part in one orientation covers of the plane below it, from its frame's origin, at its own yaw."""

    outline: Outline
    """Union of the projected convex colliders; holes stay open."""
    corners: Plane
    """All corners of the outline, shape [n]."""
    hull: Plane
    """Corners of the outline's convex hull, shape [k]."""
    center: complex
    """Centre of a small circle about the outline."""
    radius_m: float
    """Radius of that circle [m]."""
    low_m: float
    """Lowest collider corner above the part frame's origin [m]; negative where it lies below."""
    high_m: float
    """Highest collider corner above the part frame's origin [m]."""

    def at(self, place: complex, yaw_rad: float) -> Outline:
        """Return the outline turned by a yaw [rad] and moved to a place."""
        moved = np.array([self.outline], dtype=object)
        corners = self.corners * cmath.rect(1.0, yaw_rad) + place
        shapely.set_coordinates(moved, corners.view(float).reshape(-1, 2))
        return moved[0]


def footprint_of(part: Part, quat_xyzw: ArrayLike) -> Footprint:
    """Project a part's colliders onto the plane.

    Args:
        part: The part.
        quat_xyzw: Rotation of its frame, shape [4].
    """
    matrix = quat_to_matrix(np.asarray(quat_xyzw, float)).T
    hulls = [shapely.MultiPoint((c.vertices @ matrix)[:, :2]).convex_hull for c in part.colliders]
    outline = shapely.simplify(shapely.union_all(hulls), COLLINEAR_M)
    hull = _points(shapely.convex_hull(outline))[:-1]
    center = complex(_points(shapely.centroid(shapely.minimum_bounding_circle(outline)))[0])
    heights = part.collision_vertices @ matrix[:, 2]
    return Footprint(
        outline=outline,
        corners=_points(outline),
        hull=hull,
        center=center,
        radius_m=float(np.abs(hull - center).max()),
        low_m=float(heights.min()),
        high_m=float(heights.max()),
    )


def _points(outline: Outline) -> Plane:
    return np.ascontiguousarray(shapely.get_coordinates(outline)).view(complex)[:, 0]


@lru_cache(maxsize=1024)
def stable_footprints(part: Part) -> tuple[Footprint, ...]:
    """Return the footprint of each stable pose of a part, in their order, at yaw zero."""
    return tuple(footprint_of(part, pose.quat_xyzw) for pose in part.stable_poses)


def resting(part: Part, quat_xyzw: ArrayLike) -> tuple[int, float] | None:
    """Recognise a stable pose.

    Args:
        part: The part.
        quat_xyzw: Rotation of its frame, shape [4].

    Returns:
        The index of the stable pose and the yaw [rad] that turns it into the rotation; None where it leans.
    """
    best, yaw_rad, rests = _rests(part, np.asarray(quat_xyzw, float)[None])
    return (int(best[0]), float(yaw_rad[0])) if rests[0] else None


def _rests(part: Part, quats: Array) -> tuple[NDArray[np.intp], Array, NDArray[np.bool_]]:
    """Find the nearest stable pose and the yaw [rad] from it, and whether that is where the part rests; shapes [n]."""
    delta = np.moveaxis(_from_stable(part) @ quats.T, 2, 0)
    lean = delta[..., 0] ** 2 + delta[..., 1] ** 2
    best, rows = lean.argmin(axis=1), np.arange(len(quats))
    yaws_rad = 2 * np.arctan2(delta[rows, best, 2], delta[rows, best, 3])
    return best, yaws_rad, lean[rows, best] <= (LEAN_TOLERANCE / 2) ** 2


@lru_cache(maxsize=1024)
def _from_stable(part: Part) -> Array:
    """Matrices that map a rotation to what turns a stable pose into it, both (x, y, z, w), shape [poses, 4, 4]."""
    stable = np.array([pose.quat_xyzw for pose in part.stable_poses])
    return np.swapaxes(quat_multiply(np.eye(4), quat_conjugate(stable)[:, None]), 1, 2)


def footprint_at(part: Part, quat_xyzw: ArrayLike) -> tuple[Footprint, float]:
    """Return the footprint of a part in any orientation and the yaw [rad] at which to lay it; cached where it rests."""
    found = resting(part, quat_xyzw)
    if found is None:
        return footprint_of(part, quat_xyzw), 0.0
    return stable_footprints(part)[found[0]], found[1]


class Stencils:
    """Some footprints as arrays, so that many are laid down, or tried, at once."""

    def __init__(self, footprints: Sequence[Footprint]) -> None:
        self.footprints = tuple(footprints)
        most = max(len(f.hull) for f in self.footprints)
        self._hulls = np.stack([np.pad(f.hull, (0, most - len(f.hull)), mode="edge") for f in self.footprints])
        self._centers = np.array([f.center for f in self.footprints])
        self._outlines = np.array([f.outline for f in self.footprints], dtype=object)
        self._corners = np.concatenate([f.corners for f in self.footprints])
        self._counts = np.array([len(f.corners) for f in self.footprints])
        self._starts = np.cumsum(self._counts) - self._counts
        self.radii_m = np.array([f.radius_m for f in self.footprints])
        """Radius of the circle about each footprint [m], shape [kinds]."""

    def circles(self, kinds: NDArray[np.intp], places: Plane, turns: Plane) -> Plane:
        """Centres of the circles about footprints.

        Args:
            kinds: Index of each footprint, any shape.
            places: Where its part frame's origin lies, same shape.
            turns: exp(i yaw) of each, same shape.
        """
        return self._centers[kinds] * turns + places

    def outlines(self, kinds: NDArray[np.intp], places: Plane, turns: Plane) -> Outlines:
        """Outlines at their places, shape [n]; arguments as for `circles`, of shape [n]."""
        counts = self._counts[kinds]
        rows = np.repeat(np.arange(len(kinds)), counts)
        shift = self._starts[kinds] - np.cumsum(counts) + counts
        corners = self._corners[np.arange(len(rows)) + shift[rows]] * turns[rows] + places[rows]
        return shapely.set_coordinates(self._outlines[kinds], corners.view(float).reshape(-1, 2))

    def inside(self, kinds: NDArray[np.intp], places: Plane, turns: Plane, half_m: Array) -> NDArray[np.bool_]:
        """Tell which lie wholly within ±`half_m`, shape [2], of the origin; arguments as for `circles`."""
        corners = self._hulls[kinds] * turns[..., None] + places[..., None]
        across = np.abs(corners.real).max(axis=-1) <= half_m[0]
        return across & (np.abs(corners.imag).max(axis=-1) <= half_m[1])


@lru_cache(maxsize=64)
def stencils_of(parts: tuple[Part, ...]) -> tuple[Stencils, NDArray[np.intp]]:
    """Return the footprints of all stable poses of some parts, and the index of each part's first one."""
    counts = [len(part.stable_poses) for part in parts]
    return Stencils([footprint for part in parts for footprint in stable_footprints(part)]), np.cumsum(
        [0, *counts[:-1]]
    )


def stencils_at(parts: Sequence[Part], quats: Array) -> tuple[Stencils, NDArray[np.intp], Array]:
    """Find the footprints of parts as they lie; like `footprint_at`, for many at once.

    Args:
        parts: The parts, at least one.
        quats: Rotations of their frames, shape [n, 4].

    Returns:
        Footprints; the index of each part's own one, shape [n]; and the yaw [rad] at which to lay it, shape [n].
    """
    distinct = tuple(dict.fromkeys(parts))
    stencils, first = stencils_of(distinct)
    kinds, yaws_rad, leaning = np.empty(len(parts), np.intp), np.zeros(len(parts)), []
    for part, start in zip(distinct, first.tolist(), strict=True):
        rows = [row for row, own in enumerate(parts) if own is part]
        best, yaws_rad[rows], rests = _rests(part, quats[rows])
        kinds[rows] = start + best
        leaning += [row for row, lies in zip(rows, rests.tolist(), strict=True) if not lies]
    if leaning:
        kinds[leaning], yaws_rad[leaning] = len(stencils.footprints) + np.arange(len(leaning)), 0.0
        stencils = Stencils([*stencils.footprints, *(footprint_of(parts[row], quats[row]) for row in leaning)])
    return stencils, kinds, yaws_rad


def convex_outline(points_m: ArrayLike) -> Array:
    """Return the corners of the convex hull of points in the plane [m], shape [n, 2], counter-clockwise: [k, 2]."""
    hull = shapely.convex_hull(shapely.multipoints(np.asarray(points_m, float)))
    return shapely.get_coordinates(shapely.orient_polygons(hull))[:-1]


def rectangle(center: complex, size_m: ArrayLike, yaw_rad: float) -> Outline:
    """Return a rectangle in the plane, its sides `size_m` along X and Y before it is turned by a yaw [rad]."""
    half = complex(*np.asarray(size_m, float)) / 2
    corners = np.array([-half, half.conjugate(), half, -half.conjugate()]) * cmath.rect(1.0, yaw_rad) + center
    return shapely.Polygon(corners.view(float).reshape(-1, 2))


def circle_about(outline: Outline) -> tuple[complex, float]:
    """Return centre and radius [m] of a circle about an outline."""
    corners = _points(outline)
    center = complex(corners.real.min() + corners.real.max(), corners.imag.min() + corners.imag.max()) / 2
    return center, float(np.abs(corners - center).max())


def gaps(outlines: Outline | Outlines, others: Sequence[Outline] | Outlines) -> Array:
    """Distances of one outline to others, or of outlines to as many others [m], shape [n]; zero where they overlap."""
    return shapely.distance(outlines, np.asarray(others, dtype=object))


def nearer(outlines: Outlines, others: Outlines, distance_m: float) -> NDArray[np.bool_]:
    """Tell which outlines lie nearer than a distance to as many others, shape [n]."""
    return shapely.dwithin(outlines, others, np.nextafter(distance_m, 0.0))
