"""Episodes that are played by hand: a tool, a gripper and four items, sampled at 50 Hz."""

import numpy as np
import pytest

from evaluator.judging.episode import Episode, EpisodeKey
from evaluator.judging.job import Job
from evaluator.judging.measures_motion import MotionMeasures
from evaluator.judging.measures_task import TaskMeasures
from evaluator.judging.observed import Observed
from evaluator.judging.timeline import timeline
from evaluator.judging.trace import EndReason, Trace
from scenegen.geometry import Pose
from scenegen.nominal import nominal_fixtures, nominal_scenario
from scenegen.provenance import AxisSetting, Provenance
from scenegen.scenario import Item, Layout, Task

RATE_HZ = 50
HIGH = 0.2
"""Height at which things are carried [m]."""
BOLT, LONG, NUT, WASHER = "hex_bolt_m6x20_00", "hex_bolt_m8x20_00", "hex_nut_m6_00", "flat_washer_m8_00"
"""Belong in bin_a, bin_b and bin_c; the washer is foreign."""
FEED_M = {BOLT: (0.45, -0.06), LONG: (0.45, 0.06), NUT: (0.55, -0.06), WASHER: (0.55, 0.06)}
HEIGHT_M = {BOLT: 0.0045, LONG: 0.006, NUT: 0.0026, WASHER: 0.0008}
"""Height of each part's frame above what it lies on [m]."""
BIN_M = {"bin_a": (0.42, 0.235), "bin_b": (0.58, 0.235), "bin_c": (0.42, -0.235), "bin_d": (0.58, -0.235)}
FLOOR_M = 0.004
"""Height of the floors of feed and bins [m]."""
HOME = (0.35, 0.0, 0.3)


def lying(name, place, *, floor_m=FLOOR_M):
    """Position of an item that lies at a place: a bin's name or x, y [m]."""
    x, y = BIN_M.get(place, place) if isinstance(place, str) else place
    return np.array([x, y, floor_m + HEIGHT_M[name]])


def scene(cell, catalogue, *names, places=None, fixtures=None, motion=None):
    """A scenario with some of the four items, in the feed or elsewhere."""
    places = places or {}
    items = []
    for name in names:
        part = name.rsplit("_", 1)[0]
        position = lying(name, places.get(name, FEED_M[name]))
        zone = places.get(name, "feed")
        pose = Pose.of(position, catalogue[part].stable_poses[0].quat_xyzw)
        items.append(Item(name=name, part=part, zone=zone if isinstance(zone, str) else "table", pose_to_world=pose))
    layout = Layout(fixtures=fixtures or nominal_fixtures(cell), items=tuple(items))
    made = nominal_scenario(cell, catalogue, layout, Task(rules=cell.rules, instruction="Sort."))
    return made if motion is None else made.varied(motion=made.motion.replaced(**motion))


