"""A layout's items as arrays: rotations, positions and hull corners in the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from scenegen.geometry import Array, quat_to_matrix
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Part
from scenegen.parts.solid import hull_rows
from scenegen.scenario import Item


@lru_cache(maxsize=1024)
def hull_corners(part: Part) -> Array:
    """Corners of the convex hull of a part's colliders, in its frame [m], shape [k, 3]."""
    points = part.collision_vertices
    return points[hull_rows(points)]


@lru_cache(maxsize=1024)
def stable_ups(part: Part) -> Array:
    """The vertical in the part's frame in each of its stable poses, shape [k, 3]."""
    return quat_to_matrix(np.array([pose.quat_xyzw for pose in part.stable_poses]).reshape(-1, 4))[:, 2]


@lru_cache(maxsize=1024)
def stable_heights(part: Part) -> Array:
    """Height of the part frame's origin above the floor in each of its stable poses [m], shape [k]."""
    return np.array([pose.height_m for pose in part.stable_poses])


@dataclass(frozen=True, eq=False)
class _Stock:
    """What the poses of some parts need, as arrays."""

    corners: Array
    """Hull corners of all parts [m], their frames, shape [all corners, 3]."""
    counts: np.ndarray
    """Number of each part's hull corners, shape [parts]."""
    mass_centers: Array
    """Centres of mass [m], the parts' frames, shape [parts, 3]."""
    ups: Array
    """As `stable_ups`, the first one repeated where a part has fewer stable poses than another, shape [parts, k, 3]."""
    heights_m: Array
    """As `stable_heights`, likewise, shape [parts, k]."""


@lru_cache(maxsize=1024)
def _stock(parts: tuple[Part, ...]) -> _Stock:
    most = max(len(part.stable_poses) for part in parts)
    rows = [np.resize(np.r_[np.arange(len(part.stable_poses)), np.zeros(most, int)], most) for part in parts]
    hulls = [hull_corners(part) for part in parts]
    return _Stock(
        corners=np.concatenate(hulls),
        counts=np.array([len(hull) for hull in hulls]),
        mass_centers=np.array([part.mass.center_of_mass_m for part in parts]),
        ups=np.stack([stable_ups(part)[row] for part, row in zip(parts, rows, strict=True)]),
        heights_m=np.stack([stable_heights(part)[row] for part, row in zip(parts, rows, strict=True)]),
    )


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
    mass_centers: Array
    """Centres of mass, with the parts' own mass [m], world frame, shape [n, 3]."""
    stable_ups: Array
    """The vertical in each item's frame in the stable poses of its part, some more than once, shape [n, k, 3]."""
    stable_heights_m: Array
    """Height of the frame's origin above the floor in those poses [m], shape [n, k]."""

    @classmethod
    def of(cls, items: Sequence[Item], catalogue: Catalogue) -> Posed:
        """Place items.

        Args:
            items: Items of a layout, at least one.
            catalogue: Their parts.
        """
        parts = tuple(catalogue[item.part] for item in items)
        distinct = {part: index for index, part in enumerate(dict.fromkeys(parts))}
        stock, kinds = _stock(tuple(distinct)), np.array([distinct[part] for part in parts])
        quats = np.array([item.pose_to_world.quat_xyzw for item in items])
        rotations = quat_to_matrix(quats / np.linalg.norm(quats, axis=1, keepdims=True))
        positions = np.array([item.pose_to_world.position_m for item in items])
        counts = stock.counts[kinds]
        starts = np.cumsum(counts) - counts
        owner = np.repeat(np.arange(len(parts)), counts)
        shift = (np.cumsum(stock.counts) - stock.counts)[kinds] - starts
        local = stock.corners[np.arange(len(owner)) + shift[owner]]
        return cls(
            items=tuple(items),
            parts=parts,
            rotations=rotations,
            positions=positions,
            corners=np.einsum("kij,kj->ki", rotations[owner], local) + positions[owner],
            owner=owner,
            starts=starts,
            mass_centers=np.einsum("nij,nj->ni", rotations, stock.mass_centers[kinds]) + positions,
            stable_ups=stock.ups[kinds],
            stable_heights_m=stock.heights_m[kinds],
        )

    def most(self, values: Array) -> Array:
        """Largest value over each item's corners; values of shape [all corners, ...], result of shape [n, ...]."""
        return np.maximum.reduceat(values, self.starts, axis=0)

    def least(self, values: Array) -> Array:
        """Smallest value over each item's corners; values of shape [all corners, ...], result of shape [n, ...]."""
        return np.minimum.reduceat(values, self.starts, axis=0)


def leans_rad(posed: Posed) -> Array:
    """Angle of each item from its nearest stable pose [rad], shape [n]."""
    cosines = np.einsum("nkj,nj->nk", posed.stable_ups, posed.rotations[:, 2]).max(axis=1)
    return np.arccos(np.clip(cosines, -1, 1))
