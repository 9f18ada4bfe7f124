"""`scenegen library import` as a user types it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from library.export_scenes import export_folder
from library.export_selection import Selection
from library.versioned import VersionedLibrary
from scenegen.commands.library_import import app
from scenegen.errors import InvalidOption

SAMPLE = Path(__file__).parent / "data" / "libero_plus_tasks.json"


def run(*arguments, expect=0):
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == expect, result.output
    return result.stdout


def test_scenes_are_checked_and_kept(kept, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    export_folder(kept, kept.at(), Selection(limit=1), source, noted=lambda _: None)
    scene = next((source / "scenes").rglob("*.usda"))
    scene.with_name("z_broken.usda").write_text("#usda 1.0\n(")
    output = run(source, tmp_path / "mine", "-m", "from a friend", expect=1)
    assert "1 kept, 0 known, 0 invalid, 1 refused," in output
    assert f"scenes/{scene.parent.name}/z_broken.usda: refused: " in output
    library = VersionedLibrary.open(tmp_path / "mine")
    (row,) = library.at().rows()
    assert (row.kind, library.at().commit.message) == ("imported", "from a friend")
    verdict = library.at().verdict(row)
    assert verdict.ok
    assert len(verdict.statuses) > 20


def test_a_library_and_a_version_of_it(kept, tmp_path, monkeypatch):
    monkeypatch.setattr("library.import_structures.refuse_unsafe", lambda path, *, root: None)
    output = run(f"{kept.folder}@v1", tmp_path / "mine")
    assert "5 scenarios" in output
    assert VersionedLibrary.open(tmp_path / "mine").at().commit.message == "import library scenes@v1"
    said = json.loads(run(kept.folder, tmp_path / "mine", "--json").splitlines()[-1])
    assert (said["scenarios"], said["left_out"], said["conflicts"]) == (3, 0, 0)
    assert "nothing new" in run(kept.folder, tmp_path / "mine")


def test_a_task_list_is_shown_before_anything_is_made(tmp_path):
    output = run(SAMPLE, tmp_path / "mine", "--dry-run", expect=1)
    rows = [line.replace("│", " ").split() for line in output.splitlines() if "│" in line]
    assert rows == [
        ["background", "2", "1", "1"],
        ["language", "4", "1", "1"],
        ["lighting", "1", "2", "2"],
        ["misplacement", "2", "1", "1"],
        ["occlusion", "2", "1", "1"],
        ["pose", "3", "1", "1"],
        ["sensor", "5", "1", "1"],
    ]
    assert output.splitlines()[-1:] == [
        "Light Conditions: 1 entries without a level, which nothing can be expanded from",
    ]
    assert not (tmp_path / "mine").exists()


def test_a_task_list_is_expanded(tmp_path):
    entries = [{"name": f"light_{n}", "category": "Light Conditions", "difficulty_level": 2} for n in range(3)]
    (tmp_path / "tasks.json").write_text(json.dumps({"suite": entries}))
    run(tmp_path / "tasks.json", tmp_path / "mine", "--limit", "2", "--processes", "1")
    rows = [row for row in VersionedLibrary.open(tmp_path / "mine").at().rows() if row.kind != "base"]
    assert [[(one.axis, one.level) for one in row.provenance.axes] for row in rows] == [[("lighting", 2)]] * 2


def test_what_is_no_source(tmp_path):
    with pytest.raises(InvalidOption) as caught:
        run(tmp_path / "nowhere", tmp_path / "mine")
    accepted = "a folder of USD scenes, a USD scene, a library, or a task list (.json)"
    assert str(caught.value) == f"SOURCE {tmp_path / 'nowhere'} - accepted: {accepted}"
