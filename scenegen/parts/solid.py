"""Solids in millimetres, as drawings give them: polygons, prisms, turned profiles and swept sections.

A solid is a `manifold3d.Manifold`; every function returns a closed one. Regular polygons have a flat facing +X, so that
hexagons and twelve-sided shanks share their flats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from manifold3d import CrossSection, Manifold
from numpy.typing import ArrayLike, NDArray

from scenegen.geometry import Array

SEGMENTS = 32
"""Chords of a full circle in render meshes."""


def polygon(sides: int, apothem_mm: float) -> Array:
    """Corners of a regular polygon around the origin, one flat facing +X.

    Args:
        sides: Number of sides.
        apothem_mm: Distance of the sides from the centre [mm].

    Returns:
        Corners [mm], counter-clockwise, shape [sides, 2].
    """
    angles = (np.arange(sides) + 0.5) * 2 * np.pi / sides
    return apothem_mm / np.cos(np.pi / sides) * np.column_stack([np.cos(angles), np.sin(angles)])


def circle(radius_mm: float, *, center_mm: Sequence[float] = (0.0, 0.0), segments: int = SEGMENTS) -> Array:
    """Corners of a circle's inscribed polygon [mm], counter-clockwise, shape [segments, 2]."""
    angles = np.arange(segments) * 2 * np.pi / segments
    return radius_mm * np.column_stack([np.cos(angles), np.sin(angles)]) + np.asarray(center_mm, float)


def flat(outline_mm: ArrayLike) -> CrossSection:
    """Fill an outline [mm], counter-clockwise, shape [n, 2]."""
    points: Any = np.asarray(outline_mm, float)  # manifold3d's stubs know arrays of one fixed type alone
    return CrossSection([points])


def convex_outline(points_mm: ArrayLike) -> Array:
    """Corners of the convex hull of points in the plane [mm], counter-clockwise, shape [k, 2]."""
    points: Any = np.asarray(points_mm, float)
    return np.array(CrossSection.hull_points(points).to_polygons()[0], np.float64)


def hull_rows(points: ArrayLike) -> NDArray[np.intp]:
    """Return the rows, ascending, of the points in space, shape [n, 3], that span their convex hull, in any unit."""
    corners: Any = np.ascontiguousarray(points, float)
    hull = {tuple(corner) for corner in Manifold.hull_points(corners).to_mesh64().vert_properties[:, :3].tolist()}
    first = {tuple(corner): row for row, corner in reversed(list(enumerate(corners.tolist())))}
    return np.array(sorted(first[corner] for corner in hull), np.intp)


def prism(outline_mm: ArrayLike, bottom_mm: float, top_mm: float) -> Manifold:
    """Extrude an outline [mm], shape [n, 2], along Z between two heights [mm]."""
    return flat(outline_mm).extrude(top_mm - bottom_mm).translate([0.0, 0.0, bottom_mm])


def turned(profile_mm: ArrayLike, *, segments: int = SEGMENTS) -> Manifold:
    """Turn a closed profile about Z.

    Args:
        profile_mm: Corners (radius, height) [mm], counter-clockwise with the radius to the right, shape [n, 2].
        segments: Chords of the full circle.
    """
    return flat(profile_mm).revolve(segments)


def swept(section_mm: ArrayLike, path: Callable[[Array], tuple[Array, Array, Array]], *, steps: int) -> Manifold:
    """Sweep an outline along a curve.

    Args:
        section_mm: Outline [mm], counter-clockwise, shape [n, 2].
        path: Maps parameters in [0, 1], shape [k], to points on the curve [mm] and to the unit directions of the
            section's two axes there, each of shape [k, 3]; first axis x second axis points along the curve.
        steps: Number of pieces along the curve.
    """
    straight = flat(section_mm).extrude(1.0, n_divisions=steps - 1)

    def bend(points: Any) -> Array:
        center, first, second = path(points[:, 2])
        return center + points[:, :1] * first + points[:, 1:2] * second

    return straight.warp_batch(bend)


def countersunk_bore(radius_mm: float, bottom_mm: float, top_mm: float, chamfer_mm: float) -> Manifold:
    """Return the solid to take away for a through hole with a 45 degree chamfer at both ends."""
    wide, over = radius_mm + chamfer_mm, 1.0
    profile = [
        (0.0, bottom_mm - over),
        (wide, bottom_mm - over),
        (wide, bottom_mm),
        (radius_mm, bottom_mm + chamfer_mm),
        (radius_mm, top_mm - chamfer_mm),
        (wide, top_mm),
        (wide, top_mm + over),
        (0.0, top_mm + over),
    ]
    return turned(profile)
