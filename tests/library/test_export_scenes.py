"""Scenes as a USD folder and as packages: whole in themselves, proved, and read back as the scenes that they were."""

import csv
import hashlib
import json

import pytest

from library.export_scenes import SceneFolder, export_folder, export_packages
from library.export_selection import Selection
from library.structures import keep_structures
from library.versioned import USD, Changes, Signature, VersionedLibrary
from scenegen.errors import LibraryError, UnsafeStage
from scenegen.usd.package import unpacked
from scenegen.usd.reader import read_cell_and_parts, read_scenario

ARM = '#usda 1.0\n(\n    defaultPrim = "arm"\n    upAxis = "Z"\n)\ndef Xform "arm"\n{{\n{}}}\n'


def quiet(_count):
    pass


def export(library, folder, **options):
    folder.mkdir()
    return export_folder(library, library.at(), Selection(**options), folder, noted=quiet)


def pack(library, folder, **options):
    scratch = folder.with_name(f"{folder.name}-scratch")
    folder.mkdir()
    scratch.mkdir()
    return export_packages(library, library.at(), Selection(**options), folder, scratch=scratch, noted=quiet)


def damage(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def test_a_folder_stands_for_itself(kept, tmp_path):
    out = tmp_path / "out"
    counts = export(kept, out)
    assert counts["scenes"] == 8
    snapshot = kept.at()
    with (out / "scenes.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["scenario_id"] for row in rows] == [row.scenario_id for row in snapshot.rows()]
    (kept.folder / "usd").rename(tmp_path / "gone")
    for row in rows[:2]:
        scene = out / row["file"]
        assert read_scenario(scene, trusted=True).id == row["scenario_id"]
        read_cell_and_parts(scene, trusted=True)


def test_provenance_names_the_version_and_every_file(kept, tmp_path):
    out = tmp_path / "out"
    counts = export(kept, out, limit=2)
    facts = json.loads((out / "provenance.json").read_text())
    commit = kept.history.find("main")
    assert facts["library"] == "scenes"
    assert facts["commit"] == {"branch": "main", "number": commit.number, "id": commit.content_id}
    assert (facts["fingerprint"], facts["rows"], facts["scenes"]) == (commit.fingerprint, 2, 2)
    there = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert set(facts["files"]) == there - {"provenance.json", "scenes.csv"}
    assert counts["files"] == len(facts["files"])
    for name, one in facts["files"].items():
        data = (out / name).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (one["size"], one["sha256"])


@pytest.mark.parametrize("folder", ["scenes", "layouts", "cells", "assets"])
def test_a_damaged_file_is_not_copied(kept, tmp_path, folder):
    path = sorted(path for path in (kept.usd / folder).rglob("*") if path.is_file())[0]
    damage(path)
    with pytest.raises(LibraryError, match=rf"^{path}: damaged: its SHA-256 is not [0-9a-f]{{12}}…"):
        export(kept, tmp_path / "out")
    exported = tmp_path / "out" / path.relative_to(kept.usd)
    assert not exported.exists()


def test_a_missing_layer_is_named(kept, tmp_path):
    path = next(path for path in sorted((kept.usd / "scenes").rglob("*.usda")))
    path.unlink()
    with pytest.raises(LibraryError, match=rf"^{path}: damaged: the file is missing"):
        export(kept, tmp_path / "out")


def test_scenes_that_were_never_written_are_made_and_the_library_stays(scene_maker, tmp_path):
    library = VersionedLibrary.create(tmp_path / "lazy")
    files = keep_structures(library, scene_maker.cell, scene_maker.catalogue)
    changes = Changes(files=files)
    for line in scene_maker.lines(None, range(2)):
        changes.add(line.rows)
    library.publish(changes, Signature("lazy"))
    assert export(library, tmp_path / "out")["scenes"] == 3
    assert not (library.usd / "scenes").exists()
    scene = tmp_path / "out" / "scenes" / scene_maker.base.id[:2] / f"{scene_maker.base.id}.usda"
    assert read_scenario(scene, trusted=True) == scene_maker.base


def test_packages_read_back_as_their_scenes_and_are_equal_every_time(kept, tmp_path):
    assert pack(kept, tmp_path / "a", limit=2) == {"scenes": 2, "files": 2}
    pack(kept, tmp_path / "b", limit=2)
    snapshot = kept.at()
    for row in list(snapshot.rows())[:2]:
        package = tmp_path / "a" / f"{row.scenario_id}.usdz"
        assert package.read_bytes() == (tmp_path / "b" / package.name).read_bytes()
    with unpacked(package) as scene:
        assert read_scenario(scene, trusted=True) == snapshot.scenario(row)


@pytest.fixture
def armed(scene_maker, tmp_path):
    """Make a library whose cell has a robot of one's own, with something in its USD file."""

    def make(body, name="arm.usda"):
        robot = scene_maker.cell.robot.replaced(usd=name)
        cell = scene_maker.cell.replaced(robot=robot)
        base = scene_maker.base.varied(cell_id=cell.content_id)
        maker = type(scene_maker)(cell, scene_maker.catalogue, base)
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / name).write_text(ARM.format(body))
        library = VersionedLibrary.create(tmp_path / "armed")
        files = keep_structures(library, cell, scene_maker.catalogue)
        files |= library.keep_file(f"{USD}/cells/{name}", (tmp_path / "mine" / name).read_bytes())
        library.publish(Changes(files=files), Signature("the cell"))
        maker.keep(library, range(1))
        return library

    return make


def test_a_robot_of_ones_own_travels_along(armed, tmp_path):
    library = armed("")
    export(library, tmp_path / "out")
    assert (tmp_path / "out" / "cells" / "arm.usda").is_file()
    assert pack(library, tmp_path / "packed", limit=1)["scenes"] == 1
    assert b"arm.usda" in next((tmp_path / "packed").glob("*.usdz")).read_bytes()


@pytest.mark.parametrize("write", [export, pack], ids=["usd", "usdz"])
def test_a_file_from_elsewhere_is_never_packed(armed, tmp_path, write):
    secret = tmp_path / "secret.txt"
    secret.write_text("the password")
    library = armed(f'    def Shader "s"\n    {{\n        asset inputs:file = @{secret}@\n    }}\n')
    with pytest.raises(UnsafeStage) as caught:
        write(library, tmp_path / "out")
    cell = next(path for path in tmp_path.glob("out*/cells/*.usda") if path.name != "arm.usda")
    root = cell.parent.parent
    assert str(caught.value) == (f"{cell}: refused (outside): it needs {secret} - accepted: files below {root}")
    assert not any(b"the password" in path.read_bytes() for path in root.rglob("*") if path.is_file())


def test_a_file_that_is_missing_is_named(armed, tmp_path):
    library = armed('    def Shader "s"\n    {\n        asset inputs:file = @./paint.png@\n    }\n')
    with pytest.raises(UnsafeStage, match=r"refused \(missing\): it needs '[^']*paint.png', which cannot be found"):
        export(library, tmp_path / "out")


def test_nothing_is_written_beside_the_export(kept, tmp_path):
    target = SceneFolder(kept, kept.at(), tmp_path / "deep" / "out")
    with pytest.raises(UnsafeStage, match=r"it would be written beside the export - accepted: files below it$"):
        target._put("cells/../../x.usda", b"")
    assert not (tmp_path / "deep").exists()