class Script:
    """Plays an episode step by step; items in the grip follow the tool."""

    def __init__(self, job):
        self.job = job
        self.tool, self.opening = np.array(HOME), 1.0
        self.places = {item.name: np.array(item.pose_to_world.position_m) for item in job.scenario.layout.items}
        self.grip, self.touching, self.body = set(), set(), set()
        self.force, self.torque_share, self.struck = 0.0, 0.1, {}
        self.rows, self.jumps = [], set()
        self._sample()

    def _sample(self):
        names = self.job.items
        self.rows.append(
            {
                "tool": self.tool.copy(),
                "opening": self.opening,
                "places": np.array([self.places[name] for name in names]).reshape(-1, 3).copy(),
                "touch": [name in self.touching for name in names],
                "body": [name in self.body for name in names],
                "struck": [self.struck.get(name, -1) for name in names],
                "force": self.force,
                "torque": self.torque_share,
            }
        )

    def _play(self, seconds, change):
        for share in np.linspace(0, 1, max(1, round(seconds * RATE_HZ)) + 1)[1:]:
            change(float(share))
            self._sample()
        return self

    def wait(self, seconds):
        return self._play(seconds, lambda share: None)

    def move(self, to, seconds=0.6):
        """Move the tool, smoothly from rest to rest."""
        start, goal = self.tool.copy(), np.asarray(to, float)

        def change(share):
            before = self.tool.copy()
            self.tool = start + (goal - start) * (10 * share**3 - 15 * share**4 + 6 * share**5)
            for name in self.grip:
                self.places[name] = self.places[name] + self.tool - before

        return self._play(seconds, change)

    def close(self, *names, to=0.2, touch=()):
        """Close the gripper on items, which it then holds; `touch` are touched and not held."""
        start = self.opening

        def change(share):
            self.opening = start + (to - start) * share
            if share == 1:
                self.grip |= set(names)
                self.touching |= {*names, *touch}

        return self._play(0.2, change)

    def open(self):
        """Open the gripper; half way it lets go."""
        start = self.opening

        def change(share):
            self.opening = start + (1 - start) * share
            if share >= 0.5:
                self.grip, self.touching = set(), set()

        return self._play(0.2, change)

    def fall(self, name, to, **others):
        """Let an item fall to a position, and others at the same time."""
        goals = {name: np.asarray(to, float), **{other: np.asarray(place, float) for other, place in others.items()}}
        starts = {name: self.places[name].copy() for name in goals}
        height = abs(starts[name][2] - goals[name][2])
        seconds = max(0.04, float(np.sqrt(2 * height / 9.81)))

        def change(share):
            for name, goal in goals.items():
                way = (goal - starts[name]) * np.array([share, share, share**2])
                self.places[name] = starts[name] + way

        return self._play(seconds, change)

    def let_go(self, *names):
        """Items come off without the gripper opening."""
        self.grip -= set(names)
        self.touching -= set(names)
        return self

    def push(self, name, to, seconds=0.5):
        """Push an item somewhere, fingers on it."""
        start, goal = self.places[name].copy(), np.asarray(to, float)
        self.touching.add(name)
        self._play(seconds, lambda share: self.places.__setitem__(name, start + (goal - start) * share))
        self.touching.discard(name)
        return self

    def jump(self, name, to):
        """Put an item somewhere else from one sample to the next, at rest."""
        self.places[name] = np.asarray(to, float)
        self.jumps.add((len(self.rows), name))
        self._sample()
        return self

    def strike(self, force_n, seconds=0.1):
        """Press on a fixture."""
        self.force = force_n
        self.wait(seconds)
        self.force = 0.0
        return self

    # Whole tasks.

    def reach(self, name):
        """Bring the open gripper to an item."""
        spot = self.places[name]
        return self.move((spot[0], spot[1], HIGH)).move(spot, 0.4)

    def pick(self, *names):
        """Reach for the first item, close on all, lift."""
        spot = self.places[names[0]].copy()
        return self.reach(names[0]).close(*names).move((spot[0], spot[1], HIGH), 0.4)

    def bring(self, place, *, height_m=0.06):
        """Carry what is held above a bin."""
        x, y = BIN_M[place]
        return self.move((x, y, HIGH), 0.8).move((x, y, height_m), 0.4)

    def sort(self, name, place, *, to=None):
        """Pick an item, drop it into a bin, withdraw."""
        self.pick(name).bring(place).open()
        self.fall(name, lying(name, place) if to is None else to)
        return self.move((*BIN_M[place], HIGH), 0.4)

    def trace(self, end=EndReason.DONE, **changes):
        """What a simulator would have recorded."""
        step, count = 1 / RATE_HZ, len(self.rows)
        time_s = np.arange(count) * step
        places = np.array([row["places"] for row in self.rows]).reshape(count, -1, 3)
        velocity = np.zeros_like(places)
        velocity[1:] = np.diff(places, axis=0) / step
        for sample, name in self.jumps:
            velocity[sample, self.job.items.index(name)] = 0
        tool = np.array([row["tool"] for row in self.rows])
        speed = np.zeros(count)
        speed[1:] = np.linalg.norm(np.diff(tool, axis=0), axis=1) / step
        quats = np.array([item.pose_to_world.quat_xyzw for item in self.job.scenario.layout.items]).reshape(-1, 4)
        joints = self.job.cell.robot
        given = {
            "items": self.job.items,
            "end": end,
            "time_s": time_s,
            "joint_pos": np.tile(joints.start_joints_rad, (count, 1)),
            "joint_vel": np.repeat(speed[:, None] * 2, len(joints.joints), axis=1),
            "gripper_opening": np.array([row["opening"] for row in self.rows]),
            "tcp_pose": np.concatenate([tool, np.tile([1.0, 0, 0, 0], (count, 1))], axis=1),
            "item_pose": np.concatenate([places, np.broadcast_to(quats, (count, *quats.shape))], axis=2),
            "item_vel": np.concatenate([velocity, np.zeros_like(velocity)], axis=2),
            "finger_touch": np.array([row["touch"] for row in self.rows], bool).reshape(count, -1),
            "body_touch": np.array([row["body"] for row in self.rows], bool).reshape(count, -1),
            "item_fixture": np.array([row["struck"] for row in self.rows], int).reshape(count, -1),
            "fixtures": ("table", "feed", *BIN_M),
            "fixture_force": np.array([row["force"] for row in self.rows], float),
            "joint_torque": np.outer(
                [row["torque"] for row in self.rows], [joint.torque_n_m for joint in joints.joints]
            ),
        }
        return Trace(**{**given, **changes})

    def events(self, end=EndReason.DONE, **changes):
        """Its timeline."""
        return timeline(Observed.of(self.trace(end, **changes), self.job))


