"""`scenegen evaluate`: run again it continues, whatever ended it before; without physics, and in the real Isaac Lab."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluator.judging.episode import Episode
from library.tables import EPISODES
from library.versioned import VersionedLibrary
from scenegen.cli import app

ROOT = Path(__file__).parents[3]
TIMEOUT_S = 1800
DRY = ("--policy", "oracle", "--simulator", "kinematic", "--latency", "0")
SCENES = 5
AT_ONCE = (
    "import sys, evaluator.rollout.runner as runner, scenegen.cli; runner.PUBLISH_EVERY_S = 0.0; scenegen.cli.main()"
)
"""The command line, with episodes committed as soon as they end."""


def typed(*arguments):
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == 0, done.output + repr(done.exception)
    return done.stdout


def card(library, *options, dry=DRY):
    return json.loads(typed("evaluate", library, *dry, *options, "--json").splitlines()[-1])


def kept(library):
    """Kept episodes by scene and attempt, without the times that the policy really took."""
    rows = VersionedLibrary.open(library).at().table(EPISODES.name).scan().to_pylist()
    episodes = [Episode.of(row).replaced(latencies={}) for row in rows]
    found = {(one.key.scenario_id, one.key.attempt): one for one in episodes}
    assert len(found) == len(episodes)
    return found


def runs(library):
    rows = VersionedLibrary.open(library).at().table(EPISODES.name).scan(columns=["run_id"])
    return set(rows.column("run_id").to_pylist())


@pytest.fixture(scope="module")
def undisturbed(small_library, tmp_path_factory):
    """What a run gives that nothing disturbs."""
    folder = tmp_path_factory.mktemp("undisturbed") / "lib"
    subprocess.run(["cp", "-r", small_library, folder], check=True)
    assert card(folder)["outcomes"] == {"success": SCENES}
    return kept(folder)


def test_a_second_run_rolls_nothing_out_and_says_the_same(library, undisturbed):
    first = card(library, "--num-envs", "3")
    assert kept(library) == undisturbed
    assert card(library, "--num-envs", "2") == first
    assert kept(library) == undisturbed


def test_the_last_line_of_progress_speaks_of_all_episodes(library):
    said = CliRunner().invoke(app, ["evaluate", str(library), *DRY]).stderr.splitlines()
    assert said[-1].startswith(f"{SCENES}/{SCENES} episodes, 100% success, ")


def test_some_scenes_first_and_the_others_later_are_one_run(library, undisturbed):
    card(library, "--n", "2", "--num-envs", "1")
    assert len(kept(library)) == 2
    assert card(library)["episodes"] == SCENES
    assert kept(library) == undisturbed


def test_an_axis_brings_its_scenes_and_their_twins(library, undisturbed):
    """Without twins nothing could be retained."""
    levels = {
        row.scenario_id: [one.level for one in row.provenance.axes]
        for row in VersionedLibrary.open(library).at().rows()
    }
    most = max(level for found in levels.values() for level in found)
    assert card(library, "--axis", "lighting", "--where", f"level = {most}")["episodes"] < SCENES
    assert {tuple(levels[scene]) for scene, _ in kept(library)} == {(), (most,)}
    assert card(library, "--axis", "lighting", "--axis", "glare")["episodes"] == SCENES
    assert kept(library) == undisturbed
    for refused, said in {
        ("--axis", "glare"): "--axis glare - accepted: axes of which the version holds scenes",
        ("--axis", "lighting", "--where", "level = 3"): (
            "--axis lighting with --where level = 3 - accepted: axes of which the version holds scenes"
        ),
        ("--where", "level = 3"): "--where level = 3 - accepted: a condition that some scenes of the version meet",
    }.items():
        done = CliRunner().invoke(app, ["evaluate", str(library), *DRY, *refused])
        assert str(done.exception) == said


def test_a_run_that_is_killed_goes_on_where_it_was(library, undisturbed):
    command = [sys.executable, "-c", AT_ONCE, "evaluate", str(library), *DRY, "--num-envs", "1"]
    running = subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + 120
        while not kept(library) and running.poll() is None and time.monotonic() < until:
            time.sleep(0.1)
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    assert 0 < len(kept(library)) < SCENES
    assert card(library)["episodes"] == SCENES
    assert kept(library) == undisturbed


def test_other_scenes_policies_and_latencies_are_other_runs(library):
    card(library, "--n", "1")
    card(library, "--n", "1", dry=("--policy", "noop", *DRY[2:]))
    card(library, "--n", "1", dry=(*DRY[:5], "0.1"))
    assert len(runs(library)) == 3
    dropped = max(row.scenario_id for row in VersionedLibrary.open(library).at().rows())
    typed("library", "drop", dropped, "--reason", "a test", "--library", library)
    card(library, "--n", "1")
    assert len(runs(library)) == 4


def test_repeats_tell_how_often_outcomes_flip(library):
    found = card(library, "--repeats", "3")
    assert found["episodes"] == SCENES
    assert (found["flips"]["hits"], found["flips"]["trials"]) == (0, 2 * SCENES)
    assert sorted(attempt for _, attempt in kept(library)) == [0] * SCENES + [1] * SCENES + [2] * SCENES
    said = typed("evaluate", library, *DRY, "--repeats", "3")
    assert "outcomes that flip when the same scene is rolled out again: 0/10 = 0.000 [0.000, 0.278]\n" in said


def test_explaining_says_at_once_what_failures_come_from(library):
    options = ("--policy", "noop", "--simulator", "kinematic", "--latency", "0", "--explain")
    said = typed("evaluate", library, *options)
    assert "causes of failures" in said
    told = f"{SCENES} × fails in the same way with the truth in place of pictures"
    assert f"what twins of the failed scenes showed: {told}" in " ".join(said.split())
    facts = json.loads(typed("evaluate", library, *options, "--json").splitlines()[-1])
    assert facts["causes"]["rules"] == {"same_failure": SCENES}
    assert facts["causes"]["shares"]["decision"]["hits"] == SCENES
    assert "causes" not in card(library)


def scenegen(folder, *arguments):
    run = subprocess.run(
        [sys.executable, "-m", "scenegen", *arguments], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """Scenes with one part each, and a cell of their own."""
    folder = tmp_path_factory.mktemp("rollout")
    text = (ROOT / "scenegen" / "cells" / "fasteners.yaml").read_text(encoding="utf-8")
    lines = ["fill: [1, 1]" if line.startswith("fill:") else line for line in text.splitlines()]
    (folder / "cell.yaml").write_text("\n".join(lines), encoding="utf-8")
    scenegen(folder, "expand", "--axis", "lighting", "--n", "1", "--cell", "cell.yaml", "--library", "lib")
    return folder


@pytest.mark.slow
@pytest.mark.isaac
@pytest.mark.skipif(importlib.util.find_spec("isaaclab") is None, reason="needs the extra isaac")
def test_the_oracle_sorts_in_isaac_lab(real):
    options = ("lib", "--policy", "oracle", "--latency", "0", "--json")
    first = json.loads(scenegen(real, "evaluate", *options, "--num-envs", "2").splitlines()[-1])
    assert first["episodes"] == 2
    assert first["outcomes"] == {"success": 2}
    assert first["measures"]["takt"]["value"] < 8.0
    assert json.loads(scenegen(real, "evaluate", *options).splitlines()[-1]) == first
    sql = "SELECT outcome, count(*) FROM episodes GROUP BY ALL"
    rows = scenegen(real, "library", "query", sql, "lib", "--format", "csv")
    assert rows.splitlines()[1:] == ["success,2"]


def test_what_the_machine_did_is_kept_with_the_run_and_shown(library):
    first = card(library, "--num-envs", "2")["machine"]
    assert first["host_peak_bytes"] > 50e6
    assert 0 < first["processors"] < 16
    assert (first["worlds"], first["physics_steps"], first["utilisation"], first["device_peak_bytes"]) == (
        2, None, None, None,
    )  # fmt: skip
    assert first["simulated_s"] > SCENES
    assert first["wall_s"] > 0
    assert [one["most"] for one in first["batches"]] in ([1, 2], [2])
    calls = sum(one["calls"]["count"] for one in first["batches"])
    assert calls > SCENES
    said = typed("evaluate", library, *DRY)
    assert "batches of" in said
    assert "real-time factor" in said
    report = json.loads(typed("report", "latest", "--library", library, "--json").splitlines()[-1])
    assert report["card"]["machine"] == first
    card(library, "--num-envs", "1", "--repeats", "2")
    again = card(library)["machine"]
    assert again["simulated_s"] > 1.5 * first["simulated_s"]
    assert sum(one["calls"]["count"] for one in again["batches"]) > calls
