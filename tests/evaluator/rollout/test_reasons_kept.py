"""Why a policy failed is never lost: it is in the episode, in the closing table, with --explain, in the report."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from evaluator.judging.episode import Episode
from evaluator.judging.outcome import Outcome
from evaluator.policies.registry import KINDS, Kind
from evaluator.policy import ActionKind, PolicySpec
from library.tables import EPISODES
from library.versioned import VersionedLibrary
from scenegen.cli import app

TEXT = "policy lame: it raised RuntimeError: weights are on cuda:0, images on cpu - accepted: an answer"
SCENES = 5


class Lame:
    """Never answers."""

    def __init__(self):
        self.spec = PolicySpec("lame", ActionKind.JOINT_POSITION)

    def reset(self, worlds, instructions):
        pass

    def act(self, observation):
        raise RuntimeError("weights are on cuda:0, images on cpu")

    def close(self):
        pass


@pytest.fixture
def lame(small_library, tmp_path, monkeypatch):
    """A copy of the library, and the command line that evaluates the lame policy over it."""
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setitem(KINDS, "lame", Kind(__name__, "lame", truth=""))
    monkeypatch.setitem(sys.modules, __name__, sys.modules[Lame.__module__])
    monkeypatch.setattr(sys.modules[__name__], "build", lambda form, context: Lame(), raising=False)
    library = tmp_path / "lib"
    subprocess.run(["cp", "-r", small_library, library], check=True)

    def run(*options):
        done = CliRunner().invoke(
            app, ["evaluate", str(library), "--policy", "lame", "--simulator", "kinematic", *options]
        )
        assert done.exit_code == 0, done.output + repr(done.exception)
        return done

    run.library = library
    return run


def test_the_text_is_in_each_episode_and_in_the_closing_table(lame):
    said = lame("--explain")
    rows = VersionedLibrary.open(lame.library).at().table(EPISODES.name).scan().to_pylist()
    episodes = [Episode.of(row) for row in rows]
    assert {(one.outcome, one.reason) for one in episodes} == {(Outcome.POLICY_ERROR, TEXT)}
    assert len(episodes) == SCENES
    assert f"policy error │        {SCENES} │ {TEXT}" in said.stdout
    assert f"{SCENES} episodes explain nothing, policy_error: {TEXT}" in said.stderr


def test_it_is_in_the_facts_and_in_the_report(lame, tmp_path):
    facts = json.loads(lame("--json").stdout.splitlines()[-1])
    assert facts["reasons"] == [{"outcome": "policy_error", "text": TEXT, "episodes": SCENES}]
    page = tmp_path / "page.html"
    done = CliRunner().invoke(
        app, ["report", "latest", "--library", str(lame.library), "--no-pictures", "-o", str(page)]
    )
    assert done.exit_code == 0, done.output + repr(done.exception)
    assert f"policy error │        {SCENES} │ {TEXT}" in done.stdout
    assert f"{SCENES} of {SCENES} episodes ended as policy error: {TEXT}." in page.read_text()
