"""Parts as `.usdc` asset files, and back: reading what was written gives the same part, field by field."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from pxr import Usd

from scenegen.errors import UnreadableStage
from scenegen.geometry import Array
from scenegen.parts.part import Collider, Grasps, MassProperties, Mesh, Part, StablePose
from scenegen.record import quantise
from scenegen.scenario import Look
from scenegen.usd.boxes import BOX_FACES, CORNERS, oriented_box
from scenegen.usd.part_prims import COLLIDERS, EXACT_NORMALS, EXACT_POINTS, LOOKS, MESH, NORMALS, PART, part_tree
from scenegen.usd.poses import box_of
from scenegen.usd.sdf import author
from scenegen.usd.shared_prims import LABELS, MATERIAL, SHADER
from scenegen.usd.stage import PrimView, load_layer


def part_bytes(part: Part) -> bytes:
    """Return the contents of a part's asset file; the same part gives the same bytes on every run."""
    layer = author(part_tree(part), extension="usdc")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "part.usdc")
        layer.Export(str(file))
        return file.read_bytes()


def write_part(part: Part, path: Path) -> None:
    """Write a part's asset file; it appears whole or not at all."""
    draft = path.with_name(f".{path.stem}.{os.getpid()}.usdc")
    try:
        draft.write_bytes(part_bytes(part))
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def read_part(path: Path) -> Part:
    """Read a part from its asset file.

    Raises:
        UnreadableStage: The file is no part that scenegen wrote, or holds what a part must not.
    """
    stage = Usd.Stage.Open(load_layer(path))
    root = stage.GetDefaultPrim()
    if not root:
        raise UnreadableStage(str(path), "/", "has no default prim - accepted: a part written by scenegen")
    return part_of(PrimView(str(path), root))


def part_of(root: PrimView) -> Part:
    """Read a part from its root prim."""
    look = look_of(root.child(LOOKS).child(MATERIAL).child(SHADER))
    with root.building():
        return Part(
            id=root.text(PART),
            family=root.text("scenegen:family"),
            label=_label(root),
            standard=root.text("scenegen:standard"),
            dimensions=dict(
                zip(root.texts("scenegen:dimensionNames"), root.numbers("scenegen:dimensionValues"), strict=True)
            ),
            mesh=_mesh(root.child(MESH)),
            colliders=tuple(_collider(view) for view in root.child(COLLIDERS).children()),
            mass=_mass(root),
            stable_poses=_stable_poses(root),
            grasps=Grasps(
                centers_m=root.array("scenegen:graspCentersM", 3),
                axes=root.array("scenegen:graspAxes", 3),
                widths_m=root.array("scenegen:graspWidthsM"),
            ),
            look=look,
            friction=_exact(
                root.number("scenegen:friction"), root.child(LOOKS).child(MATERIAL).number("physics:dynamicFriction")
            ),
            look_alikes=root.texts("scenegen:lookAlikes"),
        )


def look_of(shader: PrimView) -> Look:
    """Read a look from a `UsdPreviewSurface` shader.

    Raises:
        UnreadableStage: An input is a texture or out of range.
    """
    if shader.prim.GetAttribute("info:id").Get() != "UsdPreviewSurface":
        raise shader.fail("is no UsdPreviewSurface - accepted: a UsdPreviewSurface shader")
    for name in ("inputs:diffuseColor", "inputs:metallic", "inputs:roughness"):
        if shader.prim.GetAttribute(name).HasAuthoredConnections():
            raise shader.fail(f"{name} is connected to another node - accepted: a plain value")
    with shader.building():
        return Look.from_data(
            {
                "color": shader.vector("inputs:diffuseColor", 3),
                "metallic": shader.number("inputs:metallic"),
                "roughness": shader.number("inputs:roughness"),
            }
        )


def _label(root: PrimView) -> str:
    labels = root.texts(LABELS)
    if len(labels) != 1:
        raise root.fail(f"{LABELS} is {list(labels)} - accepted: one semantic class")
    return labels[0]


