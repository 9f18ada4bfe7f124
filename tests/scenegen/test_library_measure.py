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


def test_every_target_of_every_scene_is_measured_once(tmp_path, cell):
    folder = str(tmp_path / "lib")
    expand = ("expand", "--axis", "sensor", "--library", folder, "--processes", "1", "--usd", "lazy")
    run(*expand, "--n", "2")
    first = run("library", "measure", folder, "--processes", "1")
    assert first.startswith("3 scenes measured, ")
    assert run("library", "measure", folder) == "every scene is measured; nothing to do\n"
    run(*expand, "--n", "3")
    assert run("library", "measure", folder, "--processes", "1").startswith("1 scenes measured, ")
    asked = "SELECT scenario_id, camera, part FROM meters WHERE meter = 'visible_px' ORDER BY ALL"
    rows = [json.loads(line) for line in run("library", "query", asked, folder, "--format", "json").splitlines()]
    snapshot = VersionedLibrary.open(folder).at()
    expected = {
        (row.scenario_id, camera.name, item.name)
        for row in snapshot.rows()
        for scenario in (snapshot.scenario(row),)
        for camera in scenario.cameras.cameras
        for item in scenario.layout.items
        if cell.slots[item.name].role is Role.TARGET
    }
    assert len(rows) == len(expected)
    assert {(row["scenario_id"], row["camera"], row["part"]) for row in rows} == expected
