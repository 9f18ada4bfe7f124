"""From a part at rest to the area that it covers: exact outlines of its colliders, seen from above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from scenegen.geometry import Array, quat_conjugate, quat_multiply, quat_to_matrix
from scenegen.parts.part import Part

COLLINEAR_M = 1e-7
"""Corners that lie nearer than this to their neighbours' line are dropped [m]."""

YAW_TOLERANCE = 2e-3
"""How far a part may lean and still count as resting in a stable pose [rad]."""

Geometry = shapely.Geometry


@dataclass(frozen=True, eq=False)
class Footprint:
    """What a part in one orientation covers of the plane below it.

    All coordinates are in the plane [m], from the part frame's origin, at the orientation's own yaw.
    """

    outline: Geometry
    """Union of the projected convex colliders; holes stay open."""
    corners: Array
    """All corners of the outline, shape [n, 2]."""
    hull: Array
    """Corners of the outline's convex hull, shape [k, 2]."""
    center: Array
    """Centre of a small circle about the outline, shape [2]."""
    radius_m: float
    """Radius of that circle [m]."""
    low_m: float
    """Lowest collider corner above the part frame's origin [m]; negative where it lies below."""
    high_m: float
    """Highest collider corner above the part frame's origin [m]."""

    def at(self, xy: ArrayLike, yaw_rad: float) -> Geometry:
        """Return the outline turned by a yaw [rad] and moved to `xy` [m], shape [2]."""
        cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
        moved = np.array([self.outline], dtype=object)
        shapely.set_coordinates(moved, self.corners @ np.array([[cos, sin], [-sin, cos]]) + np.asarray(xy, float))
        return moved[0]


def footprint_of(part: Part, quat_xyzw: ArrayLike) -> Footprint:
    """Project a part's colliders onto the plane.

    Args:
        part: The part.
        quat_xyzw: Rotation of its frame, shape [4].
    """
    matrix = quat_to_matrix(np.asarray(quat_xyzw, float)).T
    hulls = [shapely.multipoints((c.vertices @ matrix)[:, :2]).convex_hull for c in part.colliders]
    heights = part.collision_vertices @ matrix[:, 2]
    return _measured(shapely.simplify(shapely.union_all(hulls), COLLINEAR_M), float(heights.min()), float(heights.max()))


def rectangle(center: ArrayLike, size_m: ArrayLike, yaw_rad: float) -> Geometry:
    """Return a rectangle in the plane, its sides `size_m` along X and Y before it is turned by a yaw [rad]."""
    corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]) * np.asarray(size_m, float)
    cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
    return shapely.polygons(corners @ np.array([[cos, sin], [-sin, cos]]) + np.asarray(center, float))


def _measured(outline: Geometry, low_m: float, high_m: float) -> Footprint:
    hull = shapely.get_coordinates(shapely.convex_hull(outline))[:-1]
    center = shapely.get_coordinates(shapely.centroid(shapely.minimum_bounding_circle(outline)))[0]
    radius_m = float(np.linalg.norm(hull - center, axis=1).max())
    return Footprint(outline, shapely.get_coordinates(outline), hull, center, radius_m, low_m, high_m)


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
    stable = np.array([pose.quat_xyzw for pose in part.stable_poses])
    delta = quat_multiply(np.asarray(quat_xyzw, float), quat_conjugate(stable))
    lean = 2 * np.hypot(delta[:, 0], delta[:, 1])
    best = int(np.argmin(lean))
    if lean[best] > YAW_TOLERANCE:
        return None
    return best, float(2 * np.arctan2(delta[best, 2], delta[best, 3]))


def footprint_at(part: Part, quat_xyzw: ArrayLike) -> tuple[Footprint, float]:
    """Return the footprint of a part in any orientation and the yaw [rad] at which to lay it; cached where it rests."""
    found = resting(part, quat_xyzw)
    if found is None:
        return footprint_of(part, quat_xyzw), 0.0
    return stable_footprints(part)[found[0]], found[1]


class Stencils:
    """Some footprints as arrays, so that many candidates are tried at once."""

    def __init__(self, footprints: Sequence[Footprint]) -> None:
        self.footprints = tuple(footprints)
        most = max(len(f.hull) for f in self.footprints)
        self.hulls = np.stack([np.pad(f.hull, ((0, most - len(f.hull)), (0, 0)), mode="edge") for f in self.footprints])
        """Hull corners, the last one repeated, shape [kinds, corners, 2]."""
        self.centers = np.stack([f.center for f in self.footprints])
        self.radii_m = np.array([f.radius_m for f in self.footprints])

    @cached_property
    def widest_m(self) -> float:
        """Radius of the largest circle [m]."""
        return float(self.radii_m.max())

    def circles(self, kinds: NDArray[np.intp], xy: Array, cos: Array, sin: Array) -> Array:
        """Centres of the circles about candidates [m], shape [..., 2].

        Args:
            kinds: Index of each candidate's footprint, shape [...].
            xy: Where its part frame's origin lies [m], shape [..., 2].
            cos: Cosine of its yaw, shape [...].
            sin: Sine of its yaw, shape [...].
        """
        x, y = np.moveaxis(self.centers[kinds], -1, 0)
        return xy + np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)

    def inside(self, kinds: NDArray[np.intp], xy: Array, cos: Array, sin: Array, half_m: Array) -> NDArray[np.bool_]:
        """Tell which candidates lie wholly within ±`half_m`, shape [2], of the origin; arguments as for `circles`."""
        x, y = np.moveaxis(self.hulls[kinds], -1, 0)
        across = np.abs(cos * x - sin * y + xy[..., 0]).max(axis=0) <= half_m[0]
        return across & (np.abs(sin * x + cos * y + xy[..., 1]).max(axis=0) <= half_m[1])


def gaps(outline: Geometry, others: Sequence[Geometry]) -> Array:
    """Distances from an outline to others [m], shape [n]; zero where they touch or overlap."""
    return shapely.distance(outline, np.array(others, dtype=object))
