"""How a part comes to rest on a plane: the stable faces of its colliders' hull and how often it lands on each.

The probabilities are quasi-static: a part that is set down in a random orientation first touches with the face that its
orientation points at, then topples over edges, always downhill, until its centre of mass is above the face it stands on
(Goldberg, Mirtich et al., "Part pose statistics", 1999). A real drop brings speed along, which shakes parts out of tall
poses; `SETTLING` corrects for that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scenegen.geometry import Array, quat_between, quat_to_matrix
from scenegen.parts.mesh import M_PER_MM, convex_hull, face_normals
from scenegen.parts.part import Faces, StablePose
from scenegen.parts.solid import convex_outline
from scenegen.record import quantise

LEAST_PROBABILITY = 0.008
LEAST_MARGIN_RAD = np.deg2rad(5.0)
"""A pose that tips over when turned by less than this does not count as stable."""
SETTLING = 2.0
"""A pose twice as high as the lowest one, or higher, ends drops this many times more rarely than quasi-statics says.

Fitted to 150 simulated drops from 50 mm each of a nut, bolt, washer, bearing, pin, bracket and bushing, whose odds of
low against tall poses were 1.9 to 2.3 times the quasi-static ones.
"""
PLANE_TOLERANCE_M = 2e-6
INSIDE_TOLERANCE_M = 2e-7
SAME_FACE_RAD = np.deg2rad(0.5)
DOWN = np.array([0.0, 0.0, -1.0])


@dataclass(frozen=True, eq=False)
class Rest:
    """A face of the hull that a part can stand on."""

    normal: Array
    """Outward unit normal in the part's frame, shape [3]."""
    probability: float
    margin_rad: float
    """Least tilt that makes the part topple off the face [rad]."""


def stable_poses(points: Array, center_of_mass_m: Array) -> tuple[StablePose, ...]:
    """Find the ways in which a part rests, the likeliest first.

    Args:
        points: Corners of all colliders, in the part's frame [m], shape [k, 3].
        center_of_mass_m: In the part's frame [m], shape [3].
    """
    rests = resting_faces(points, center_of_mass_m)
    firm = [rest for rest in rests if rest.margin_rad >= LEAST_MARGIN_RAD] or rests
    heights = np.array([(points @ rest.normal).max() - center_of_mass_m @ rest.normal for rest in firm])
    shares = np.array([rest.probability for rest in firm])
    shares *= SETTLING ** -np.minimum(heights / heights.min() - 1, 1)
    shares = np.where(shares >= LEAST_PROBABILITY * shares.sum(), shares, 0)
    shares /= shares.sum()
    order = np.argsort(-np.round(shares, 6), kind="stable")
    return tuple(_pose(firm[i].normal, float(shares[i]), points) for i in order if shares[i] > 0)


def resting_faces(points: Array, center_of_mass_m: Array) -> list[Rest]:
    """Find all faces that the hull of `points` can stand on, the likeliest first; probabilities sum to one."""
    center = np.asarray(center_of_mass_m, float)
    vertices, faces = convex_hull(points)
    normals = face_normals(vertices, faces)
    across = _neighbours(faces)
    facets = _facets(normals, across)
    final = _topple(vertices - center, faces, across, facets)
    landing = solid_angles(vertices - center, faces) / (4 * np.pi)
    areas = np.linalg.norm(_edge_cross(vertices, faces), axis=1)
    rests = []
    for facet in np.unique(final):
        members = np.flatnonzero(facets == facet)
        normal = normals[members[np.argmax(areas[members])]]
        rests.append(Rest(normal, float(landing[final == facet].sum()), _margin(vertices, center, normal)))
    return sorted(rests, key=lambda rest: (-round(rest.probability, 6), *np.round(rest.normal, 4).tolist()))


def solid_angles(vertices: Array, faces: Faces) -> Array:
    """Solid angles [sr], shape [m], under which the origin sees triangles (van Oosterom and Strackee, 1983)."""
    a, b, c = np.moveaxis(vertices[faces] / np.linalg.norm(vertices[faces], axis=2, keepdims=True), 1, 0)
    dots = [np.einsum("ij,ij->i", u, v) for u, v in ((a, b), (b, c), (c, a))]
    return 2 * np.arctan2(np.linalg.det(np.stack([a, b, c], axis=1)), 1 + sum(dots))


def _facets(normals: Array, across: Faces) -> Faces:
    """Join triangles that share a plane; returns the smallest triangle index of each one's facet, shape [m]."""
    facet = np.arange(len(normals), dtype=np.int32)
    flat = np.einsum("fk,fek->fe", normals, normals[across]) > np.cos(SAME_FACE_RAD)
    while True:
        joined = np.minimum(facet, np.where(flat, facet[across], facet[:, None]).min(axis=1))
        if np.array_equal(joined, facet):
            return facet
        facet = joined


def _topple(vertices: Array, faces: Faces, across: Faces, facets: Faces) -> Faces:
    """Follow every triangle to the facet where toppling ends; the centre of mass is the origin.

    Returns:
        The final facet, named by its smallest triangle index, shape [m].
    """
    corners = vertices[faces]
    edges = np.roll(corners, -1, axis=1) - corners
    inward = np.cross(face_normals(vertices, faces)[:, None, :], edges)
    inward /= np.linalg.norm(inward, axis=2, keepdims=True)
    inside = -np.einsum("fek,fek->fe", inward, corners)
    beyond = facets[across]
    inside[beyond == facets[:, None]] = np.inf
    step = facets.copy()
    for facet in np.unique(facets):
        members = np.flatnonzero(facets == facet)
        row, edge = np.unravel_index(inside[members].argmin(), (len(members), 3))
        if inside[members[row], edge] < -INSIDE_TOLERANCE_M:
            step[members] = beyond[members[row], edge]
    for _ in range(len(faces).bit_length()):
        step = step[step]
    return step


def _neighbours(faces: Faces) -> Faces:
    """Return the face across each edge (0-1, 1-2, 2-0), shape [m, 3]."""
    owner = {(int(f[i]), int(f[i - 2])): index for index, f in enumerate(faces) for i in range(3)}
    return np.array([[owner[(int(f[i - 2]), int(f[i]))] for i in range(3)] for f in faces], np.int32)


def _margin(vertices: Array, center: Array, normal: Array) -> float:
    heights = (vertices - center) @ normal
    support = vertices[heights > heights.max() - PLANE_TOLERANCE_M] - center
    turn = quat_to_matrix(quat_between(normal, DOWN))
    corners = (support @ turn.T)[:, :2]
    ring = convex_outline(corners / M_PER_MM) * M_PER_MM
    sides = np.roll(ring, -1, axis=0) - ring
    depth = (sides[:, 1] * ring[:, 0] - sides[:, 0] * ring[:, 1]) / np.linalg.norm(sides, axis=1)
    return float(np.arctan2(depth.min(), heights.max()))


def _edge_cross(vertices: Array, faces: Faces) -> Array:
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    return np.cross(b - a, c - a)


def _pose(normal: Array, probability: float, points: Array) -> StablePose:
    x, y, z, w = (quantise(float(v)) for v in np.round(quat_between(normal, DOWN), 9))
    unit = np.array([x, y, z, w]) / np.linalg.norm([x, y, z, w])
    lowest = float((np.asarray(points) @ quat_to_matrix(unit).T)[:, 2].min())
    return StablePose(quat_xyzw=(x, y, z, w), height_m=quantise(-lowest), probability=quantise(probability))
