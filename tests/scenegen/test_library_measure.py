"""Readings of kept scenes: made once for every scene, camera and target, and asked for in SQL."""

import json

from typer.testing import CliRunner

from library.versioned import VersionedLibrary
from scenegen.cell import Role
from scenegen.cli import app


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, done.output
    return done.stdout


def readings(folder: str) -> list[dict]:
    asked = "SELECT * FROM meters ORDER BY scenario_id, camera, part"
    return [json.loads(line) for line in run("library", "query", asked, folder, "--format", "json").splitlines()]


def test_expand_measures_every_target_of_every_scene(tmp_path, cell):
    folder = str(tmp_path / "lib")
    run("expand", "--axis", "sensor", "--library", folder, "--processes", "1", "--usd", "lazy", "--n", "2")
    assert run("library", "measure", folder) == "every scene is measured; nothing to do\n"
    rows, snapshot = readings(folder), VersionedLibrary.open(folder).at()
    expected = {
        (row.scenario_id, camera.name, item.name)
        for row in snapshot.rows()
        for scenario in (snapshot.scenario(row),)
        for camera in scenario.cameras.cameras
        for item in scenario.layout.items
        if cell.slots[item.name].role is Role.TARGET and item.zone == "feed"
    }
    assert len(rows) == len(expected)
    assert {(row["scenario_id"], row["camera"], row["part"]) for row in rows} == expected


def test_scenes_from_elsewhere_are_measured_when_asked_and_read_the_same(tmp_path):
    folder, usd, other = (str(tmp_path / name) for name in ("lib", "usd", "other"))
    run("expand", "--axis", "sensor", "--library", folder, "--processes", "1", "--n", "2")
    run("library", "export", folder, "--output", usd)
    run("library", "import", usd, other)
    assert readings(other) == []
    assert run("library", "measure", other, "--processes", "1").startswith("3 scenes measured, ")
    assert readings(other) == readings(folder)
    assert run("library", "measure", other) == "every scene is measured; nothing to do\n"
