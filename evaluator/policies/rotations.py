"""Rotations as policies write them: rotation vectors and six numbers; batched, quaternions xyzw."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scenegen.geometry import Array, quat_to_matrix


def rotvec_from_quat(quat: ArrayLike) -> Array:
    """Axis times angle [rad], shape [..., 3], of unit quaternions, shape [..., 4]; of the two turns the shorter one."""
    quats = np.asarray(quat, float)
    quats = np.where(quats[..., 3:] < 0, -quats, quats)
    sine = np.linalg.norm(quats[..., :3], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(sine, quats[..., 3:])
    return quats[..., :3] * np.where(sine > 1e-12, angle / np.maximum(sine, 1e-12), 2.0)


def quat_from_rotvec(rotvec: ArrayLike) -> Array:
    """Unit quaternions, shape [..., 4], of rotation vectors [rad], shape [..., 3]."""
    vectors = np.asarray(rotvec, float)
    half = np.linalg.norm(vectors, axis=-1, keepdims=True) / 2
    return np.concatenate([vectors * np.sinc(half / np.pi) / 2, np.cos(half)], axis=-1)


def rot6d_from_quat(quat: ArrayLike) -> Array:
    """The first two rows of the rotation matrix, shape [..., 6] (Zhou et al. 2019; rows, as GR00T has them)."""
    matrix = quat_to_matrix(quat)
    return matrix[..., :2, :].reshape(*matrix.shape[:-2], 6)


def quat_from_rot6d(rot6d: ArrayLike) -> Array:
    """Unit quaternions, shape [..., 4], of two rows that need not be quite orthonormal, shape [..., 6].

    Rows are made orthonormal by Gram and Schmidt; the quaternion is the eigenvector of the largest eigenvalue of
    Bar-Itzhack's matrix (2000, "New method for extracting the quaternion from a rotation matrix", eq. 8).
    """
    rows = np.asarray(rot6d, float)
    first = _unit(rows[..., :3])
    second = _unit(rows[..., 3:] - (rows[..., 3:] * first).sum(-1, keepdims=True) * first)
    m = np.stack([first, second, np.cross(first, second)], axis=-2)
    k = np.zeros((*m.shape[:-2], 4, 4))
    k[..., :3, :3] = m + np.swapaxes(m, -1, -2) - np.trace(m, axis1=-2, axis2=-1)[..., None, None] * np.eye(3)
    for axis, (i, j) in enumerate(((2, 1), (0, 2), (1, 0))):
        k[..., axis, 3] = k[..., 3, axis] = m[..., i, j] - m[..., j, i]
    k[..., 3, 3] = np.trace(m, axis1=-2, axis2=-1)
    quats = np.linalg.eigh(k)[1][..., -1]
    return np.where(quats[..., 3:] < 0, -quats, quats)


def _unit(vectors: Array) -> Array:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)
