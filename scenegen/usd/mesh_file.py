"""The triangles of any USD file, as plain arrays: what `scenegen parts add` takes from another tool's asset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pxr import Usd, UsdGeom

from scenegen.geometry import Array
from scenegen.usd.stage import open_stage
from scenegen.usd.untrusted import refuse_unsafe

Indices = NDArray[np.int64]


def read_mesh(path: Path) -> tuple[Array, Indices]:
    """Read all visible render meshes of a file, with transforms and units applied.

    Args:
        path: A USD file; nothing outside its folder is followed.

    Returns:
        Vertices [m], shape [n, 3], and triangles, shape [m, 3]; both empty where the file holds no mesh. Faces of more
        corners are cut into fans, and left-handed ones are turned over.

    Raises:
        UnsafeStage: The file breaks a rule for untrusted input.
        UnreadableStage: The file cannot be read.
    """
    refuse_unsafe(path, root=path.parent)
    stage: Any = open_stage(path)
    transforms = UsdGeom.XformCache()
    vertices: list[Array] = [np.zeros((0, 3))]
    faces: list[Indices] = [np.zeros((0, 3), np.int64)]
    count = 0
    for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
        if not prim.IsA(UsdGeom.Mesh) or _is_guide(prim):
            continue
        points, triangles = _mesh(UsdGeom.Mesh(prim), transforms.GetLocalToWorldTransform(prim))
        vertices.append(points)
        faces.append(triangles + count)
        count += len(points)
    unit_m: Any = UsdGeom.GetStageMetersPerUnit(stage)
    return np.concatenate(vertices) * unit_m, np.concatenate(faces)


def _is_guide(prim: Any) -> bool:
    imageable: Any = UsdGeom.Imageable(prim)
    purpose = imageable.ComputePurpose()
    return purpose in (UsdGeom.Tokens.guide, UsdGeom.Tokens.proxy) or imageable.ComputeVisibility() == "invisible"


def _mesh(mesh: Any, to_world: Any) -> tuple[Array, Indices]:
    points = np.asarray(mesh.GetPointsAttr().Get() or np.zeros((0, 3)), np.float64).reshape(-1, 3)
    matrix = np.asarray(to_world, np.float64)  # row vectors: p' = p M
    corners = np.asarray(mesh.GetFaceVertexIndicesAttr().Get() or [], np.int64)
    counts = np.asarray(mesh.GetFaceVertexCountsAttr().Get() or [], np.int64)
    starts = np.cumsum(counts) - counts
    fans = [
        (corners[start], corners[start + step], corners[start + step + 1])
        for start, count in zip(starts, counts, strict=True)
        for step in range(1, count - 1)
    ]
    triangles: Indices = np.array(fans, np.int64).reshape(-1, 3)
    left_handed = mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded
    if left_handed != (np.linalg.det(matrix[:3, :3]) < 0):
        triangles = triangles[:, ::-1]
    return points @ matrix[:3, :3] + matrix[3, :3], triangles
