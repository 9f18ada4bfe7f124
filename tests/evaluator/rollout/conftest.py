"""Scenes with few parts, and rollouts of them without physics."""

import dataclasses
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from evaluator.judging.episode import EpisodeKey
from evaluator.judging.job import Job
from evaluator.judging.judge import judge
from evaluator.policies.action_range import ActionRange
from evaluator.policies.checked import Checked
from evaluator.policies.context import PolicyContext
from evaluator.policies.latency import parse_latency
from evaluator.policies.registry import make_policy
from evaluator.rollout.kinematic import KinematicLine
from evaluator.rollout.stream import Stream
from library import lance_table
from scenegen.base import sample_base
from scenegen.cli import app
from scenegen.errors import PolicyError
from scenegen.robot import Arm
from scenegen.streams import stream

ROOT = Path(__file__).parents[3]


class Passed:
    """Hands everything on to a line; what tests want to go wrong is overridden."""

    def __init__(self, line):
        self.inner = line
        self.count, self.rate_hz, self.slots, self.fixtures = line.count, line.rate_hz, line.slots, line.fixtures

    def put(self, scenarios):
        self.inner.put(scenarios)

    def command(self, joints_rad, opening):
        self.inner.command(joints_rad, opening)

    def tick(self):
        self.inner.tick()

    def state(self):
        return self.inner.state()

    def images(self, worlds, cameras):
        return self.inner.images(worlds, cameras)


class Spoiled(Passed):
    """Spoils one field of one world's state from a tick on, until the world is given another scene."""

    def __init__(self, line, world, tick, **fields):
        super().__init__(line)
        self.world, self.tick_, self.fields, self.ticks = world, tick, fields, 0

    def tick(self):
        super().tick()
        self.ticks += 1

    def put(self, scenarios):
        super().put(scenarios)
        if self.world in scenarios and self.ticks >= self.tick_:
            self.fields = {}

    def state(self):
        state = super().state()
        if self.ticks < self.tick_:
            return state
        spoiled = {}
        for name, value in self.fields.items():
            array = np.array(getattr(state, name))
            array[self.world] = value
            spoiled[name] = array
        return dataclasses.replace(state, **spoiled)


@pytest.fixture(scope="session")
def passed():
    """`Passed`, to be derived from."""
    return Passed


@pytest.fixture(scope="session")
def spoiled():
    """`spoiled(line, world, tick, field=value)`."""
    return Spoiled


@pytest.fixture(scope="session")
def small(cell):
    """The `fasteners` cell with one or two parts a scene."""
    return cell.replaced(fill=(1, 2))


@pytest.fixture(scope="session")
def scenes(small, catalogue):
    """Five base scenes of it."""
    return [sample_base(small, catalogue, rng=stream("tests", "rollout", index)) for index in range(5)]


@pytest.fixture
def play(small, catalogue):
    """`play(policy, scenes, worlds=2)`: finished episodes by the id of their scene, in the order of their ends."""
    made = []

    def play(policy, scenes, *, worlds=2, latency="0", wrap=lambda line: line, deadline_s=5.0):
        policy = make_policy(policy, PolicyContext(small, catalogue, 3)) if isinstance(policy, str) else policy
        checked = Checked(policy, ActionRange.of(policy.spec.action, small.robot), deadline_s=deadline_s)
        made.append(checked)
        line = wrap(KinematicLine(small, catalogue, count=worlds))
        streamed = Stream(line, checked, small, catalogue, latency=parse_latency(latency, seed=3))
        return {one.scenario.id: one for one in streamed.run(iter(enumerate(scenes)), ticked=lambda pace: None)}

    yield play
    for one in made:
        with suppress(PolicyError):  # it stalled, as it should
            one.close()


@pytest.fixture(scope="session")
def judged(small, catalogue):
    """`judged(finished)`: its episode."""
    arm = Arm(small.robot)

    def judged(finished):
        key = EpisodeKey(run_id="tests", scenario_id=finished.scenario.id, seed=3)
        trace = finished.recorded.trace(finished.end, arm)
        return judge(trace, Job.of(finished.scenario, small, catalogue), key, reason=finished.reason)

    return judged


@pytest.fixture(scope="session")
def content():
    """`content(finished)`: everything that was recorded, but for how long the policy really took."""

    def content(finished):
        recorded = finished.recorded
        arrays = {name: (one.dtype.str, one.tobytes()) for name, one in recorded.arrays.items()}
        return finished.end, finished.reason, recorded.items, recorded.time_s.tobytes(), arrays

    return content


@pytest.fixture(scope="session")
def small_library(tmp_path_factory):
    """A library of four scenes in other light with their bases, one part each."""
    folder = tmp_path_factory.mktemp("rollout")
    text = (ROOT / "scenegen" / "cells" / "fasteners.yaml").read_text(encoding="utf-8")
    lines = ["fill: [1, 1]" if line.startswith("fill:") else line for line in text.splitlines()]
    (folder / "cell.yaml").write_text("\n".join(lines), encoding="utf-8")
    arguments = ["expand", "--axis", "lighting", "--levels", "1,4", "--n", "4", "--cell", str(folder / "cell.yaml")]
    arguments += ["--library", str(folder / "lib"), "--processes", "1", "--usd", "lazy"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    return folder / "lib"


@pytest.fixture
def library(small_library, tmp_path):
    """A copy of it without runs."""
    lance_table._checked.clear()
    return shutil.copytree(small_library, tmp_path / "lib")
