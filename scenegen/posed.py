"""A layout's items as arrays: rotations, positions and hull corners in the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.spatial import ConvexHull

from scenegen.geometry import Array, quat_to_matrix
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Part
from scenegen.scenario import Item


@lru_cache(maxsize=1024)
def hull_corners(part: Part) -> Array:
    """Corners of the convex hull of a part's colliders, in its frame [m], shape [k, 3]."""
    points = part.collision_vertices
    return points[np.sort(ConvexHull(points).vertices)]


@lru_cache(maxsize=1024)
def stable_ups(part: Part) -> Array:
    """The vertical in the part's frame in each of its stable poses, shape [k, 3]."""
    return quat_to_matrix(np.array([pose.quat_xyzw for pose in part.stable_poses]).reshape(-1, 4))[:, 2]


@lru_cache(maxsize=1024)
def stable_heights(part: Part) -> Array:
    """Height of the part frame's origin above the floor in each of its stable poses [m], shape [k]."""
    return np.array([pose.height_m for pose in part.stable_poses])


@dataclass(frozen=True, eq=False)
class Posed:
    """Items where they lie; corners of all items in one array."""

    items: tuple[Item, ...]
    parts: tuple[Part, ...]
    rotations: Array
    """From the parts' frames to the world, shape [n, 3, 3]."""
    positions: Array
    """Origins of the parts' frames [m], world frame, shape [n, 3]."""
    corners: Array
    """Hull corners [m], world frame, shape [all corners, 3]."""
    owner: np.ndarray
    """Index of the item that each corner belongs to, shape [all corners]."""
    starts: np.ndarray
    """Index of each item's first corner, shape [n]."""

    @classmethod
    def of(cls, items: Sequence[Item], catalogue: Catalogue) -> Posed:
        """Place items.

        Args:
            items: Items of a layout, at least one.
            catalogue: Their parts.
        """
        parts = tuple(catalogue[item.part] for item in items)
        quats = np.array([item.pose_to_world.quat_xyzw for item in items])
        rotations = quat_to_matrix(quats / np.linalg.norm(quats, axis=1, keepdims=True))
        positions = np.array([item.pose_to_world.position_m for item in items])
        hulls = [hull_corners(part) for part in parts]
        counts = np.array([len(hull) for hull in hulls])
        owner = np.repeat(np.arange(len(hulls)), counts)
        corners = np.einsum("kij,kj->ki", rotations[owner], np.concatenate(hulls)) + positions[owner]
        return cls(tuple(items), parts, rotations, positions, corners, owner, np.cumsum(counts) - counts)

    def most(self, values: Array) -> Array:
        """Largest value over each item's corners; values of shape [all corners, ...], result of shape [n, ...]."""
        return np.maximum.reduceat(values, self.starts, axis=0)

    def least(self, values: Array) -> Array:
        """Smallest value over each item's corners; values of shape [all corners, ...], result of shape [n, ...]."""
        return np.minimum.reduceat(values, self.starts, axis=0)

    def mass_centers(self) -> Array:
        """Centres of mass, with the parts' own mass, world frame [m], shape [n, 3]."""
        centers = np.array([part.mass.center_of_mass_m for part in self.parts])
        return np.einsum("nij,nj->ni", self.rotations, centers) + self.positions


def leans_rad(posed: Posed) -> Array:
    """Angle of each item from its nearest stable pose [rad], shape [n]."""
    cosines = [
        float((stable_ups(part) @ up).max()) for part, up in zip(posed.parts, posed.rotations[:, 2], strict=True)
    ]
    return np.arccos(np.clip(cosines, -1, 1))
