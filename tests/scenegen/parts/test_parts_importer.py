"""What a model file must be to become a part, and what is said where it is not."""

import sys
from pathlib import Path

import numpy as np
import pytest
import trimesh

from scenegen.errors import MissingExtra, UnusablePart
from scenegen.parts.builtin import builtin_part
from scenegen.parts.folder import added_ids, catalogue_with_folder, part_from
from scenegen.parts.importer import import_part
from scenegen.parts.material import STEEL
from scenegen.usd.part_file import write_part

BLOCK = (0.02, 0.01, 0.006)


def write(path, mesh):
    mesh.export(path)
    return path


def imported(path, **options):
    return import_part(path, part_id="thing", material=STEEL, **options)


def refusal(path, **options):
    with pytest.raises(UnusablePart) as error:
        imported(path, **options)
    return str(error.value).replace(str(path), path.name)


@pytest.fixture
def block():
    return trimesh.creation.box(BLOCK)


@pytest.mark.parametrize("ending", ["stl", "obj", "glb"])
def test_a_block_becomes_a_part(tmp_path, block, ending):
    part = imported(write(tmp_path / f"block.{ending}", block))
    assert part.mass.mass_kg == pytest.approx(np.prod(BLOCK) * STEEL.density_kg_m3, rel=1e-5)
    assert [collider.kind for collider in part.colliders] == ["box"]
    assert len(part.stable_poses) == 6
    assert len(part.grasps.widths_m) > 8
    assert (part.family, part.label, part.standard) == ("imported", "thing", f"file block.{ending}")
    assert part.dimensions == pytest.approx({"length": 0.02, "width": 0.01, "height": 0.006}, rel=1e-6)


def test_a_file_in_millimetres_needs_its_unit(tmp_path, block):
    path = write(tmp_path / "block.stl", block.apply_scale(1000))
    assert refusal(path) == (
        "block.stl: is 20 m long (accepted: 0.0005 m to 0.5 m)"
        " - if it is drawn in another unit, say --unit mm, --unit cm"
    )
    assert imported(path, unit_m=0.001).dimensions["length"] == pytest.approx(0.02, rel=1e-5)


def test_a_step_model_becomes_a_part_in_its_own_unit():
    part = imported(Path(__file__).parent / "block.step")
    assert part.dimensions == pytest.approx({"length": 0.02, "width": 0.01, "height": 0.01}, rel=1e-6)
    assert part.mass.mass_kg == pytest.approx(0.02 * 0.01 * 0.01 * STEEL.density_kg_m3, rel=1e-5)


def test_a_step_model_takes_no_unit():
    path = Path(__file__).parent / "block.step"
    assert refusal(path, unit_m=0.001) == "block.step: STEP and USD files carry their unit - leave --unit away"


def test_a_step_model_without_its_extra_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cascadio", None)
    with pytest.raises(MissingExtra) as error:
        imported(Path(__file__).parent / "block.step")
    assert str(error.value) == "reading STEP files needs the extra 'steps' - run: pip install 'scenegen[steps]'"


def test_a_hollow_shape_is_decomposed_and_the_same_every_time(tmp_path):
    original = builtin_part("hex_nut_m8")
    path = write(tmp_path / "nut.stl", trimesh.Trimesh(original.mesh.vertices, original.mesh.faces, process=False))
    first, second = imported(path), imported(path)
    assert first.content_id == second.content_id
    assert 2 <= len(first.colliders) <= 16
    assert first.mass.mass_kg == pytest.approx(original.mass.mass_kg, rel=1e-3)
    for collider in first.colliders:  # the bore's middle is free
        a, b, c = np.moveaxis(collider.vertices[collider.faces], 1, 0)
        assert (np.einsum("ij,ij->i", np.cross(b - a, c - a), -a)).max() > 0


def test_a_mesh_that_is_inside_out_is_turned(tmp_path, block):
    block.invert()
    part = imported(write(tmp_path / "block.obj", block))
    assert part.mass.mass_kg == pytest.approx(np.prod(BLOCK) * STEEL.density_kg_m3, rel=1e-5)


def test_bodies_that_overlap_are_joined(tmp_path, block):
    other = block.copy().apply_translation([0.01, 0.0, 0.0])
    part = imported(write(tmp_path / "two.stl", trimesh.util.concatenate([block, other])))
    assert part.mass.mass_kg == pytest.approx(0.03 * 0.01 * 0.006 * STEEL.density_kg_m3, rel=1e-4)


