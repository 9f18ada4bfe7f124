"""From eight corners to a box with a pose and sizes, and back."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations, product

import numpy as np

from scenegen.errors import InvalidRecord
from scenegen.geometry import Array, Pose, quat_from_matrix

CORNERS = np.array(list(product((-0.5, 0.5), repeat=3)))
"""Corners of the unit cube, shape [8, 3]."""
BOX_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
     [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]], np.int32
)  # fmt: skip
"""Triangles of the unit cube over `CORNERS`, outward, shape [12, 3]."""


@dataclass(frozen=True)
class OrientedBox:
    """A cuboid."""

    pose: Pose
    """Centre and axes in the part's frame."""
    size_m: tuple[float, float, float]
    """Edge lengths along its axes [m]."""


def oriented_box(corners: Array) -> OrientedBox:
    """Find the box of eight corners in any order; of its equal descriptions the one that is turned the least.

    Args:
        corners: Positions [m], shape [8, 3].

    Raises:
        InvalidRecord: The points are not the corners of a cuboid.
    """
    edges = corners[1:] - corners[0] if len(corners) == 8 else np.empty((0, 3))
    diagonal = corners.mean(axis=0) * 2 - corners[0] * 2
    tolerance = 1e-4 * float(np.linalg.norm(diagonal))
    for triple in combinations(edges, 3):
        axes = np.array(triple)
        lengths = np.linalg.norm(axes, axis=1)
        skew = axes @ axes.T - np.diag(lengths**2)
        if np.abs(skew).max() <= tolerance * lengths.max() and np.abs(axes.sum(axis=0) - diagonal).max() <= tolerance:
            rotation, size = _least_turned((axes / lengths[:, None]).T, lengths)
            return OrientedBox(Pose.of(corners.mean(axis=0), quat_from_matrix(rotation)), tuple(size.tolist()))
    raise InvalidRecord("collider", ["vertices: not the corners of a box - accepted: eight corners of a cuboid"])


def _least_turned(axes: Array, lengths: Array) -> tuple[Array, Array]:
    """Order and sign the axes (columns) so that the rotation is proper and its trace greatest."""
    best = max(permutations(range(3)), key=lambda order: float(np.abs(np.diagonal(axes[:, list(order)])).sum()))
    rotation = axes[:, list(best)]
    rotation = rotation * np.where(np.diagonal(rotation) < 0, -1.0, 1.0)
    if np.linalg.det(rotation) < 0:
        rotation[:, int(np.argmin(np.diagonal(rotation)))] *= -1
    return rotation, lengths[list(best)]
