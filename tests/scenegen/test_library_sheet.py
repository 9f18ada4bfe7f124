"""`scenegen library sheet`: photos by default, kept by renderer, rows and grids, and what it refuses."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture
from typer.testing import CliRunner

from library.versioned import VersionedLibrary
from scenegen.cli import app
from scenegen.commands.artist import Artist
from scenegen.commands.grid_lines import grid_lines
from scenegen.commands.sheets import CLOSE_PX, GRID_PX, RED, marked
from scenegen.errors import InvalidOption
from scenegen.imaging.photographer import Photographer
from scenegen.imaging.render import enlarged
from scenegen.imaging.sheet import GAP_PX, HEIGHT_PX, SEAM_PX


def scenegen(*arguments: str, expect: type[Exception] | None = None) -> str:
    done = CliRunner().invoke(app, [*arguments])
    if expect is None:
        assert done.exit_code == 0, done.output
        return done.stdout
    assert isinstance(done.exception, expect), done.output
    return str(done.exception)


def expand(folder: str, axis: str, n: int) -> None:
    scenegen("expand", "--axis", axis, "--n", str(n), "--library", folder, "--processes", "1", "--usd", "lazy")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    """A library of ten lighting variants of one base, two of glare, and two of poses with a base each."""
    target = str(tmp_path_factory.mktemp("sheet") / "lib")
    expand(target, "lighting", 10)
    expand(target, "glare", 2)
    expand(target, "pose", 2)
    return target


@pytest.fixture(scope="module")
def snapshot(folder):
    return VersionedLibrary.open(folder).at()


def picture(path: Path) -> np.ndarray:
    return np.asarray(Picture.open(path))


def sheet(folder: str, target: Path, *options: str, camera: str = "overhead") -> np.ndarray:
    scenegen("library", "sheet", folder, "--camera", camera, "-o", str(target), *options)
    return picture(target)


@pytest.mark.parametrize("renderer", ["shaded", "preview"])
def test_a_sheet_shows_the_camera_s_photos_unless_asked_otherwise(
    folder, snapshot, cell, catalogue, tmp_path, monkeypatch, renderer
):
    options = ("--count", "1", "--axis", "lighting", *(() if renderer == "shaded" else ("--renderer", renderer)))
    seen = sheet(folder, tmp_path / "sheet.png", *options)[GAP_PX : GAP_PX + HEIGHT_PX, GAP_PX : GAP_PX + HEIGHT_PX]
    scene = snapshot.scenario(next(row for row in snapshot.rows() if row.kind == "variant"))
    camera = scene.cameras.cameras[0]
    photo = Photographer(cell, catalogue).picture(scene, enlarged(camera, HEIGHT_PX / camera.height_px))
    assert (seen == photo).all() == (renderer == "shaded")
    monkeypatch.setattr(Artist, "picture", None)  # from now on pictures come from the library
    assert (sheet(folder, tmp_path / "again.png", *options)[GAP_PX : GAP_PX + HEIGHT_PX, GAP_PX:-GAP_PX] == seen).all()


def test_a_line_prefers_one_twin_and_one_kind_of_change(snapshot):
    rows = list(snapshot.rows())
    glare, lighting, pose = grid_lines(rows, snapshot)
    assert (glare.axis, glare.kind, lighting.axis, pose.axis) == ("glare", "saturated share", "lighting", "pose")
    assert lighting.twin is not None
    assert list(lighting.levels) == [1, 2, 3, 4, 5]
    assert {level: row.provenance.axes[0].level for level, row in lighting.levels.items()} == dict(
        zip(range(1, 6), range(1, 6), strict=True)
    )
    assert pose.twin is None
    assert [pose.twins[level].scenario_id for level in (1, 2)] == [
        pose.levels[level].provenance.base_id for level in (1, 2)
    ]
    bases = [row for row in rows if row.kind == "base"]
    with pytest.raises(InvalidOption, match="accepted: a library of scenes that vary one axis each"):
        grid_lines(bases, snapshot)


def test_an_axis_has_a_line_for_each_kind_of_change(snapshot):
    rows = [row for row in snapshot.rows() if [one.axis for one in row.provenance.axes] == ["lighting"]]
    lines = grid_lines(rows, snapshot, each_kind=True)
    kinds = [line.kind for line in lines]
    assert len(kinds) == len(set(kinds)) > 2
    two_sided = {f"{name} {way}" for name in ("illuminance factor", "temperature shift") for way in ("up", "down")}
    assert set(kinds) <= {"direction", "shadow"} | two_sided
    for line in lines:
        for row in line.levels.values():
            [quantity] = [one for one in row.provenance.axes[0].severity if one.name.replace("_", " ") in line.kind]
            nominal = 1.0 if "factor" in line.kind else 0.0
            assert (quantity.value < nominal) == line.kind.endswith("down")


def test_a_grid_has_the_twin_beside_the_levels_or_above_them(folder, tmp_path):
    image = sheet(folder, tmp_path / "grid.png", "--grid")
    assert image.shape[0] > 4 * GRID_PX  # glare, lighting, twins of pose, pose
    assert image.shape[1] > 6 * GRID_PX
    alone = sheet(folder, tmp_path / "pose.png", "--grid", "--axis", "pose")
    assert 2 * GRID_PX < alone.shape[0] < 3 * GRID_PX
    assert 5 * GRID_PX < alone.shape[1] < 6 * GRID_PX
    assert (alone[60, -100] == (236, 236, 233)).all()  # no scene of level 5: blank


def test_close_ups_show_what_changed_beside_the_twin(folder, tmp_path):
    image = sheet(folder, tmp_path / "near.png", "--grid", "--close-ups", "--axis", "glare", camera="view")
    tile = 2 * CLOSE_PX + SEAM_PX
    assert CLOSE_PX + 2 * tile < image.shape[1] < CLOSE_PX + 6 * tile
    assert (image == RED).all(axis=-1).sum() > 20  # saturated pixels are painted
    near = sheet(folder, tmp_path / "pose.png", "--grid", "--close-ups", "--axis", "pose", camera="view")
    assert near.shape[0] < 2 * CLOSE_PX  # twins are in the tiles, not in a line of their own


def test_saturated_pixels_alone_are_painted():
    image = np.array([[[255, 10, 20], [254, 254, 254]]], np.uint8)
    assert marked(image).tolist() == [[list(RED), [254, 254, 254]]]


def test_what_a_sheet_refuses_is_said_in_a_sentence(folder):
    assert scenegen("library", "sheet", folder, "-o", "sheet.txt", expect=InvalidOption) == (
        "--output sheet.txt - accepted: a file that ends in .png, .jpg, .jpeg, .webp"
    )
    assert scenegen("library", "sheet", folder, "--close-ups", expect=InvalidOption) == (
        "--close-ups alone - accepted: with --grid"
    )
    assert scenegen("library", "sheet", folder, "--axis", "tilt", expect=InvalidOption) == (
        "--axis tilt - accepted: an axis of which the library holds scenes"
    )
