"""`scenegen render`: one scene, a pair, all of them, files, and what it refuses."""

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture
from typer.testing import CliRunner

from library.layers import Layers
from library.versioned import VersionedLibrary
from scenegen.cli import app
from scenegen.commands.artist import Artist
from scenegen.commands.render import Gallery
from scenegen.errors import InvalidOption, LibraryError, MissingExtra, UnknownName
from scenegen.imaging.photographer import Photographer
from scenegen.imaging.render import enlarged, overview
from scenegen.imaging.sheet import HEADLINE_PX


def run(*arguments: str, expect: type[Exception] | None = None) -> str:
    done = CliRunner().invoke(app, ["render", *arguments])
    if expect is None:
        assert done.exit_code == 0, done.output
        return done.stdout
    assert isinstance(done.exception, expect), done.output
    return str(done.exception)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    """A library of two lighting variants and their base."""
    target = str(tmp_path_factory.mktemp("render") / "lib")
    arguments = ["expand", "--axis", "lighting", "--n", "2", "--library", target, "--processes", "1", "--usd", "lazy"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    return target


@pytest.fixture(scope="module")
def snapshot(folder):
    return VersionedLibrary.open(folder).at()


@pytest.fixture(scope="module")
def variant(snapshot):
    return next(row for row in snapshot.rows() if row.kind == "variant")


def picture(path: Path) -> np.ndarray:
    return np.asarray(Picture.open(path))


def test_a_scene_is_drawn_by_its_first_digits(folder, snapshot, variant, cell, catalogue, tmp_path):
    target = tmp_path / "new" / "scene.png"
    said = run(variant.scenario_id[:8], "--library", folder, "--size", "64", "-o", str(target))
    assert said == f"wrote {target}\n"
    photographer, scene = Photographer(cell, catalogue), snapshot.scenario(variant)
    wide = photographer.picture(scene, overview(cell, width_px=64, height_px=40))
    assert (picture(target)[:, :64] == wide).all()
    near = photographer.picture(scene, enlarged(scene.cameras.cameras[0], 40 / 224))
    assert (picture(target)[:, -40:] == near).all()
    run(variant.scenario_id, "--library", folder, "--size", "64", "--camera", "overview", "-o", str(target))
    assert (picture(target) == wide).all()


@pytest.mark.parametrize("renderer", ["preview", "shaded"])
def test_a_camera_is_drawn_at_any_size(folder, variant, tmp_path, renderer):
    target = tmp_path / "scene.png"
    options = ("--camera", "overhead", "--size", "48", "--renderer", renderer, "-o", str(target))
    run(variant.scenario_id, "--library", folder, *options)
    assert picture(target).shape == (48, 48, 3)
    assert np.ptp(picture(target)) > 60


def test_path_tracing_shows_what_the_photo_shows(folder, variant, tmp_path):
    pytest.importorskip("mitsuba", reason="path tracing needs the extra `render`")
    seen = {}
    for renderer in ("shaded", "path"):
        target = tmp_path / f"{renderer}.png"
        options = ("--size", "64", "--renderer", renderer, "--spp", "16", "-o", str(target))
        run(variant.scenario_id, "--library", folder, *options)
        seen[renderer] = picture(target).astype(float)
    assert np.corrcoef(seen["shaded"].ravel(), seen["path"].ravel())[0, 1] > 0.95


def test_path_tracing_without_its_extra_says_what_to_install(folder, variant, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "mitsuba", None)
    options = ("--renderer", "path", "-o", str(tmp_path / "pictures"))
    said = run("all", "--library", folder, *options, expect=MissingExtra)
    assert said == "path tracing needs the extra 'render' - run: pip install 'scenegen[render]'"
    assert list(tmp_path.iterdir()) == []


def test_a_pair_shows_the_twin_on_the_left(folder, snapshot, variant, tmp_path):
    pair, twin = tmp_path / "pair.png", tmp_path / "twin.png"
    options = ("--library", folder, "--camera", "overhead", "--size", "64")
    run(variant.scenario_id, *options, "--pair", "-o", str(pair))
    run(variant.provenance.base_id, *options, "-o", str(twin))
    both, alone = picture(pair), picture(twin)
    assert (both[14 : 14 + 64, 14 : 14 + 64] == alone).all()
    assert (both[14 : 14 + 64, 14 + 64 + 14 : 14 + 64 + 14 + 64] != alone).any()


def test_a_pair_of_wide_pictures_stands_one_above_the_other(folder, variant, tmp_path):
    run(variant.scenario_id, "--library", folder, "--size", "64", "--pair", "-o", str(tmp_path / "pair.png"))
    run(variant.provenance.base_id, "--library", folder, "--size", "64", "-o", str(tmp_path / "twin.png"))
    both, alone = picture(tmp_path / "pair.png"), picture(tmp_path / "twin.png")
    height, width = alone.shape[:2]
    assert (both[HEADLINE_PX : HEADLINE_PX + height, 14 : 14 + width] == alone).all()
    assert both.shape[0] > 2 * height


def test_all_scenes_are_drawn_once(folder, snapshot, tmp_path):
    target = tmp_path / "pictures"
    options = ("all", "--library", folder, "--size", "32", "-o", str(target))
    assert run(*options) == f"wrote 3 pictures into {target}\n"
    names = sorted(path.name for path in target.iterdir())
    assert [name.split("_")[0] for name in names] == ["base", "lighting-1", "lighting-2"]
    assert {name.split("_")[1] for name in names} == {row.scenario_id for row in snapshot.rows()}
    assert all(name.endswith("_view_shaded_32px.png") for name in names)
    removed, kept = target / names[0], target / names[1]
    removed.unlink()
    before = kept.stat().st_mtime_ns
    assert run(*options) == f"wrote 1 pictures into {target}, 2 were there\n"
    assert removed.exists()
    assert kept.stat().st_mtime_ns == before


def test_pictures_of_another_style_are_other_files_and_pairs_leave_bases_out(folder, tmp_path):
    options = ("all", "--library", folder, "--size", "32", "-o", str(tmp_path))
    run(*options)
    assert run(*options, "--pair") == f"wrote 2 pictures into {tmp_path}\n"
    assert len(list(tmp_path.iterdir())) == 5


def test_an_interruption_leaves_whole_pictures_and_the_next_run_goes_on(folder, tmp_path, monkeypatch):
    options = ("all", "--library", folder, "--size", "32", "-o", str(tmp_path))
    draw, drawn = Artist.picture, []

    def stopped(*arguments):
        if len(drawn) == 2:  # overview and camera of one scene
            raise KeyboardInterrupt
        drawn.append(draw(*arguments))
        return drawn[-1]

    monkeypatch.setattr(Artist, "picture", stopped)
    assert CliRunner().invoke(app, ["render", *options]).exit_code == 130
    assert [picture(path).shape for path in tmp_path.iterdir()] == [(20, 32 + 3 + 20, 3)]
    monkeypatch.setattr(Artist, "picture", draw)
    assert run(*options) == f"wrote 2 pictures into {tmp_path}, 1 were there\n"


def test_a_scene_file_is_drawn_as_its_library_s_scene(folder, snapshot, variant, tmp_path):
    scene = Layers(VersionedLibrary.open(folder), snapshot).scene(variant)
    run(str(scene), "--size", "48", "-o", str(tmp_path / "file.png"))
    run(variant.scenario_id, "--library", folder, "--size", "48", "-o", str(tmp_path / "kept.png"))
    assert (picture(tmp_path / "file.png") == picture(tmp_path / "kept.png")).all()
    said = run(str(scene), "--pair", expect=InvalidOption)
    assert said == f"--pair {scene} - accepted: a scene of a library, which knows its twin"


def test_a_twin_is_drawn_once_for_its_variants(folder, snapshot):
    drawn = []

    class Counting:
        name, camera = "counted", "overhead"

        def picture(self, scenario, cell, parts):
            drawn.append(scenario.id)
            return np.zeros((8, 8, 3), np.uint8)

    gallery = Gallery(Counting(), snapshot, Layers(VersionedLibrary.open(folder), snapshot), pair=True)
    rows = [row for row in snapshot.rows() if row.kind == "variant"]
    for row in rows:
        gallery.page(row)
    assert drawn == [rows[0].provenance.base_id, *(row.scenario_id for row in rows)]


def test_what_cannot_be_drawn_is_named(folder, snapshot, variant, tmp_path):
    base = next(row.scenario_id for row in snapshot.rows() if row.kind == "base")
    library = ("--library", folder)
    assert run(base, *library, "--pair", expect=InvalidOption) == (
        f"--pair {base} - accepted: a scene with a twin; this one is a base"
    )
    assert run("all", *library, "--axis", "pose", expect=InvalidOption) == (
        "--axis pose - accepted: an axis of which the library holds scenes"
    )
    assert run(base, *library, "--axis", "lighting", expect=InvalidOption) == (
        "--axis lighting - accepted: with `all`, not with one scene"
    )
    assert run(variant.scenario_id, *library, "-o", "scene.txt", expect=InvalidOption) == (
        "--output scene.txt - accepted: a file that ends in .png, .jpg, .jpeg, .webp"
    )
    assert run("all", *library, "-o", "scene.png", expect=InvalidOption) == (
        "--output scene.png - accepted: a folder, for the pictures of all scenes"
    )
    assert run("ffffffffffff", *library, expect=LibraryError) == (
        f"{snapshot.name}: no scenario 'ffffffffffff' - list ids with `scenegen library list`"
    )
    assert run(variant.scenario_id, *library, "--camera", "overhad", "-o", "scene.png", expect=UnknownName) == (
        "unknown camera 'overhad' - did you mean 'overhead'?"
    )
    assert run("cell.yaml", expect=InvalidOption) == (
        "render cell.yaml - accepted: a scenario's id, `all`, or a USD scene (.usda, .usd, .usdc, .usdz)"
    )
    missing = tmp_path / "missing.usda"
    assert run(str(missing), expect=InvalidOption) == f"render {missing} - accepted: a file that is there"
    missing.touch()
    assert run("all", *library, "-o", str(missing), expect=InvalidOption) == (
        f"--output {missing} - accepted: a folder, and this is a file"
    )
