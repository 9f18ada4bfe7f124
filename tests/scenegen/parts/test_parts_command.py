"""`scenegen parts`: what each sub-command prints and writes."""

import json

import pytest
import trimesh
from typer.testing import CliRunner

from scenegen.commands.parts import app
from scenegen.errors import InvalidOption, LibraryError, UnknownName, UnusablePart
from scenegen.parts.builtin import builtin_ids


def run(*arguments):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def block(tmp_path):
    path = tmp_path / "my block.stl"
    trimesh.creation.box((0.02, 0.01, 0.006)).export(path)
    return path


def test_list_names_every_part(tmp_path):
    output = run("list", "--folder", tmp_path)
    assert all(f" {part_id} " in output for part_id in builtin_ids())
    rows = json.loads(run("list", "--json", "--folder", tmp_path))
    assert [row["id"] for row in rows] == list(builtin_ids())
    nut = next(row for row in rows if row["id"] == "hex_nut_m8")
    assert nut["look_alikes"] == ["hex_nut_m6", "hex_nut_m10"]
    assert nut["standard"] == "ISO 4032"


def test_show_tells_dimensions_mass_and_poses():
    output = run("show", "spur_gear_z20_m1")
    assert "teeth_count 20, module 1 mm, width 8 mm, bore 6 mm, pressure_angle_deg 20 deg" in output
    assert "8 hulls, 0 boxes" in output
    assert "64, 1.3 to 22.0 mm wide" in output
    details = json.loads(run("show", "l_bracket_left", "--json"))
    assert sum(pose["probability"] for pose in details["stable_poses"]) == pytest.approx(1, abs=1e-5)
    assert [collider["kind"] for collider in details["colliders"]] == ["box"] * 8


def test_show_of_an_unknown_part_gives_a_hint(tmp_path):
    with pytest.raises(UnknownName, match=r"unknown part 'hex_nut_m9' - did you mean 'hex_nut_m[568]'"):
        run("show", "hex_nut_m9", "--folder", tmp_path)


def test_add_list_show_and_render_a_part(tmp_path, block):
    folder, picture = tmp_path / "parts", tmp_path / "sheet.png"
    output = run("add", block, "--folder", folder, "--density", 1000, "--class", "block")
    assert output == (
        f"wrote {folder}/my_block.usdc: 20.0 x 10.0 x 6.0 mm, 1.20 g, 1 colliders, 6 resting poses, 64 grasps\n"
    )
    assert "my_block" in run("list", "--folder", folder)
    assert "file my block.stl" in run("show", "my_block", "--folder", folder)
    assert run("render", "my_block", "chip", "-o", picture, "--size", 40, "--folder", folder) == f"wrote {picture}\n"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_add_refuses_names_units_and_places_that_cannot_be(tmp_path, block):
    with pytest.raises(InvalidOption) as error:
        run("add", block, "--id", "my-part", "--folder", tmp_path)
    assert str(error.value) == (
        "--id 'my-part' - accepted: letters, digits and underscores, a letter first, at most 80"
    )
    with pytest.raises(InvalidOption) as error:
        run("add", block, "--id", "glove", "--folder", tmp_path)
    assert str(error.value) == "--id glove - accepted: a name that no built-in part has"
    with pytest.raises(InvalidOption) as error:
        run("add", block, "--unit", "furlong", "--folder", tmp_path)
    assert str(error.value) == "--unit furlong - accepted: mm, cm, in, m"
    with pytest.raises(LibraryError, match=r"thing\.usdc: cannot be written .* choose another --folder"):
        run("add", block, "--id", "thing", "--folder", block)


def test_add_leaves_nothing_where_the_file_is_unusable(tmp_path):
    file = tmp_path / "bad.obj"
    file.write_text("v 0 0 0\n")
    with pytest.raises(UnusablePart, match="holds no triangles"):
        run("add", file, "--folder", tmp_path / "parts")
    assert not (tmp_path / "parts").exists()


def test_render_refuses_an_unknown_kind_of_picture(tmp_path):
    with pytest.raises(InvalidOption, match=r"--output .*parts\.xyz - accepted: a \.png or \.jpg file"):
        run("render", "chip", "--size", 32, "-o", tmp_path / "parts.xyz")
