"""Records an episode tick by tick, as a trace that can be judged."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluator.judging.trace import EndReason, Trace
from evaluator.rollout.line import LineState
from scenegen.geometry import Array, quat_from_matrix
from scenegen.robot import Arm
from scenegen.scenario import Scenario


class Recorder:
    """One world's episode so far.

    Args:
        world: Number of the world.
        scenario: What it plays.
        slots: The line's slots.
        fixtures: The line's fixtures.
    """

    def __init__(self, world: int, scenario: Scenario, *, slots: tuple[str, ...], fixtures: tuple[str, ...]) -> None:
        self.scenario = scenario
        self._world, self._fixtures = world, fixtures
        self._items = tuple(item.name for item in scenario.layout.items)
        self._rows = [slots.index(name) for name in self._items]
        self._samples: dict[str, list[Any]] = {}
        self._times: list[float] = []
        self.latencies: list[float] = []

    @property
    def seconds(self) -> float:
        """Time of the last sample [s]."""
        return self._times[-1] if self._times else 0.0

    def add(self, time_s: float, state: LineState) -> None:
        """Record one tick.

        Args:
            time_s: Simulated time since the episode's start [s].
            state: What all worlds do.
        """
        w, rows = self._world, self._rows
        sample = {
            "joint_pos": state.joint_pos[w],
            "joint_vel": state.joint_vel[w],
            "joint_torque": state.joint_torque[w],
            "gripper_opening": state.opening[w],
            "item_pose": state.slot_pose[w, rows],
            "item_vel": state.slot_vel[w, rows],
            "finger_touch": state.finger_touch[w, rows],
            "body_touch": state.body_touch[w, rows],
            "item_fixture": state.slot_fixture[w, rows],
            "fixture_force": state.fixture_force[w],
        }
        for name, value in sample.items():
            self._samples.setdefault(name, []).append(np.array(value))
        self._times.append(time_s)

    def item_poses(self) -> dict[str, Array]:
        """Return the last pose of each item, shape [7]."""
        return dict(zip(self._items, self._samples["item_pose"][-1], strict=True))

    def trace(self, end: EndReason, arm: Arm, *, last_s: float | None = None) -> Trace:
        """Return what was recorded.

        Args:
            end: Why the episode ended.
            arm: The robot's kinematics: where its tool was.
            last_s: Of all but the first sample only the last seconds; everything if not given.
        """
        times = np.array(self._times)
        chosen = np.arange(len(times))
        if last_s is not None:
            chosen = np.flatnonzero((times > times[-1] - last_s) | (chosen == 0))
        arrays: dict[str, Any] = {
            name: np.stack([values[at] for at in chosen]) for name, values in self._samples.items()
        }
        positions, rotations = arm.tcp(arrays["joint_pos"])
        turns = np.stack([quat_from_matrix(rotation) for rotation in rotations])
        return Trace(
            items=self._items,
            end=end,
            time_s=times[chosen],
            tcp_pose=np.concatenate([positions, turns], axis=1),
            fixtures=self._fixtures,
            latency_s=np.array(self.latencies),
            **arrays,
        )