def _exact(exact: float, standard: float) -> float:
    """Prefer the exact number while the standard attribute still says the same."""
    return exact if quantise(exact) == quantise(standard) else standard


def _mass(root: PrimView) -> MassProperties:
    exact = (
        (root.number("scenegen:massKg"),),
        root.vector("scenegen:centerOfMassM", 3),
        root.vector("scenegen:diagonalInertiaKgM2", 3),
        root.vector("scenegen:principalAxesXyzw", 4),
    )
    standard = (
        (root.number("physics:mass"),),
        root.vector("physics:centerOfMass", 3),
        root.vector("physics:diagonalInertia", 3),
        root.quat_xyzw("physics:principalAxes"),
    )
    fields = [_exact_vector(a, b) for a, b in zip(exact, standard, strict=True)]
    return MassProperties(fields[0][0], *fields[1:])  # pyright: ignore[reportArgumentType]


def _exact_vector(exact: tuple[float, ...], standard: tuple[float, ...]) -> tuple[float, ...]:
    opposite = tuple(-number for number in standard)
    return exact if _same(exact, standard) or (len(exact) == 4 and _same(exact, opposite)) else standard


def _same(a: ArrayLike, b: ArrayLike) -> bool:
    """True if USD's 32 bits cannot tell the numbers apart."""
    return np.array_equal(np.asarray(a, np.float32), np.asarray(b, np.float32))


def _stable_poses(root: PrimView) -> tuple[StablePose, ...]:
    quats = root.array("scenegen:stablePoseQuatsXyzw", 4)
    heights = root.numbers("scenegen:stablePoseHeightsM")
    shares = root.numbers("scenegen:stablePoseProbabilities")
    if not len(quats) == len(heights) == len(shares):
        raise root.fail("scenegen:stablePose… differ in length - accepted: one entry a pose")
    rows = zip(quats.tolist(), heights, shares, strict=True)
    return tuple(StablePose(tuple(quat), height, share) for quat, height, share in rows)


def _vertices(view: PrimView) -> Array:
    """Exact corners, unless the points were edited since."""
    points = view.array("points", 3)
    exact = view.array(EXACT_POINTS, 3) if view.has(EXACT_POINTS) else points
    return exact if _same(exact, points) else points


def _faces(view: PrimView, name: str, vertices: int) -> np.ndarray:
    faces = view.array(name).astype(np.int32)
    if len(faces) % 3 or (len(faces) and not 0 <= faces.min() <= faces.max() < vertices):
        raise view.fail(f"{name} does not index triangles over {vertices} points")
    return faces.reshape(-1, 3)


def _mesh(view: PrimView) -> Mesh:
    vertices = _vertices(view)
    faces = _faces(view, "faceVertexIndices", len(vertices))
    normals = view.array(NORMALS, 3)
    exact = view.array(EXACT_NORMALS, 3) if view.has(EXACT_NORMALS) else normals
    if _same(exact, normals):
        normals = exact
    indices = view.array(f"{NORMALS}:indices").astype(np.int64)
    if len(indices) != faces.size or (len(indices) and not 0 <= indices.min() <= indices.max() < len(normals)):
        raise view.fail(f"{NORMALS}:indices has {len(indices)} entries - accepted: one valid index a face corner")
    return Mesh(vertices, faces, normals[indices].reshape(-1, 3, 3))


def _collider(view: PrimView) -> Collider:
    if view.prim.GetTypeName() == "Mesh":
        vertices = _vertices(view)
        return Collider("hull", vertices, _faces(view, "faceVertexIndices", len(vertices)))
    if view.prim.GetTypeName() != "Cube":
        raise view.fail(f"is a {view.prim.GetTypeName()} - accepted: a Mesh or a Cube")
    pose, size = box_of(view)
    if view.has(EXACT_POINTS):
        exact = view.array(EXACT_POINTS, 3)
        box = oriented_box(exact)
        if box.pose == pose and _same(box.size_m, size):
            return Collider("box", exact, _faces(view, "scenegen:faces", 8))
    return Collider("box", pose.apply(CORNERS * size), BOX_FACES)
