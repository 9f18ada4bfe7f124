"""`scenegen evaluate` in the real Isaac Lab: the oracle sorts, doing nothing fails, a second run only reports."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("isaaclab", reason="needs the extra isaac")

ROOT = Path(__file__).parents[3]
TIMEOUT_S = 1800


def scenegen(folder, *arguments):
    run = subprocess.run(
        [sys.executable, "-m", "scenegen", *arguments], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Scenes with one part each, and a cell of their own."""
    folder = tmp_path_factory.mktemp("rollout")
    text = (ROOT / "scenegen" / "cells" / "fasteners.yaml").read_text(encoding="utf-8")
    lines = ["fill: [1, 1]" if line.startswith("fill:") else line for line in text.splitlines()]
    (folder / "cell.yaml").write_text("\n".join(lines), encoding="utf-8")
    scenegen(folder, "expand", "--axis", "lighting", "--n", "1", "--cell", "cell.yaml", "--library", "lib")
    return folder


def card(said):
    return json.loads(said.strip().splitlines()[-1])


@pytest.mark.slow
@pytest.mark.isaac
def test_the_oracle_sorts_what_doing_nothing_leaves(library):
    said = scenegen(library, "evaluate", "lib", "--policy", "oracle", "--latency", "0", "--num-envs", "2", "--json")
    first = card(said)
    assert first["episodes"] == 2
    assert first["outcomes"] == {"success": 2}
    assert first["measures"]["takt"]["value"] < 8.0
    again = card(scenegen(library, "evaluate", "lib", "--policy", "oracle", "--latency", "0", "--json"))
    assert again == first
    sql = "SELECT outcome, count(*) FROM episodes GROUP BY ALL"
    rows = scenegen(library, "library", "query", sql, "lib", "--format", "csv")
    assert rows.splitlines()[1:] == ["success,2"]
