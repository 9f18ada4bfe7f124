"""A robot of one's own goes with the library: a rollout finds it from any folder, and proves it."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from library.layers import Layers
from library.versioned import USD, VersionedLibrary
from scenegen.cells.loader import builtin_text
from scenegen.cli import app

ROOT = Path(__file__).parents[3]
ARM = '#usda 1.0\n(\n    defaultPrim = "Arm"\n)\n\ndef Xform "Arm"\n{\n}\n'


def typed(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.fixture(scope="module")
def own_robot():
    """A whole robot as USD: the built-in one's file where Isaac Lab is there, else a bare prim."""
    if importlib.util.find_spec("urdf_usd_converter") is None:
        return None
    assets = importlib.import_module("evaluator.isaac.robot_asset")
    cells = importlib.import_module("scenegen.cells.loader")
    return assets.robot_asset(cells.load_cell("fasteners").robot).usd


@pytest.fixture
def armed(own_robot, tmp_path, monkeypatch):
    """A library of scenes with it; the cell's folder is gone, and the command runs elsewhere."""
    line, elsewhere = tmp_path / "line", tmp_path / "elsewhere"
    line.mkdir()
    elsewhere.mkdir()
    data = yaml.safe_load(builtin_text("fasteners"))
    data["fill"], data["robot"]["usd"] = [1, 1], "arm.usdc" if own_robot else "arm.usda"
    (line / "cell.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    if own_robot:
        shutil.copyfile(own_robot, line / "arm.usdc")
    else:
        (line / "arm.usda").write_text(ARM)
    arguments = ["--axis", "lighting", "--n", "1", "--cell", line / "cell.yaml", "--library", tmp_path / "lib"]
    done = typed("expand", *arguments, "--processes", "1", "--usd", "lazy")
    assert done.exit_code == 0, done.output
    shutil.rmtree(line)
    monkeypatch.chdir(elsewhere)
    return tmp_path / "lib"


def robot_in(library):
    store = VersionedLibrary.open(library)
    snapshot = store.at()
    row = next(iter(snapshot.rows()))
    layers = Layers(store, snapshot)
    return layers.cell_and_parts(row)[0], layers.robot(row)


def test_it_is_found_in_the_library(armed, own_robot):
    cell, file = robot_in(armed)
    assert file == armed / USD / "cells" / cell.robot.usd
    done = typed("evaluate", armed, "--policy", "oracle", "--simulator", "kinematic", "--latency", "0", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout.splitlines()[-1])["outcomes"] == {"success": 2}
    if own_robot:
        line = pytest.importorskip("evaluator.isaac.line", reason="needs the extra isaac")
        assert line.robot_of(cell, file).usd == file


@pytest.mark.parametrize(
    ("harm", "reason"),
    [(lambda file: file.unlink(), "the file is missing"), (lambda file: file.write_bytes(b"?"), "its SHA-256 is not")],
    ids=["gone", "changed"],
)
def test_it_is_proved_before_anything_runs(armed, harm, reason):
    _, file = robot_in(armed)
    harm(file)
    command = [sys.executable, "-m", "scenegen", "evaluate", armed, "--policy", "noop", "--simulator", "kinematic"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"scenegen: {file}: damaged: {reason}")
    assert done.stderr.count("\n") == 1


def test_without_the_library_its_place_must_be_said(own_robot, cell):
    if own_robot is None:
        pytest.skip("needs the extra isaac")
    picture = importlib.import_module("evaluator.rollout.robot_picture")
    named = cell.replaced(robot=cell.robot.replaced(usd="arm.usdc"))
    with pytest.raises(ValueError, match=r"^arm.usdc: /: it was not said where the robot's file lies"):
        picture.robot_picture(named)