@pytest.fixture(scope="session")
def job(cell, catalogue):
    """Three targets and a foreign washer in the feed."""
    return Job.of(scene(cell, catalogue, BOLT, LONG, NUT, WASHER), cell, catalogue)


@pytest.fixture(scope="session")
def job_of(cell, catalogue):
    """Jobs with some of the items, at chosen places."""
    return lambda *names, **options: Job.of(scene(cell, catalogue, *names, **options), cell, catalogue)


@pytest.fixture(scope="session")
def play():
    """`play(job)`: a script to play an episode of a job by."""
    return Script


@pytest.fixture(scope="session")
def spot():
    """`spot(name, place)`: position of an item that lies at a place."""
    return lying


@pytest.fixture
def script(job):
    """An episode of the four items that is about to begin."""
    return Script(job)


GOOD_TASK = {
    "to_sort": 4,
    "sorted": 4,
    "missorted": 0,
    "mishaps": 0,
    "recovered": None,
    "interventions": 0,
    "misses": 0,
    "slips": 0,
    "drops": 0,
    "double_picks": 0,
    "wrong_parts": 0,
    "jams": 0,
    "takt_s": (4.0, 5.0, 6.0, 5.0),
}
GOOD_MOTION = {
    "joint_margin_rad": 0.3,
    "within_limits": 1.0,
    "torque_peak": 0.5,
    "smoothness": -2.0,
    "jerk": -8.0,
    "path_ratio": 1.4,
    "lowest_m": 0.01,
    "force_peak_n": 0.0,
    "collisions": 0,
    "body_hits": 0,
    "carried_hits": 0,
    "placement_errors_m": (0.01, 0.02),
    "placement_drift_m": None,
}


def made_episode(scenario_id, outcome="success", *, seed=0, attempt=0, touched=True, task=None, motion=None, **fields):
    """An episode as if it had been judged: a clean success, but for what is given."""
    sound = outcome in ("success", "failure", "policy_error")
    return Episode(
        key=EpisodeKey(run_id="run", scenario_id=scenario_id, seed=seed, attempt=attempt),
        outcome=outcome,
        end=fields.pop("end", "timeout"),
        category=fields.pop("category", "grasp_miss" if outcome == "failure" else None),
        touched=touched,
        task=TaskMeasures(**{**GOOD_TASK, **(task or {})}) if sound else None,
        motion=MotionMeasures(**{**GOOD_MOTION, **(motion or {})}) if sound else None,
        **fields,
    )


def made_origin(base_id, *axes, level=1):
    """Where a scenario came from: a base without axes."""
    settings = tuple(AxisSetting(axis=axis, level=level, severity=()) for axis in axes)
    return Provenance(axes=settings, base_id=base_id, generator="test", generator_version="1", seed=0, index=0)


@pytest.fixture(scope="session")
def episode():
    """`episode(scenario_id, outcome, ...)`: an episode as if it had been judged."""
    return made_episode


@pytest.fixture(scope="session")
def origin():
    """`origin(base_id, *axes, level)`: where a scenario came from."""
    return made_origin
