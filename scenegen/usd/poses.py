"""Poses of prims, whatever transform ops put them there: what other tools write is accepted if it is rigid."""

from __future__ import annotations

import math

import numpy as np
from pxr import Gf, Usd, UsdGeom, Vt

from scenegen.geometry import Array, Pose, quat_from_matrix
from scenegen.usd.shared_prims import POSE_OPS
from scenegen.usd.stage import PrimView

SCALE_TOLERANCE = 1e-4
"""How far a scale may be from one: other tools accumulate rounding in matrices."""
_PLAIN = Vt.TokenArray(POSE_OPS)


def pose_of(view: PrimView) -> Pose:
    """Return the pose of a prim in the world.

    Raises:
        UnreadableStage: The prim is scaled, sheared or mirrored.
    """
    if _is_plain(view.prim):
        with view.building():
            return Pose.from_data({"position_m": view.vector(POSE_OPS[0], 3), "quat_xyzw": view.quat_xyzw(POSE_OPS[1])})
    rotation, position, scale = _decomposed(view)
    if max(abs(one - 1) for one in scale) > SCALE_TOLERANCE:
        shown = ", ".join(f"{one:.6g}" for one in scale)
        raise view.fail(f"is scaled by ({shown}) - accepted: scale 1, since parts and fixtures are of one size")
    with view.building():
        return Pose.of(position, quat_from_matrix(rotation))


def box_of(view: PrimView) -> tuple[Pose, Array]:
    """Return pose and edge lengths [m], shape [3], of a `Cube`; the pose is relative to its root's frame.

    Raises:
        UnreadableStage: The prim is sheared or mirrored.
    """
    edge = view.number("size")
    operations = UsdGeom.Xformable(view.prim).GetXformOpOrderAttr().Get() or ()
    if tuple(operations) == (*POSE_OPS, "xformOp:scale") and _has_plain_parents(view.prim.GetParent()):
        with view.building():
            pose = Pose.from_data({"position_m": view.vector(POSE_OPS[0], 3), "quat_xyzw": view.quat_xyzw(POSE_OPS[1])})
        return pose, np.abs(view.vector("xformOp:scale", 3)) * edge
    rotation, position, scale = _decomposed(view)
    with view.building():
        return Pose.of(position, quat_from_matrix(rotation)), scale * edge


def _is_plain(prim: Usd.Prim) -> bool:
    """True if the prim has exactly our two ops and no parent moves it."""
    if prim.GetAttribute("xformOpOrder").Get() != _PLAIN:
        return False
    orient = prim.GetAttribute(POSE_OPS[1]).Get()
    return orient is not None and abs(orient.GetLength() - 1) <= 1e-5 and _has_plain_parents(prim.GetParent())


def _has_plain_parents(prim: Usd.Prim) -> bool:
    while prim and not prim.IsPseudoRoot():
        if prim.HasAttribute("xformOpOrder") and prim.GetAttribute("xformOpOrder").Get():
            return False
        prim = prim.GetParent()
    return True


def _decomposed(view: PrimView) -> tuple[Array, Array, Array]:
    """Split a prim's transform into rotation, shape [3, 3], position [m], shape [3], and scale, shape [3]."""
    xformable = UsdGeom.Xformable(view.prim)
    if not xformable:
        raise view.fail(f"is a {view.prim.GetTypeName() or 'prim without type'} - accepted: a prim with a transform")
    matrix: Gf.Matrix4d = UsdGeom.XformCache(Usd.TimeCode.Default()).GetLocalToWorldTransform(view.prim)
    # USD multiplies row vectors: the transposed matrix acts on columns.
    linear = np.array(matrix)[:3, :3].T
    position = np.array(matrix)[3, :3]
    if not (np.isfinite(linear).all() and np.isfinite(position).all()):
        raise view.fail("its transform is not finite - accepted: finite numbers")
    scale = np.linalg.norm(linear, axis=0)
    if scale.min() < 1e-9:
        raise view.fail("its transform flattens it to nothing - accepted: a rigid transform")
    rotation = linear / scale
    if not math.isclose(float(np.linalg.det(rotation)), 1.0, abs_tol=SCALE_TOLERANCE):
        raise view.fail("its transform mirrors or shears it - accepted: a rigid transform")
    return rotation, position, scale
