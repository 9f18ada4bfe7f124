"""Frames, units and rotations: the conventions of the whole package, said once.

SI units, radians, Z up, right-handed, world frame unless a name says otherwise. Quaternions are **xyzw** (Isaac Lab
3.0's and Newton's order; USD's `Gf.Quat` is w first and is converted in `scenegen/usd/` alone). Poses are named by
direction: `pose_part_to_world` maps part coordinates to world coordinates. Colours are linear RGB, light is in physical
units.
Cameras look along their -Z with Y up, as in USD.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import AfterValidator

from scenegen.record import Real, Record

Array = NDArray[np.float64]

UNIT_TOLERANCE = 1e-5
"""How far a quaternion's norm may be from one; 32-bit rounding stays below 2e-7."""


def _unit_quaternion(quat: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    norm = math.sqrt(sum(v * v for v in quat))
    if abs(norm - 1) > UNIT_TOLERANCE:
        raise ValueError(f"{list(quat)} has norm {norm:.6g} - accepted: a unit quaternion (x, y, z, w), norm 1 ± 1e-5")
    x, y, z, w = quat
    lead = next(v for v in (w, z, y, x) if v != 0)
    return (-x + 0.0, -y + 0.0, -z + 0.0, -w + 0.0) if lead < 0 else quat


Vec2 = tuple[Real, Real]
Vec3 = tuple[Real, Real, Real]
Quat = Annotated[tuple[Real, Real, Real, Real], AfterValidator(_unit_quaternion)]
"""A rotation (x, y, z, w) of unit norm; of q and -q the one with w > 0 is kept."""
IDENTITY_QUAT = (0.0, 0.0, 0.0, 1.0)


class Pose(Record):
    """A rigid transform from a named frame to another one."""

    position_m: Vec3 = (0.0, 0.0, 0.0)
    """Origin of the inner frame, in the outer frame [m]."""
    quat_xyzw: Quat = IDENTITY_QUAT
    """Rotation of the inner frame in the outer frame, (x, y, z, w)."""

    @classmethod
    def of(cls, position_m: ArrayLike, quat_xyzw: ArrayLike = IDENTITY_QUAT) -> Self:
        """Build a pose from arrays; the quaternion is normalised.

        Args:
            position_m: Position [m], shape [3].
            quat_xyzw: Quaternion of any non-zero norm, shape [4].
        """
        quat = np.asarray(quat_xyzw, float)
        unit = quat / math.sqrt(quat @ quat)
        return cls(position_m=tuple(np.asarray(position_m, float).tolist()), quat_xyzw=tuple(unit.tolist()))

    @cached_property
    def position(self) -> Array:
        """Position [m], shape [3], read-only."""
        return _read_only(np.array(self.position_m))

    @cached_property
    def quat(self) -> Array:
        """Quaternion (x, y, z, w), shape [4], normalised to 64-bit precision, read-only."""
        quat = np.array(self.quat_xyzw)
        return _read_only(quat / math.sqrt(quat @ quat))

    @cached_property
    def rotation(self) -> Array:
        """Rotation matrix, shape [3, 3], read-only; columns are the inner frame's axes in the outer frame."""
        return _read_only(quat_to_matrix(self.quat))

    def apply(self, points: ArrayLike) -> Array:
        """Map points [m], shape [..., 3], from the inner to the outer frame."""
        return np.asarray(points, float) @ self.rotation.T + self.position

    def after(self, inner: Pose) -> Pose:
        """Compose: the pose that applies `inner` first, then this one."""
        return Pose.of(self.apply(inner.position), quat_multiply(self.quat, inner.quat))

    def inverse(self) -> Pose:
        """Return the pose from the outer frame back to the inner one."""
        return self._inverse

    @cached_property
    def _inverse(self) -> Pose:
        quat = quat_conjugate(self.quat)
        return Pose.of(-quat_to_matrix(quat) @ self.position, quat)


def _read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array


def quat_multiply(left: ArrayLike, right: ArrayLike) -> Array:
    """Compose rotations, `right` first. Shapes [..., 4], xyzw, broadcast."""
    a, b = np.asarray(left, float), np.asarray(right, float)
    x1, y1, z1, w1 = a.tolist() if a.ndim == 1 else np.moveaxis(a, -1, 0)
    x2, y2, z2, w2 = b.tolist() if b.ndim == 1 else np.moveaxis(b, -1, 0)
    product = (
        w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
        w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
        w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
        w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
    )
    return np.array(product) if a.ndim == b.ndim == 1 else np.stack(product, axis=-1)


def quat_conjugate(quat: ArrayLike) -> Array:
    """Invert unit quaternions, shape [..., 4], xyzw."""
    return np.asarray(quat, float) * np.array([-1.0, -1.0, -1.0, 1.0])


def quat_to_matrix(quat: ArrayLike) -> Array:
    """Rotation matrices, shape [..., 3, 3], of unit quaternions, shape [..., 4], xyzw."""
    quats = np.asarray(quat, float)
    x, y, z, w = quats.tolist() if quats.ndim == 1 else np.moveaxis(quats, -1, 0)
    entries = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    if quats.ndim == 1:
        return np.array(entries)
    return np.stack([np.stack(row, axis=-1) for row in entries], axis=-2)


def quat_from_matrix(matrix: ArrayLike) -> Array:
    """Quaternions, shape [..., 4], xyzw, of rotation matrices, shape [..., 3, 3] (Shepperd: the largest term leads)."""
    m = np.asarray(matrix, float)
    if m.ndim > 2:
        return _quats_from_matrices(m)
    candidates = np.array([m[0, 0], m[1, 1], m[2, 2], np.trace(m)])
    lead = int(np.argmax(candidates))
    if lead == 3:
        quat = np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], 1 + np.trace(m)])
    else:
        i, j, k = lead, (lead + 1) % 3, (lead + 2) % 3
        quat = np.empty(4)
        quat[i] = 1 + m[i, i] - m[j, j] - m[k, k]
        quat[j] = m[j, i] + m[i, j]
        quat[k] = m[k, i] + m[i, k]
        quat[3] = m[k, j] - m[j, k]
    return quat / np.linalg.norm(quat)


