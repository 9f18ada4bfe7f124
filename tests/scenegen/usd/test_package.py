"""Packages: whole in themselves, closed to files from elsewhere, valid, and read back as the scene that they hold."""

import zipfile

import pytest

from scenegen.errors import UnreadableStage, UnsafeStage
from scenegen.usd.folder import StageFolder
from scenegen.usd.note import scene_note
from scenegen.usd.package import ALIGNMENT, needed_files, package_bytes, unpacked
from scenegen.usd.reader import read_cell_and_parts, read_scenario
from scenegen.usd.validation import validate_stage


@pytest.fixture
def folder(cell, catalogue, tmp_path):
    return StageFolder(tmp_path / "library", cell, catalogue)


@pytest.fixture
def scene(folder, base_scenario):
    return folder.write(base_scenario)


@pytest.fixture
def package(folder, scene, cell, tmp_path):
    """A package with all parts of the cell, alone in a folder."""
    also = [str(folder.write_asset(item.part).relative_to(folder.root)) for item in cell.inventory]
    path = tmp_path / "alone" / "scene.usdz"
    path.parent.mkdir()
    path.write_bytes(package_bytes(scene, root=folder.root, also=also))
    return path


def test_a_package_reads_back_as_the_scene(package, base_scenario, cell, catalogue):
    with unpacked(package) as scene:
        assert read_scenario(scene) == base_scenario
        found, parts = read_cell_and_parts(scene, trusted=True)
    assert found == cell
    assert {name: part.content_id for name, part in parts.items()} == {
        name: part.content_id for name, part in catalogue.items()
    }
    assert not scene.exists()


def test_openusd_finds_nothing_wrong_with_it(package):
    assert validate_stage(package) == ()


def test_entries_are_stored_aligned_and_dated_alike(package):
    data = package.read_bytes()
    with zipfile.ZipFile(package) as archive:
        entries = archive.infolist()
    assert entries[0].filename == "scene.usda"
    for entry in entries:
        assert entry.compress_type == zipfile.ZIP_STORED
        assert entry.date_time == (1980, 1, 1, 0, 0, 0)
        start = entry.header_offset + 30 + len(entry.filename.encode())
        extra = int.from_bytes(data[entry.header_offset + 28 : entry.header_offset + 30], "little")
        assert (start + extra) % ALIGNMENT == 0


def test_equal_scenes_give_equal_packages(scene, folder):
    assert package_bytes(scene, root=folder.root) == package_bytes(scene, root=folder.root)


def test_the_note_of_a_scene_and_of_other_files(scene, folder, base_scenario, cell):
    note = scene_note(scene)
    assert (note.scenario_id, note.cell_id, note.cell, note.is_scene) == (
        base_scenario.id,
        cell.content_id,
        None,
        True,
    )
    assert not scene_note(folder.write_cell()).is_scene


def appended(scene, text):
    scene.write_text(scene.read_text() + text)
    return scene


@pytest.mark.parametrize(
    "text",
    [
        'def Shader "s"\n{{\n    asset inputs:file = @{0}@\n}}\n',
        'def Xform "x" (\n    prepend references = @{0}@\n)\n{{\n}}\n',
        'def Xform "x" (\n    prepend variantSets = "v"\n)\n{{\n    variantSet "v" = {{\n        "a" (\n'
        "            prepend payload = @{0}@\n        ) {{\n        }}\n    }}\n}}\n",
    ],
    ids=["texture", "reference", "hidden variant"],
)
def test_a_file_from_elsewhere_is_refused_by_name(scene, folder, tmp_path, text):
    secret = tmp_path / "secret.usda"
    secret.write_text('#usda 1.0\ndef Xform "secret"\n{\n}\n')
    appended(scene, text.format(secret))
    with pytest.raises(UnsafeStage) as caught:
        package_bytes(scene, root=folder.root)
    assert str(caught.value) == (f"{scene}: refused (outside): it needs {secret} - accepted: files below {folder.root}")


def test_a_link_that_leads_out_is_refused(scene, folder, tmp_path):
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"secret")
    (scene.parent / "paint.png").symlink_to(secret)
    appended(scene, 'def Shader "s"\n{\n    asset inputs:file = @./paint.png@\n}\n')
    with pytest.raises(UnsafeStage, match=r"refused \(outside\): it needs .*paint.png"):
        needed_files(scene, folder.root)


def test_what_cannot_be_found_is_named(scene, folder):
    appended(scene, 'def Shader "s"\n{\n    asset inputs:file = @./paint.png@\n}\n')
    with pytest.raises(UnsafeStage, match=r"refused \(missing\): it needs '[^']*paint.png', which cannot be found"):
        needed_files(scene, folder.root)


def test_a_scene_without_its_cell(scene, folder, cell):
    (folder.root / "cells" / f"{cell.content_id}.json").unlink()
    with pytest.raises(UnreadableStage, match=r"the cell's specification cannot be read \(No such file or directory\)"):
        package_bytes(scene, root=folder.root)


def repacked(package, change):
    """Write a package's entries anew, as (name, data) that a function has changed."""
    with zipfile.ZipFile(package) as archive:
        entries = [(entry.filename, archive.read(entry)) for entry in archive.infolist()]
    with zipfile.ZipFile(package, "w", zipfile.ZIP_STORED) as archive:
        for name, data in change(entries):
            archive.writestr(name, data)
    return package


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda entries: [*entries, ("../../evil.usda", b"#usda 1.0\n")], "outside"),
        (lambda entries: [*entries, ("/tmp/evil.usda", b"#usda 1.0\n")], "outside"),
        (lambda entries: [*entries, ("run.sh", b"")], "extension"),
        (lambda entries: [*entries, entries[-1]], "package"),
        (lambda entries: [*entries, *((f"x/{n}.png", b"") for n in range(300))], "package"),
        (lambda entries: entries[:2], "missing"),
    ],
    ids=["zip-slip", "absolute", "script", "twice", "too many", "missing"],
)
def test_packages_that_are_not_laid_out(package, change, rule):
    with pytest.raises(UnsafeStage) as caught, unpacked(repacked(package, change)):
        pytest.fail("it was laid out")
    assert caught.value.rule == rule


def test_other_files_are_left_as_they_are(scene, tmp_path):
    for path in (scene, tmp_path / "nowhere.usdz"):
        with unpacked(path) as found:
            assert found == path
