"""Stream scenarios through worlds: each takes the next one the moment its episode ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from evaluator.judging.job import Job
from evaluator.judging.observed import Observed
from evaluator.judging.success import item_ends, succeeds
from evaluator.judging.trace import EndReason, Trace
from evaluator.policies.actions import rest_actions
from evaluator.policies.checked import Checked
from evaluator.policies.chunks import ChunkBuffer
from evaluator.policies.latency import Latency
from evaluator.policy import Observation, Truth
from evaluator.rollout.line import Line, LineState
from evaluator.rollout.motion import Motion
from evaluator.rollout.recorder import Recorder
from scenegen.cell import Cell, Role
from scenegen.errors import PolicyError
from scenegen.geometry import Array
from scenegen.parts.catalogue import Catalogue
from scenegen.robot import Arm
from scenegen.scenario import Scenario

LOOK_EVERY_S = 0.5
"""Time between looks whether everything is sorted [s]."""
SEEN_S = 1.5
"""How much of an episode is looked at for that [s]: longer than a part must lie still to count."""
SPARE_S = 6.0
"""Time that an episode has beyond the takt of its targets [s]: the way to the first and from the last."""


@dataclass(frozen=True, eq=False)
class Finished:
    """One episode."""

    index: int
    """Number of the scenario in the order in which they were given."""
    scenario: Scenario
    trace: Trace
    reason: str | None
    """Text of the error that ended it, if one did."""


class Stream:
    """Runs a policy over scenarios.

    Args:
        line: The worlds.
        policy: The policy.
        cell: The cell.
        parts: Its parts.
        latency: How long the policy thinks, as the worlds see it.
    """

    def __init__(self, line: Line, policy: Checked, cell: Cell, parts: Catalogue, *, latency: Latency) -> None:
        self._line, self._policy, self._cell, self._parts, self._latency = line, policy, cell, parts, latency
        self._arm = Arm(cell.robot)
        self._motion = Motion(self._arm, policy.spec)
        self._buffer = ChunkBuffer(line.count, policy.spec, numbers=policy.numbers)
        self._every = max(1, round(line.rate_hz / policy.spec.rate_hz))
        """Ticks of the line that an action lasts."""
        self._recorders: dict[int, Recorder] = {}
        self._began: dict[int, tuple[int, int]] = {}
        """Index of the scenario and tick at which each busy world began."""
        self._failed: dict[int, PolicyError] = {}
        self._tick = 0

    def run(self, scenarios: Iterator[tuple[int, Scenario]], *, ticked: Callable[[int], None]) -> Iterator[Finished]:
        """Yield episodes in the order in which they end.

        Args:
            scenarios: Number and scenario.
            ticked: Told after each tick of the worlds how many are busy.
        """
        state = self._fill(scenarios, self._line.state())
        actions = np.zeros((self._line.count, self._policy.numbers), np.float32)
        while self._recorders:
            if self._tick % self._every == 0:
                self._ask(state)
                actions = self._buffer.step()
            self._line.command(*self._motion.targets(actions, first=self._tick % self._every == 0))
            self._line.tick()
            self._tick += 1
            state = self._line.state()
            for world, recorder in self._recorders.items():
                recorder.add((self._tick - self._began[world][1]) / self._line.rate_hz, state)
            ticked(len(self._recorders))
            ends = {world: self._end(world, state) for world in sorted(self._recorders)}
            ended = [(world, end) for world, end in ends.items() if end is not None]
            yield from [self._finish(world, end) for world, end in ended]
            if ended:
                state = self._fill(scenarios, state)

    def _fill(self, scenarios: Iterator[tuple[int, Scenario]], state: LineState) -> LineState:
        """Give idle worlds their next scenarios; returns what they show then."""
        taken: dict[int, Scenario] = {}
        for world in range(self._line.count):
            if world in self._recorders:
                continue
            given = next(scenarios, None)
            if given is None:
                break
            index, taken[world] = given
            self._began[world] = (index, self._tick)
            self._recorders[world] = Recorder(world, taken[world], slots=self._line.slots, fixtures=self._line.fixtures)
        if not taken:
            return state
        self._line.put(taken)
        worlds = sorted(taken)
        state = self._line.state()
        for world in worlds:
            self._recorders[world].add(0.0, state)
        group = self._group(worlds, state)
        self._buffer.reset(worlds, rest_actions(self._policy.spec.action, group))
        self._motion.reset(worlds, state.joint_pos[worlds])
        self._latency.reset(worlds)
        self._policy.reset(worlds, [taken[world].task.instruction for world in worlds])
        return state

    def _ask(self, state: LineState) -> None:
        """Ask the policy for the worlds whose chunk is used up."""
        due = self._buffer.due()
        worlds = [world for world in sorted(self._recorders) if due[world]]
        if not worlds:
            return
        answer = self._policy.act(self._observe(worlds, state))
        seconds = self._latency.seconds(worlds, answer.seconds)
        for row, world in enumerate(worlds):
            self._recorders[world].latencies.append(float(answer.seconds[row]))
        good = answer.usable
        kept = [world for world, fine in zip(worlds, good, strict=True) if fine]
        if kept:
            self._buffer.put(kept, answer.chunks[good], latency_s=seconds[good])
        self._failed |= answer.errors

    def _observe(self, worlds: list[int], state: LineState) -> Observation:
        recorders = [self._recorders[world] for world in worlds]
        truth = None
        if self._policy.spec.truth:
            truth = tuple(Truth(one.scenario, one.item_poses()) for one in recorders)
        return Observation(
            worlds=tuple(worlds),
            instructions=tuple(one.scenario.task.instruction for one in recorders),
            policy=self._group(worlds, state),
            truth=truth,
        )

    def _group(self, worlds: list[int], state: LineState) -> dict[str, Array]:
        joints = state.joint_pos[worlds]
        return {
            "joint_pos": joints,
            "joint_vel": state.joint_vel[worlds],
            "gripper_pos": state.opening[worlds][:, None],
            "tcp_pose": self._motion.tcp_in_base(joints),
        }

    def _end(self, world: int, state: LineState) -> EndReason | None:
        """Tell whether a world's episode is over, and why."""
        recorder = self._recorders[world]
        if not state.sound[world]:
            return EndReason.PHYSICS_INVALID
        if world in self._failed:
            return EndReason.POLICY_ERROR
        look = max(1, round(LOOK_EVERY_S * self._line.rate_hz))
        if (self._tick - self._began[world][1]) % look == 0 and self._sorted(recorder):
            return EndReason.DONE
        if recorder.seconds >= allowed_s(recorder.scenario, self._cell):
            return EndReason.TIMEOUT
        return None

    def _sorted(self, recorder: Recorder) -> bool:
        job = Job.of(recorder.scenario, self._cell, self._parts)
        return succeeds(item_ends(Observed.of(recorder.trace(EndReason.DONE, self._arm, last_s=SEEN_S), job)))

    def _finish(self, world: int, end: EndReason) -> Finished:
        recorder, (index, _) = self._recorders.pop(world), self._began.pop(world)
        error = self._failed.pop(world, None)
        reason = str(error) if error else None
        return Finished(index, recorder.scenario, recorder.trace(end, self._arm), reason)


def allowed_s(scenario: Scenario, cell: Cell) -> float:
    """Return how long an episode may take [s]: the takt of each target, and some for the way."""
    targets = sum(
        1 for item in scenario.layout.items if item.zone == "feed" and cell.slots[item.name].role is Role.TARGET
    )
    return SPARE_S + cell.limits.takt_s * targets