def _quats_from_matrices(m: Array) -> Array:
    """Four candidates for each matrix, each with another leading term; the best is taken."""
    x, y, z = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    xy, zx, yz = m[..., 1, 0] + m[..., 0, 1], m[..., 2, 0] + m[..., 0, 2], m[..., 2, 1] + m[..., 1, 2]
    wx, wy, wz = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    rows = ((1 + x - y - z, xy, zx, wx), (xy, 1 + y - z - x, yz, wy), (zx, yz, 1 + z - x - y, wz))
    quats = np.stack([np.stack(row, axis=-1) for row in (*rows, (wx, wy, wz, 1 + x + y + z))], axis=-2)
    lead = np.stack([x, y, z, x + y + z], axis=-1).argmax(axis=-1)
    best = np.take_along_axis(quats, lead[..., None, None], axis=-2)[..., 0, :]
    return best / np.sqrt((best * best).sum(axis=-1, keepdims=True))


def quat_about(axis: ArrayLike, angle_rad: ArrayLike) -> Array:
    """Rotation by an angle [rad], shape [...], about an axis, shape [..., 3]; result shape [..., 4], xyzw."""
    axis = np.asarray(axis, float)
    half = np.asarray(angle_rad, float)[..., None] / 2
    unit = axis / np.linalg.norm(axis, axis=-1, keepdims=True)
    return np.concatenate([unit * np.sin(half), np.cos(half) * np.ones_like(unit[..., :1])], axis=-1)


def quat_yaw(yaw_rad: ArrayLike) -> Array:
    """Rotation about +Z by a yaw [rad], shape [...]; result shape [..., 4], xyzw."""
    return quat_about(np.array([0.0, 0.0, 1.0]), yaw_rad)


def quat_between(a: ArrayLike, b: ArrayLike) -> Array:
    """Smallest rotation that turns direction `a` into direction `b`; shapes [3], result [4], xyzw."""
    u = np.asarray(a, float) / np.linalg.norm(a)
    v = np.asarray(b, float) / np.linalg.norm(b)
    if np.dot(u, v) < -1 + 1e-12:
        helper = np.eye(3)[int(np.argmin(np.abs(u)))]
        return quat_about(np.cross(u, helper), np.pi)
    quat = np.array([*np.cross(u, v), 1 + np.dot(u, v)])
    return quat / np.linalg.norm(quat)


def angle_between(a: ArrayLike, b: ArrayLike) -> Array:
    """Angle of the rotation from `a` to `b` [rad], in [0, π]; quaternions, shape [..., 4], xyzw, broadcast."""
    delta = quat_multiply(quat_conjugate(a), b)
    return 2 * np.arctan2(np.linalg.norm(delta[..., :3], axis=-1), np.abs(delta[..., 3]))


def look_at(eye_m: ArrayLike, target_m: ArrayLike, up: ArrayLike = (0.0, 0.0, 1.0)) -> Pose:
    """Pose of a camera (or light) at `eye_m` whose -Z points at `target_m`; +Y is as near to `up` as can be."""
    eye, target = np.asarray(eye_m, float), np.asarray(target_m, float)
    back = eye - target
    back /= np.linalg.norm(back)
    reference = np.asarray(up, float)
    if abs(np.dot(reference, back)) > 0.999:
        reference = np.array([0.0, 1.0, 0.0])
    right = np.cross(reference, back)
    right /= np.linalg.norm(right)
    return Pose.of(eye, quat_from_matrix(np.column_stack([right, np.cross(back, right), back])))