def test_separate_bodies_are_refused(tmp_path, block):
    other = block.copy().apply_translation([0.1, 0.0, 0.0])
    path = write(tmp_path / "two.stl", trimesh.util.concatenate([block, other]))
    assert refusal(path) == "two.stl: holds 2 separate bodies - export one body a file"


def test_an_open_mesh_is_refused(tmp_path, block):
    block.update_faces(np.arange(len(block.faces)) > 0)
    path = write(tmp_path / "open.stl", block)
    assert refusal(path) == "open.stl: is not watertight - close the holes of the mesh in your tool and export it again"


def test_a_flat_mesh_is_refused(tmp_path):
    sheet = trimesh.Trimesh([[0, 0, 0], [0.01, 0, 0], [0, 0.01, 0]], [[0, 1, 2], [2, 1, 0]], process=False)
    path = write(tmp_path / "sheet.obj", sheet)
    assert refusal(path).startswith("sheet.obj: is no")


def test_a_thin_shell_has_no_volume(tmp_path):
    path = write(tmp_path / "leaf.stl", trimesh.creation.box((0.01, 0.01, 5e-6)))
    assert refusal(path) == "leaf.stl: has no volume - give the model a thickness and export it again"


@pytest.mark.parametrize(("scale", "length"), [(100, "2 m"), (0.01, "0.0002 m")])
def test_parts_of_impossible_size_are_refused(tmp_path, block, scale, length):
    path = write(tmp_path / "block.stl", block.apply_scale(scale))
    assert refusal(path).startswith(f"block.stl: is {length} long (accepted: 0.0005 m to 0.5 m) - ")


def test_a_size_that_no_unit_explains_asks_for_rescaling(tmp_path, block):
    path = write(tmp_path / "block.stl", block.apply_scale(1e6))
    assert refusal(path) == "block.stl: is 2e+04 m long (accepted: 0.0005 m to 0.5 m) - rescale it"


def test_vertices_that_are_not_finite_are_refused(tmp_path):
    text = "v 0 0 0\nv nan 0 0\nv 0 0.01 0\nv 0 0 0.01\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    path = tmp_path / "nan.obj"
    path.write_text(text)
    assert refusal(path) == "nan.obj: holds vertices that are not finite - export it again from your tool"


def test_too_many_triangles_are_refused(tmp_path):
    path = write(tmp_path / "ball.stl", trimesh.creation.icosphere(subdivisions=6, radius=0.01))
    assert refusal(path) == "ball.stl: 81920 triangles are too many - simplify it to at most 20000"


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("part.fbx", b"x", "part.fbx: unknown kind of file '.fbx' - accepted: .stl, .obj, .glb, .step, .stp, .usd,"
         " .usda, .usdc, .usdz"),
        ("part.step", b"garbage", "part.step: cannot be read as STEP - export it again, as AP214 or AP242"),
        ("part.stl", b"\x07garbage" * 20, "part.stl: holds no triangles - export the solid as a mesh"),
        ("part.obj", b"", "part.obj: holds no triangles - export the solid as a mesh"),
    ],
)  # fmt: skip
def test_files_that_hold_no_model_are_refused(tmp_path, name, data, sentence):
    path = tmp_path / name
    path.write_bytes(data)
    assert refusal(path) == sentence


@pytest.mark.parametrize("ending", ["glb", "usda", "usdc"])
def test_garbage_is_refused_in_one_sentence(tmp_path, ending):
    path = tmp_path / f"part.{ending}"
    path.write_bytes(
        b"\x07garbage \xff\x00 more garbage, long enough for a header of eighty bytes and some more of it all"
    )
    kind = "USD" if ending.startswith("usd") else ending.upper()
    assert refusal(path).startswith(f"part.{ending}: cannot be read as {kind} (")
    assert "\n" not in refusal(path)


def test_a_missing_file_is_refused(tmp_path):
    assert refusal(tmp_path / "none.stl") == "none.stl: no such file - name an existing file"


def test_parts_of_a_folder_stand_beside_the_built_in_ones(tmp_path, block):
    part = imported(write(tmp_path / "block.stl", block))
    write_part(part, tmp_path / "thing.usdc")
    assert added_ids(tmp_path) == ("thing",)
    assert part_from("thing", tmp_path).content_id == part.content_id
    catalogue = catalogue_with_folder(["thing", "hex_nut_m6", "thing"], tmp_path)
    assert list(catalogue) == ["thing", "hex_nut_m6"]
    assert added_ids(tmp_path / "nowhere") == ()
