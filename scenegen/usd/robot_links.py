"""Read a robot's USD file as triangles: what is seen of its links, and how joints carry one link on another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from pxr import Gf, Usd, UsdGeom, UsdPhysics

from scenegen.errors import UnreadableStage
from scenegen.geometry import Array, Pose
from scenegen.imaging.robot_body import Link, RobotBody
from scenegen.usd.boxes import BOX_FACES, CORNERS


def robot_body(file: Path) -> RobotBody:
    """Read what a robot's file shows.

    Raises:
        UnreadableStage: It cannot be opened, or shows nothing.
    """
    stage = Usd.Stage.Open(str(file)) if file.exists() else None
    if stage is None:
        raise UnreadableStage(str(file), "/", "it cannot be opened as USD")
    found = _Reader(stage).links()
    if not any(len(link.triangles) for link in found):
        raise UnreadableStage(str(file), "/", "its links show nothing")
    return RobotBody(tuple(found))


class _Reader:
    """Reads the links of a stage, carriers first."""

    def __init__(self, stage: Usd.Stage) -> None:
        self._stage, self._frames = stage, UsdGeom.XformCache()
        self._root = stage.GetDefaultPrim()
        prims = list(Usd.PrimRange(self._root, Usd.TraverseInstanceProxies()))
        self._bodies = [prim for prim in prims if prim.HasAPI(UsdPhysics.RigidBodyAPI)]
        joints = [UsdPhysics.Joint(prim) for prim in prims if prim.IsA(UsdPhysics.Joint)]
        self._carried = {str(joint.GetBody1Rel().GetTargets()[0]): joint for joint in joints}
        self._shown: dict[str, list[Usd.Prim]] = {}
        for prim in prims:
            body = self._body_of(prim)
            if body is not None and prim.IsA(UsdGeom.Gprim) and _is_seen(prim):
                self._shown.setdefault(str(body.GetPath()), []).append(prim)

    def links(self) -> list[Link]:
        numbers: dict[str, int] = {}
        found: list[Link] = []
        left = list(self._bodies)
        while left:
            ready = [body for body in left if self._carrier(body) in (None, *numbers)]
            for body in ready:
                numbers[str(body.GetPath())] = len(found)
                found.append(self._link(body, numbers))
            left = [body for body in left if body not in ready]
        return found

    def _body_of(self, prim: Usd.Prim) -> Usd.Prim | None:
        while prim and not prim.HasAPI(UsdPhysics.RigidBodyAPI):
            prim = prim.GetParent()
        return prim or None

    def _carrier(self, body: Usd.Prim) -> str | None:
        """Path of the link that carries a body; None where there is none, or a joint holds it to the world."""
        joint = self._carried.get(str(body.GetPath()))
        targets = [] if joint is None else joint.GetBody0Rel().GetTargets()
        paths = {str(one.GetPath()) for one in self._bodies}
        return str(targets[0]) if targets and str(targets[0]) in paths else None

    def _link(self, body: Usd.Prim, numbers: Mapping[str, int]) -> Link:
        path, carrier = str(body.GetPath()), self._carrier(body)
        triangles, normals = self._shape(body)
        before, after, joint, axis, slides = self._relative(body, self._root), Pose(), None, np.zeros(3), False
        if carrier is not None:
            held = self._carried[path]
            before = _pose(held.GetLocalPos0Attr().Get(), held.GetLocalRot0Attr().Get())
            after = _pose(held.GetLocalPos1Attr().Get(), held.GetLocalRot1Attr().Get()).inverse()
            prim = held.GetPrim()
            slides = prim.IsA(UsdPhysics.PrismaticJoint)
            if slides or prim.IsA(UsdPhysics.RevoluteJoint):
                joint, axis = prim.GetName(), np.eye(3)["XYZ".index(str(prim.GetAttribute("physics:axis").Get()))]
        number = None if carrier is None else numbers[carrier]
        return Link(body.GetName(), triangles, normals, number, before, after, joint, axis, slides)

    def _relative(self, prim: Usd.Prim, outer: Usd.Prim) -> Pose:
        matrix = self._frames.ComputeRelativeTransform(prim, outer)[0].RemoveScaleShear()
        return _pose(matrix.ExtractTranslation(), matrix.ExtractRotationQuat())

    def _shape(self, body: Usd.Prim) -> tuple[Array, Array]:
        pieces = [piece for prim in self._shown.get(str(body.GetPath()), []) for piece in self._pieces(prim, body)]
        if not pieces:
            return np.zeros((0, 3, 3)), np.zeros((0, 3, 3))
        triangles, normals = (np.concatenate(one) for one in zip(*pieces, strict=True))
        return triangles, normals

    def _pieces(self, prim: Usd.Prim, body: Usd.Prim) -> Iterator[tuple[Array, Array]]:
        """Yield the triangles of a mesh or a box, and normals at their corners, in the body's frame."""
        read = _mesh(prim) if prim.IsA(UsdGeom.Mesh) else _box(prim) if prim.IsA(UsdGeom.Cube) else None
        if read is None:
            return
        triangles, normals = read
        world = self._frames.GetLocalToWorldTransform
        matrix = np.array(world(prim) * world(body).RemoveScaleShear().GetInverse())
        placed = triangles @ matrix[:3, :3] + matrix[3, :3]
        turned = normals @ np.linalg.inv(matrix[:3, :3]).T
        length = np.linalg.norm(turned, axis=2, keepdims=True)
        flat = np.cross(placed[:, 1] - placed[:, 0], placed[:, 2] - placed[:, 0])
        flat = flat / np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-30)
        yield placed, np.where(length > 1e-6, turned / np.maximum(length, 1e-6), flat[:, None])


def _is_seen(prim: Usd.Prim) -> bool:
    imageable = UsdGeom.Imageable(prim)
    return imageable.ComputePurpose() in (UsdGeom.Tokens.default_, UsdGeom.Tokens.render) and (
        imageable.ComputeVisibility() != UsdGeom.Tokens.invisible
    )


def _mesh(prim: Usd.Prim) -> tuple[Array, Array]:
    """Triangles of a mesh by fans, and its own normals where it has one a corner; zeros where it has not."""
    mesh = UsdGeom.Mesh(prim)
    points = np.array(mesh.GetPointsAttr().Get(), float).reshape(-1, 3)
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get() or [], int)
    indices = np.array(mesh.GetFaceVertexIndicesAttr().Get() or [], int)
    starts = np.cumsum(counts) - counts
    fans = [(start, start + k, start + k + 1) for start, n in zip(starts, counts, strict=True) for k in range(1, n - 1)]
    corners = np.array(fans, int).reshape(-1, 3)
    primvar = UsdGeom.PrimvarsAPI(prim).GetPrimvar("normals")
    normals = np.zeros((len(corners), 3, 3))
    if primvar and primvar.HasValue() and primvar.GetInterpolation() == UsdGeom.Tokens.faceVarying:
        normals = np.array(primvar.ComputeFlattened(), float).reshape(-1, 3)[corners]
    return points[indices[corners]], normals


def _box(prim: Usd.Prim) -> tuple[Array, Array]:
    size = float(UsdGeom.Cube(prim).GetSizeAttr().Get())
    triangles = size * CORNERS[BOX_FACES]
    return triangles, np.zeros_like(triangles)


def _pose(position: Gf.Vec3f | Gf.Vec3d, turn: Gf.Quatf | Gf.Quatd) -> Pose:
    return Pose.of(tuple(position), (*turn.GetImaginary(), turn.GetReal()))
