"""Parts to asset files and back: nothing is lost, bytes are stable, edits count."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pxr import Sdf, Usd, UsdGeom, UsdPhysics

from scenegen.errors import InvalidRecord, UnreadableStage
from scenegen.geometry import Pose
from scenegen.parts.builtin import builtin_ids, builtin_part
from scenegen.parts.part import Collider, Grasps, MassProperties, Mesh, Part, StablePose
from scenegen.record import content_hash
from scenegen.scenario import Look
from scenegen.usd.boxes import BOX_FACES, CORNERS, oriented_box
from scenegen.usd.part_file import part_bytes, read_part, write_part
from scenegen.usd.validation import validate_stage

PLAIN = ("id", "family", "label", "standard", "dimensions", "mass", "stable_poses", "look", "friction", "look_alikes")

numbers = st.floats(-1.0, 1.0)
positive = st.floats(1e-6, 1.0)
quats = st.tuples(numbers, numbers, numbers, numbers).filter(lambda q: np.linalg.norm(q) > 0.1)
unit_quats = quats.map(lambda q: tuple((np.array(q) / np.linalg.norm(q)).tolist()))
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
names = st.from_regex(r"\A[a-z][a-z0-9_]{0,12}\Z")


@st.composite
def boxes(draw):
    """A box collider whose corners come in any order."""
    pose = Pose.of(draw(st.tuples(numbers, numbers, numbers)), draw(unit_quats))
    corners = pose.apply(CORNERS * np.array(draw(st.tuples(*[st.floats(0.001, 0.1)] * 3))))
    order = draw(st.permutations(range(8)))
    return Collider("box", corners[order], np.argsort(order).astype(np.int32)[BOX_FACES])


def tetrahedron(scale: float) -> tuple[np.ndarray, np.ndarray]:
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) * scale / 3
    return vertices, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], np.int32)


@st.composite
def parts(draw):
    vertices, faces = tetrahedron(draw(positive))
    normals = np.cross(vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    hull = Collider("hull", *tetrahedron(draw(positive)))
    rows = draw(st.integers(0, 3))
    return Part(
        id=draw(names),
        family=draw(texts),
        label=draw(names),
        standard=draw(texts),
        dimensions=draw(st.dictionaries(names, numbers, max_size=4)),
        mesh=Mesh(vertices, faces, np.repeat(normals[:, None], 3, axis=1)),
        colliders=(hull, *draw(st.lists(boxes(), max_size=2))),
        mass=MassProperties(
            draw(positive),
            draw(st.tuples(numbers, numbers, numbers)),
            draw(st.tuples(*[positive] * 3)),
            draw(unit_quats),
        ),
        stable_poses=tuple(StablePose(draw(unit_quats), draw(positive), draw(positive)) for _ in range(rows)),
        grasps=Grasps(
            *(
                np.array(draw(st.lists(one, min_size=rows, max_size=rows)), float).reshape(shape)
                for one, shape in (
                    (st.tuples(numbers, numbers, numbers), (rows, 3)),
                    (st.tuples(numbers, numbers, numbers), (rows, 3)),
                    (positive, (rows,)),
                )
            )
        ),
        look=Look(
            color=draw(st.tuples(*[st.floats(0, 1)] * 3)),
            metallic=draw(st.floats(0, 1)),
            roughness=draw(st.floats(0.02, 1)),
        ),
        friction=draw(positive),
        look_alikes=tuple(draw(st.lists(names, max_size=3))),
    )


def assert_same(read: Part, part: Part) -> None:
    for name in PLAIN:
        assert getattr(read, name) == getattr(part, name), name
    arrays = [
        (read.mesh.vertices, part.mesh.vertices),
        (read.mesh.faces, part.mesh.faces),
        (read.mesh.normals, part.mesh.normals),
    ]
    for name in ("centers_m", "axes", "widths_m"):
        arrays.append((getattr(read.grasps, name), getattr(part.grasps, name)))
    assert [one.kind for one in read.colliders] == [one.kind for one in part.colliders]
    for one, other in zip(read.colliders, part.colliders, strict=True):
        arrays += [(one.vertices, other.vertices), (one.faces, other.faces)]
    for one, other in arrays:
        np.testing.assert_array_equal(one, other, strict=True)
    assert read.content_id == part.content_id


@settings(max_examples=40, deadline=None)
@given(part=parts())
def test_reading_what_was_written_gives_the_part(part, tmp_path_factory):
    path = tmp_path_factory.mktemp("part") / "part.usdc"
    write_part(part, path)
    assert_same(read_part(path), part)


@pytest.mark.parametrize("part_id", builtin_ids()[::3])
def test_built_in_parts_survive(part_id, tmp_path):
    part = builtin_part(part_id)
    write_part(part, tmp_path / "part.usdc")
    assert_same(read_part(tmp_path / "part.usdc"), part)
    assert validate_stage(tmp_path / "part.usdc") == ()


@pytest.fixture
def nut(catalogue):
    return catalogue["hex_nut_m8"]


@pytest.fixture
def nut_file(nut, tmp_path):
    write_part(nut, tmp_path / "nut.usdc")
    return tmp_path / "nut.usdc"


def test_bytes_are_the_same_in_every_process(nut):
    code = (
        "from scenegen.parts.builtin import builtin_part; from scenegen.usd.part_file import part_bytes;"
        "from scenegen.record import content_hash; print(content_hash(part_bytes(builtin_part('hex_nut_m8'))))"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert content_hash(part_bytes(nut)) == content_hash(part_bytes(nut)) == other


def test_other_tools_see_a_rigid_body_with_guides(nut, nut_file):
    stage = Usd.Stage.Open(str(nut_file))
    root = stage.GetDefaultPrim()
    assert root.GetName() == "hex_nut_m8"
    assert Usd.ModelAPI(root).GetKind() == "component"
    assert root.HasAPI(UsdPhysics.RigidBodyAPI)
    assert UsdPhysics.MassAPI(root).GetMassAttr().Get() == pytest.approx(nut.mass.mass_kg)
    shapes = [prim for prim in stage.Traverse() if prim.IsA(UsdGeom.Gprim)]
    colliders = [prim for prim in shapes if prim.HasAPI(UsdPhysics.CollisionAPI)]
    assert len(colliders) == len(nut.colliders)
    assert {UsdGeom.Imageable(prim).ComputePurpose() for prim in colliders} == {"guide"}
    for prim in [root, *shapes]:
        assert list(prim.GetAttribute("semantics:labels:class").Get()) == [nut.label]
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/hex_nut_m8/mesh"))
    assert mesh.GetSubdivisionSchemeAttr().Get() == "none"
    assert len(mesh.GetPointsAttr().Get()) == len(nut.mesh.vertices)
    low, high = mesh.GetExtentAttr().Get()
    np.testing.assert_allclose([low, high], [nut.mesh.vertices.min(0), nut.mesh.vertices.max(0)], atol=1e-7)


def edit(path, prim: str, attribute: str, value) -> None:
    layer = Sdf.Layer.FindOrOpen(str(path))
    layer.GetAttributeAtPath(f"/hex_nut_m8{prim}.{attribute}").default = value
    layer.Save()


def test_an_edited_standard_value_wins_over_the_exact_one(nut, nut_file):
    edit(nut_file, "", "physics:mass", 0.25)
    edit(nut_file, "/Looks/surface/preview", "inputs:roughness", 0.75)
    edit(nut_file, "/Looks/surface", "physics:dynamicFriction", 0.5)
    read = read_part(nut_file)
    assert (read.mass.mass_kg, read.look.roughness, read.friction) == (0.25, 0.75, 0.5)
    assert read.mass.center_of_mass_m == nut.mass.center_of_mass_m
    assert read.content_id != nut.content_id


@pytest.mark.parametrize(
    ("prim", "attribute", "value", "sentence"),
    [
        ("", "physics:mass", float("nan"), "/hex_nut_m8: physics:mass is nan - accepted: a finite number"),
        ("", "scenegen:part", None, "/hex_nut_m8: scenegen:part has no value - it is required"),
        (
            "",
            "semantics:labels:class",
            ["a", "b"],
            "semantics:labels:class is ['a', 'b'] - accepted: one semantic class",
        ),
        (
            "/Looks/surface/preview",
            "inputs:roughness",
            7.0,
            "preview: roughness: 7.0 - accepted: less than or equal to 1",
        ),
        ("/mesh", "faceVertexIndices", [0, 1], "/mesh: faceVertexIndices does not index triangles over"),
    ],
)
def test_what_is_wrong_is_said(nut_file, prim, attribute, value, sentence):
    layer = Sdf.Layer.FindOrOpen(str(nut_file))
    spec = layer.GetAttributeAtPath(f"/hex_nut_m8{prim}.{attribute}")
    if value is None:
        spec.ClearDefaultValue()
    else:
        spec.default = value
    layer.Save()
    with pytest.raises(UnreadableStage) as caught:
        read_part(nut_file)
    assert sentence in str(caught.value)


def test_a_file_that_is_none(tmp_path):
    with pytest.raises(UnreadableStage, match="no such file"):
        read_part(tmp_path / "nowhere.usdc")
    (tmp_path / "bad.usdc").write_bytes(b"PXR-USDC")
    with pytest.raises(UnreadableStage, match="not a USD file"):
        read_part(tmp_path / "bad.usdc")


def test_a_usd_file_that_is_no_part(tmp_path):
    path = tmp_path / "cube.usda"
    path.write_text('#usda 1.0\n(\n    defaultPrim = "A"\n)\ndef Cube "A" {\n}\n')
    with pytest.raises(UnreadableStage, match="/A/Looks: no such prim - it is required"):
        read_part(path)


def test_a_failed_write_leaves_no_file(nut, tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        write_part(nut, tmp_path / "nowhere" / "part.usdc")
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=60, deadline=None)
@given(boxes())
def test_the_box_of_eight_corners(collider):
    box = oriented_box(collider.vertices)
    rebuilt = box.pose.apply(CORNERS * box.size_m)
    gaps = np.linalg.norm(rebuilt[:, None] - collider.vertices[None], axis=2)
    assert gaps.min(axis=0).max() < 2e-6
    assert gaps.min(axis=1).max() < 2e-6


def test_an_upright_box_is_not_turned():
    box = oriented_box(CORNERS[::-1] * (0.3, 0.1, 0.2))
    assert box.pose.quat_xyzw == (0.0, 0.0, 0.0, 1.0)
    assert box.size_m == pytest.approx((0.3, 0.1, 0.2))


def test_eight_points_that_are_no_box():
    with pytest.raises(InvalidRecord, match="not the corners of a box - accepted: eight corners of a cuboid"):
        oriented_box(CORNERS + np.eye(8, 3))


def test_an_edited_collider_box_is_rebuilt(nut, tmp_path):
    box = replace(nut, colliders=(Collider("box", CORNERS * 0.01, BOX_FACES),))
    write_part(box, tmp_path / "nut.usdc")
    edit(tmp_path / "nut.usdc", "/Colliders/collider_00", "xformOp:scale", (0.02, 0.01, 0.01))
    read = read_part(tmp_path / "nut.usdc")
    np.testing.assert_allclose(np.ptp(read.colliders[0].vertices, axis=0), (0.02, 0.01, 0.01))
