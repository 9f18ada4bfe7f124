"""Mass, centre of mass and inertia of a closed mesh of uniform density: exact integrals over its tetrahedra."""

from __future__ import annotations

import numpy as np

from scenegen.geometry import Array, quat_from_matrix
from scenegen.parts.part import Faces, MassProperties
from scenegen.record import quantise

ALIGNED = 1e-4
"""Off-diagonal terms below this share of the largest moment are taken for rounding: the frame's axes are principal."""


def volume_and_center(vertices: Array, faces: Faces) -> tuple[float, Array]:
    """Volume [m³] and centroid [m], shape [3], of a closed, outward mesh."""
    corners = np.asarray(vertices, float)[faces]
    parts = np.linalg.det(corners) / 6
    return float(parts.sum()), (parts[:, None] * corners.sum(axis=1) / 4).sum(axis=0) / parts.sum()


def mass_properties(vertices: Array, faces: Faces, *, density_kg_m3: float) -> MassProperties:
    """Weigh a closed, outward mesh [m].

    The second moments of a tetrahedron with one corner at the origin are those of its corners: with s the sum of the
    three corners p_k, the integral of x xᵀ is volume / 20 · (s sᵀ + Σ p_k p_kᵀ).

    Principal axes come in a canonical order: the frame's own axes where they are principal, else by rising moment, each
    axis with its largest component positive, the last one completing a right-handed frame.
    """
    volume, center = volume_and_center(vertices, faces)
    corners = np.asarray(vertices, float)[faces] - center
    parts = np.linalg.det(corners) / 6
    sums = corners.sum(axis=1)
    second = np.einsum("t,ti,tj->ij", parts, sums, sums) + np.einsum("t,tki,tkj->ij", parts, corners, corners)
    second *= density_kg_m3 / 20
    moments, axes = _principal(np.trace(second) * np.eye(3) - second)
    return MassProperties(
        mass_kg=quantise(volume * density_kg_m3),
        center_of_mass_m=_triple(np.round(center, 9)),
        diagonal_inertia_kg_m2=_triple(moments),
        principal_axes_xyzw=_canonical(quat_from_matrix(axes)),
    )


def _principal(inertia: Array) -> tuple[Array, Array]:
    off_diagonal = inertia - np.diag(np.diag(inertia))
    if np.abs(off_diagonal).max() < ALIGNED * np.diag(inertia).max():
        return np.diag(inertia), np.eye(3)
    moments, axes = np.linalg.eigh((inertia + inertia.T) / 2)
    lead = axes[np.abs(axes).argmax(axis=0), np.arange(3)]
    axes = axes * np.where(lead < 0, -1.0, 1.0)
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    return moments, axes


def _canonical(quat: Array) -> tuple[float, float, float, float]:
    x, y, z, w = quat
    lead = next(v for v in (w, z, y, x) if v != 0)
    x, y, z, w = (quantise(float(np.copysign(1, lead) * v)) for v in quat)
    return x, y, z, w


def _triple(values: Array) -> tuple[float, float, float]:
    x, y, z = (quantise(float(v)) for v in values)
    return x, y, z
