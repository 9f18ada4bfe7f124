"""Every command of the README runs as it is written, with fewer scenes."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
FEWER = {"10000": "40", "1000": "12", "500": "6"}
"""Numbers of scenes as the README has them, and as they are run here."""
FAILS = "exit code 1"
"""What the comment says beside a command that is meant to find something."""


def lines(*starts: str) -> list[str]:
    """Return the lines of all code blocks that begin with one of the words."""
    blocks = re.findall(r"```(?:bash)?\n(.*?)```", README, flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith(starts)]


def commands(start: str) -> list[str]:
    """Return the commands of all code blocks that begin with a word, without their comments."""
    return [line.split("#")[0].strip() for line in lines(start)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder for all commands, since they build on each other."""
    return tmp_path_factory.mktemp("readme")


def test_the_readme_has_the_commands():
    assert commands("make") == ["make demo", "make test"]
    assert len(commands("scenegen")) >= 5


@pytest.mark.parametrize("line", lines("scenegen", "truncate"))
def test_a_command_of_the_readme_runs(line, folder):
    command, _, comment = line.partition("#")
    for many, few in FEWER.items():
        command = re.sub(rf"--n {many}\b", f"--n {few}", command)
    scenegen = f'scenegen() {{ {shlex.quote(sys.executable)} -m scenegen "$@"; }}'
    done = subprocess.run(
        ["bash", "-c", f"{scenegen}; {command}"], cwd=folder, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == (1 if FAILS in comment else 0), done.stdout + done.stderr


def test_make_demo_makes_scenes_and_a_picture(tmp_path):
    environment = {**os.environ, "VENV": str(Path(sys.prefix))}
    done = subprocess.run(
        ["make", "demo", f"DEMO={tmp_path / 'demo'}"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kept 300 of 300 scenes" in " ".join(done.stdout.split())
    assert (tmp_path / "demo.png").stat().st_size > 100_000


def test_pictures_of_the_readme_exist():
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", README):
        assert (ROOT / picture).stat().st_size > 10_000


def test_the_example_writes_a_checked_scene(tmp_path):
    command = [sys.executable, str(ROOT / "examples" / "one_scene.py"), str(tmp_path)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
    assert lines[-2] == "ok"
    assert Path(lines[-1]).is_file()
