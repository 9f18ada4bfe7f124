"""A small library with runs whose episodes were played by hand and judged like any other."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from evaluator.judging.episode import Episode, EpisodeKey
from evaluator.judging.job import Job
from evaluator.judging.judge import judge
from evaluator.judging.trace import EndReason, Trace
from evaluator.rollout.run import Run
from library import lance_table
from library.layers import Layers
from library.tables import EPISODES, RUNS
from library.versioned import Changes, Signature, VersionedLibrary
from scenegen.cell import Role
from scenegen.cli import app
from scenegen.streams import stream

STEP_S = 0.04
HIGH_M = 0.2
"""Height at which things are carried [m]."""
HOME = np.array([0.35, 0.0, 0.3])
SIMULATOR = {"newton": "1.6.1", "isaaclab": "3.0.0"}
GOOD, MISS, SLIP, WRONG_BIN, LEFT, CRASH = "good", "miss", "slip", "wrong_bin", "left", "crash"
"""What may happen to a target."""


class Hand:
    """Plays one episode: a tool that carries one item at a time, straight from rest to rest."""

    def __init__(self, job: Job) -> None:
        self.job = job
        items = job.scenario.layout.items
        self.tool, self.opening, self.force = HOME.copy(), 1.0, 0.0
        self.places = np.array([item.pose_to_world.position_m for item in items]).reshape(-1, 3)
        self.quats = np.array([item.pose_to_world.quat_xyzw for item in items]).reshape(-1, 4)
        self.heights = self.places[:, 2] - job.cell.feed.pose_to_world.position_m[2]
        self.held: int | None = None
        self.rows: list[tuple] = []
        self.wait(STEP_S)

    def wait(self, seconds: float) -> None:
        self.go(self.tool, seconds)

    def go(self, to, seconds: float) -> None:
        start = self.tool.copy()
        for share in np.linspace(0, 1, max(1, round(seconds / STEP_S)) + 1)[1:]:
            before, self.tool = self.tool, start + (np.asarray(to) - start) * (3 * share**2 - 2 * share**3)
            if self.held is not None:
                self.places[self.held] += self.tool - before
            self._sample()

    def grip(self, item: int | None, opening: float) -> None:
        start, self.held = self.opening, item if opening < 0.5 else self.held
        for share in (0.25, 0.5, 0.75, 1.0):
            self.opening = start + (opening - start) * share
            if opening > 0.5 and share >= 0.5:
                self.held = None
            self._sample()

    def fall(self, item: int, spot) -> None:
        start, goal = self.places[item].copy(), np.array([*spot, 0.0])
        goal[2] = self._floor(goal) + self.heights[item]
        for share in np.linspace(0, 1, max(2, round(np.sqrt(2 * abs(start[2] - goal[2]) / 9.81) / STEP_S)) + 1)[1:]:
            self.places[item] = start + (goal - start) * np.array([share, share, share**2])
            self._sample()

    def sort(self, item: int, how: str, rng: np.random.Generator) -> None:
        """Bring a target to its bin, or fail in some way."""
        if how == LEFT:
            return
        x, y, z = self.places[item]
        self.go((x, y, HIGH_M), 0.8)
        if how == CRASH:
            self.force = 90.0
            self.wait(0.2)
            self.force = 0.0
            return
        self.go((x, y, z), 0.4)
        if how == MISS:
            self.grip(None, 0.0)
            self.go((x, y, HIGH_M), 0.4)
            self.grip(None, 1.0)
            return
        self.grip(item, 0.3)
        self.go((x, y, HIGH_M), 0.4)
        own = sorted(self.job.wanted[item])[0]
        names = [one for one in self.job.bins if (one == own) is not (how == WRONG_BIN)]
        pose = self.job.fixtures[names[0]].position
        spot = pose[:2] + rng.uniform(-0.012, 0.012, 2)
        if how == SLIP:
            self.go((0.35, 0.05, HIGH_M), 0.5)
            self.held = None
            self.fall(item, (0.3, 0.05))
            self.grip(None, 1.0)
            return
        self.go((*spot, HIGH_M), 0.8)
        self.go((*spot, 0.07), 0.4)
        self.grip(item, 1.0)
        self.fall(item, spot)
        self.go((*spot, HIGH_M), 0.4)

    def _floor(self, at) -> float:
        """Height of what is below a place [m]."""
        cell = self.job.cell
        for name, box in cell.containers.items():
            pose = self.job.fixtures[name]
            if np.all(np.abs(at[:2] - pose.position[:2]) < np.array(box.size_m) / 2):
                return float(pose.position[2])
        return 0.0

    def _sample(self) -> None:
        self.rows.append((self.tool.copy(), self.opening, self.places.copy(), self.held, self.force))

    def trace(self, end: EndReason, latency_s) -> Trace:
        count, items = len(self.rows), len(self.job.items)
        tool, places = np.array([row[0] for row in self.rows]), np.array([row[2] for row in self.rows])
        velocity = np.zeros((count, items, 6))
        velocity[1:, :, :3] = np.diff(places, axis=0) / STEP_S
        held = np.zeros((count, items), bool)
        for sample, row in enumerate(self.rows):
            if row[3] is not None:
                held[sample, row[3]] = True
        robot = self.job.cell.robot
        return Trace(
            items=self.job.items,
            end=end,
            time_s=np.arange(count) * STEP_S,
            joint_pos=np.tile(robot.start_joints_rad, (count, 1)),
            joint_vel=np.ones((count, len(robot.joints))) * 0.3,
            joint_torque=np.ones((count, len(robot.joints))) * 5.0,
            gripper_opening=np.array([row[1] for row in self.rows]),
            tcp_pose=np.concatenate([tool, np.tile([1.0, 0, 0, 0], (count, 1))], axis=1),
            item_pose=np.concatenate([places, np.broadcast_to(self.quats, (count, items, 4))], axis=2),
            item_vel=velocity,
            finger_touch=held,
            body_touch=np.zeros((count, items), bool),
            item_fixture=np.full((count, items), -1),
            fixture_force=np.array([row[4] for row in self.rows]),
            fixtures=("table", "feed", *self.job.bins),
            latency_s=np.asarray(latency_s, float),
        )


@dataclass(frozen=True)
class Playground:
    """Plays scenes of one library and keeps the episodes."""

    store: VersionedLibrary

    @property
    def snapshot(self):
        return self.store.at()

    @property
    def rows(self):
        """The scenes, each once, in order of their ids: bases and variants."""
        return sorted({row.scenario_id: row for row in self.snapshot.rows()}.values(), key=lambda row: row.scenario_id)

    def run(self, policy: str, **changes) -> Run:
        facts = {"policy": policy, "version": self.snapshot.commit.content_id, "latency": "0.05", "seed": 0}
        return Run(**{**facts, "device": "cpu", "simulator": SIMULATOR, **changes})

    def play(self, run: Run, scenario, how, *, attempt: int = 0) -> Episode:
        """Play one scene: `how(target index, rng)` says what happens to each target."""
        row = self.rows[0]
        job = Job.of(scenario, *Layers(self.store, self.snapshot).cell_and_parts(row))
        rng, hand = stream(run.policy, scenario.id, run.seed), Hand(job)
        items = scenario.layout.items
        for index, item in enumerate(items):
            if job.roles[index] is Role.TARGET and item.zone == "feed":
                hand.sort(index, how(index, rng), rng)
        hand.go(HOME, 0.5)
        hand.wait(1.2)
        key = EpisodeKey(run_id=run.content_id, scenario_id=scenario.id, seed=run.seed, attempt=attempt)
        return judge(hand.trace(EndReason.DONE, rng.lognormal(-3.5, 0.4, 30)), job, key)

    def instant(self, run: Run, row) -> Episode:
        """Keep a scene as it was loaded, and nothing else: an episode of no length."""
        scenario = self.snapshot.scenario(row)
        job = Job.of(scenario, *Layers(self.store, self.snapshot).cell_and_parts(row))
        key = EpisodeKey(run_id=run.content_id, scenario_id=scenario.id, seed=run.seed)
        return judge(Hand(job).trace(EndReason.TIMEOUT, []).until(1), job, key)

    def play_all(self, run: Run, rows, how_of) -> list[Episode]:
        scenes = self.snapshot.scenarios(rows)
        return [self.play(run, scene, how_of(row)) for row, scene in zip(rows, scenes, strict=True)]

    def keep(self, run: Run, episodes: list[Episode]) -> None:
        signature = Signature("evaluate", author="tests", command=("scenegen", "evaluate", "--policy", run.policy))
        rows = {EPISODES.name: [one.columns() for one in episodes], RUNS.name: [run.columns()]}
        self.store.publish(Changes(rows=rows), signature)


def always_so(how: str):
    return lambda row: lambda index, rng: how


def worse_by_level(row):
    level = max((one.level for one in row.provenance.axes), default=0)
    ways = {"glare": MISS, "lighting": WRONG_BIN, "pose": SLIP}
    first = row.provenance.axes[0].axis if row.provenance.axes else ""

    def how(index, rng):
        if rng.random() >= 0.02 + 0.1 * level:
            return GOOD
        return ways.get(first, LEFT) if rng.random() < 0.7 else str(rng.choice([MISS, SLIP, WRONG_BIN, CRASH, LEFT]))

    return how


def scenegen(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, [*arguments])
    assert done.exit_code == code, done.output + repr(done.exception)
    return done.stdout


@pytest.fixture(scope="session")
def always():
    """`always(how)`: the same happens to every target of every scene."""
    return always_so


@pytest.fixture(scope="session")
def by_level():
    """Errors grow with the level of a scene."""
    return worse_by_level


@pytest.fixture(scope="session")
def scenes_folder(tmp_path_factory) -> Path:
    """A library of eight scenes of two axes with their bases, and no runs."""
    folder = tmp_path_factory.mktemp("report") / "lib"
    for axis in ("lighting", "pose"):
        options = ("--n", "4", "--library", str(folder), "--processes", "1", "--usd", "lazy")
        scenegen("expand", "--axis", axis, "--levels", "1,5", *options)
    return folder


@pytest.fixture
def ground(scenes_folder, tmp_path) -> Playground:
    """A copy of the library without runs."""
    lance_table._checked.clear()
    return Playground(VersionedLibrary.open(shutil.copytree(scenes_folder, tmp_path / "lib")))
