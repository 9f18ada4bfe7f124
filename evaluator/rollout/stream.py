"""Stream scenarios through worlds: each takes the next one the moment its episode ends."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.judging.batch_times import BatchTimes, batch_times
from evaluator.judging.job import Job
from evaluator.judging.observed import Observed
from evaluator.judging.success import item_ends, succeeds
from evaluator.judging.trace import EndReason
from evaluator.policies.actions import rest_actions
from evaluator.policies.checked import Checked
from evaluator.policies.chunks import ChunkBuffer
from evaluator.policies.latency import Latency
from evaluator.policy import Observation, PolicySpec, Truth
from evaluator.rollout.calls import Calls
from evaluator.rollout.goals import Goals
from evaluator.rollout.lazy import Lazy
from evaluator.rollout.line import Line, LineState
from evaluator.rollout.log import Log
from evaluator.rollout.motion import Motion
from evaluator.rollout.pace import Pace
from evaluator.rollout.recorded import Recorded
from scenegen.cell import Cell, Role
from scenegen.errors import PolicyError
from scenegen.parts.catalogue import Catalogue
from scenegen.robot import Arm
from scenegen.scenario import Scenario
from scenegen.streams import stream

LOOK_EVERY_S = 0.5
"""Time between looks whether everything is sorted [s]."""
SEEN_S = 1.5
"""How much of an episode is looked at for that [s]: longer than a part must lie still to count."""
BEAT_S = 0.5
"""Longest time that a world waits for its next scenario, so that all worlds ask the policy in the same ticks [s]."""
SPARE_S = 6.0
"""Time that an episode has beyond the takt of its targets [s]: the way to the first and from the last."""
SEEDS = 2**62
"""How many seeds there are: they fit into a signed number of 64 bits, as protocols send it."""
ALL = "*"
"""In place of a camera's name: all cameras of the cell."""


@dataclass(frozen=True, eq=False)
class Finished:
    """One episode."""

    index: int
    """Number of the scenario in the order in which they were given."""
    scenario: Scenario
    recorded: Recorded
    end: EndReason
    reason: str | None
    """Text of the error that ended it, if one did."""


@dataclass(frozen=True, eq=False)
class _Seat:
    """What a world plays."""

    index: int
    scenario: Scenario
    job: Job
    slots: NDArray[np.intp]
    """Which slots its items are in, shape [n]."""
    began: int
    """Tick of its first sample."""
    seed: int
    """What a policy may seed its draws with."""


class Stream:
    """Runs a policy over scenarios.

    Worlds take their next scenarios in the ticks in which others ask the policy: it then answers many at once, and
    cameras, which draw all worlds or none, draw as seldom as for one world. Nothing that happens each tick loops over
    worlds; only what happens to an episode does, and showing a policy the truth. What happens in a world depends on its
    scenario alone: its ticks are counted from its episode's beginning.

    Args:
        line: The worlds.
        policy: The policy.
        cell: The cell.
        parts: Its parts.
        latency: How long the policy thinks, as the worlds see it.

    Raises:
        PolicyError: The policy wants to act more often than the worlds tick.
    """

    def __init__(self, line: Line, policy: Checked, cell: Cell, parts: Catalogue, *, latency: Latency) -> None:
        self._line, self._policy, self._cell, self._parts, self._latency = line, policy, cell, parts, latency
        self._arm = Arm(cell.robot)
        self._motion = Motion(self._arm, policy.spec)
        self._buffer = ChunkBuffer(line.count, policy.spec, numbers=policy.numbers)
        if policy.spec.rate_hz > line.rate_hz:
            reason = f"{policy.spec.rate_hz:g} actions a second"
            raise PolicyError(policy.spec.name, reason, f"at most {line.rate_hz:g}, as often as the worlds tick")
        self._calls = Calls(line.count)
        self._batches: defaultdict[int, list[float]] = defaultdict(list)
        """How long calls took [s], by how many worlds they asked about."""
        self._cameras = wanted_cameras(policy.spec, cell)
        self._seats: dict[int, _Seat] = {}
        self._log, self._goals = Log(), Goals(line.count, line.slots)
        self._rows = {name: row for row, name in enumerate(line.slots)}
        self._busy = np.zeros(line.count, bool)
        self._began, self._until = np.zeros(line.count, int), np.zeros(line.count, int)
        """Ticks at which the episodes of busy worlds began and have to end."""
        self._failed: dict[int, PolicyError] = {}
        self._faulty = np.zeros(line.count, bool)
        """Worlds in which the policy failed, shape [w]."""
        self._tick = 0
        chunk = round(policy.spec.execute * line.rate_hz / policy.spec.rate_hz)
        self._beat = max(1, min(chunk, round(BEAT_S * line.rate_hz)))
        """Ticks between those in which worlds take scenarios."""
        self._left = True
        """Whether there may be scenarios that no world took."""
        self._repeat: Callable[[int], int] = lambda index: 0

    @property
    def batches(self) -> tuple[BatchTimes, ...]:
        """How long the policy's calls took by how many worlds they asked about."""
        return batch_times(self._batches)

    def run(
        self,
        scenarios: Iterator[tuple[int, Scenario]],
        *,
        ticked: Callable[[Pace], None],
        repeat: Callable[[int], int] = lambda index: 0,
    ) -> Iterator[Finished]:
        """Yield episodes in the order in which they end.

        Args:
            scenarios: Number and scenario.
            ticked: Told after each tick of the worlds how far they are.
            repeat: Which repeat of its scenario a number is: another repeat gives the policy another seed.
        """
        self._repeat, self._left = repeat, True
        state = self._line.state()
        self._log.add(self._tick, state)
        state = self._fill(scenarios, state)
        actions = np.zeros((self._line.count, self._policy.numbers), np.float32)
        while self._seats:
            first = self._busy & self._acts()
            if first.any():
                self._ask(first, state)
                actions[first] = self._buffer.step(first)[first]
            self._line.command(*self._motion.targets(actions, first=first))
            self._line.tick()
            self._tick += 1
            state = self._line.state()
            self._log.add(self._tick, state)
            ticked(self._pace())
            ended = self._ends(state)
            yield from [self._finish(world, end) for world, end in ended.items()]
            if self._left and (self._tick % self._beat == 0 or not self._seats):
                state = self._fill(scenarios, state)
            if ended:
                self._log.forget(min((seat.began for seat in self._seats.values()), default=self._tick))

    def _acts(self) -> NDArray[np.bool_]:
        """Tell in which worlds an action begins with this tick, shape [w]; rates need not divide each other."""
        age, share = self._tick - self._began, self._policy.spec.rate_hz / self._line.rate_hz
        return (np.floor(age * share + 1e-9) > np.floor((age - 1) * share + 1e-9)) | (age == 0)

    def _pace(self) -> Pace:
        oldest = int(np.argmin(np.where(self._busy, self._began, self._tick + 1)))
        age, allowed = self._tick - self._began[oldest], self._until[oldest] - self._began[oldest]
        tick_s = 1 / self._line.rate_hz
        return Pace(len(self._seats), tick_s, float(age * tick_s), float(allowed * tick_s))

    def _fill(self, scenarios: Iterator[tuple[int, Scenario]], state: LineState) -> LineState:
        """Give idle worlds their next scenarios; returns what they show then."""
        taken: dict[int, Scenario] = {}
        for world in np.flatnonzero(~self._busy).tolist():
            given = next(scenarios, None)
            if given is None:
                self._left = False
                break
            index, taken[world] = given
            self._seat(world, index, taken[world])
        if not taken:
            return state
        self._line.put(taken)
        worlds = sorted(taken)
        state = self._line.state()
        self._log.replace(self._tick, worlds, state)
        self._buffer.reset(worlds, rest_actions(self._policy.spec.action, self._group(worlds, state)))
        self._motion.reset(worlds, state.joint_pos[worlds].astype(float))
        self._latency.reset(worlds, [taken[world].id for world in worlds])
        try:
            self._policy.reset(worlds, [taken[world].task.instruction for world in worlds])
        except PolicyError as error:
            self._fail(dict.fromkeys(worlds, error))
        return state

    def _seat(self, world: int, index: int, scenario: Scenario) -> None:
        job = Job.of(scenario, self._cell, self._parts)
        slots = np.array([self._rows[name] for name in job.items], np.intp)
        seed = episode_seed(scenario.id, self._repeat(index))
        self._seats[world] = _Seat(index, scenario, job, slots, self._tick, seed)
        self._calls.reset(world)
        self._goals.set(world, job)
        self._busy[world], self._began[world] = True, self._tick
        self._until[world] = self._tick + np.ceil(allowed_s(scenario, self._cell) * self._line.rate_hz)

    def _ask(self, first: NDArray[np.bool_], state: LineState) -> None:
        """Ask the policy for the worlds whose chunk is used up, of those in which an action begins."""
        rows = np.flatnonzero(self._buffer.due() & first & ~self._faulty)
        if not len(rows):
            return
        worlds = rows.tolist()
        observation, begun = self._observe(worlds, state), time.perf_counter()
        answer = self._policy.act(observation)
        self._batches[len(worlds)].append(time.perf_counter() - begun)
        seconds = self._latency.seconds(worlds, answer.seconds)
        self._calls.add(worlds, answer.seconds)
        good = answer.usable
        if good.any():
            self._buffer.put(rows[good].tolist(), answer.chunks[good], latency_s=seconds[good])
        self._fail(answer.errors)

    def _fail(self, errors: Mapping[int, PolicyError]) -> None:
        self._failed |= errors
        self._faulty[list(errors)] = True

    def _observe(self, worlds: list[int], state: LineState) -> Observation:
        seats = [self._seats[world] for world in worlds]
        truth = None
        if self._policy.spec.truth:
            poses = [
                state.slot_pose[world, seat.slots].astype(float) for world, seat in zip(worlds, seats, strict=True)
            ]
            truth = tuple(
                Truth(seat.scenario, dict(zip(seat.job.items, rows, strict=True)))
                for seat, rows in zip(seats, poses, strict=True)
            )
        return Observation(
            worlds=tuple(worlds),
            instructions=tuple(seat.scenario.task.instruction for seat in seats),
            policy=self._group(worlds, state),
            camera_obs=self._images(worlds),
            seeds=tuple(seat.seed for seat in seats),
            photograph=partial(self._photograph, worlds) if self._cameras else None,
            truth=truth,
        )

    def _images(self, worlds: list[int]) -> Mapping[str, Any]:
        """Images of worlds, each taken when it is looked at first."""
        return Lazy({}, {f"{name}_rgb": partial(self._image, worlds, name) for name in self._cameras})

    def _image(self, worlds: list[int], camera: str) -> Any:
        return self._line.images(worlds, (camera,))[f"{camera}_rgb"]

    def _photograph(self, worlds: list[int], rows: Sequence[int]) -> Mapping[str, Any]:
        return self._line.images([worlds[row] for row in rows], self._cameras)

    def _group(self, worlds: Sequence[int], state: LineState) -> Mapping[str, Any]:
        joints = state.joint_pos[worlds].astype(float)
        group = {
            "joint_pos": joints,
            "joint_vel": state.joint_vel[worlds],
            "gripper_pos": state.opening[worlds][:, None],
        }
        return Lazy(group, {"tcp_pose": lambda: self._motion.tcp_in_base(joints)})

    def _ends(self, state: LineState) -> dict[int, EndReason]:
        """Tell which episodes are over, and why."""
        ended: dict[int, EndReason] = {}
        late = np.flatnonzero(self._busy & (self._tick >= self._until)).tolist()
        ended |= dict.fromkeys(late, EndReason.TIMEOUT)
        look = max(1, round(LOOK_EVERY_S * self._line.rate_hz))
        looked = np.flatnonzero(self._busy & ((self._tick - self._began) % look == 0))
        if len(looked):
            near = looked[self._goals.near(state, looked)].tolist()
            ended |= {world: EndReason.DONE for world in near if self._sorted(world)}
        ended |= dict.fromkeys(np.flatnonzero(self._busy & self._faulty).tolist(), EndReason.POLICY_ERROR)
        ended |= dict.fromkeys(np.flatnonzero(self._busy & ~state.sound).tolist(), EndReason.PHYSICS_INVALID)
        return dict(sorted(ended.items()))

    def _sorted(self, world: int) -> bool:
        """Judge exactly whether everything lies where it belongs."""
        seat = self._seats[world]
        recent = max(seat.began + 1, self._tick - round(SEEN_S * self._line.rate_hz))
        recorded = self._recorded(seat, world, (seat.began, seat.began), (recent, self._tick))
        return succeeds(item_ends(Observed.of(recorded.trace(EndReason.DONE, self._arm), seat.job)))

    def _finish(self, world: int, end: EndReason) -> Finished:
        seat = self._seats.pop(world)
        self._busy[world] = self._faulty[world] = False
        error = self._failed.pop(world, None)
        recorded = self._recorded(seat, world, (seat.began, self._tick))
        return Finished(seat.index, seat.scenario, recorded, end, str(error) if error else None)

    def _recorded(self, seat: _Seat, world: int, *spans: tuple[int, int]) -> Recorded:
        """Cut spans of ticks out of the log."""
        pieces = [self._log.cut(world, seat.slots, first, last) for first, last in spans]
        ticks = np.concatenate([np.arange(first, last + 1) for first, last in spans]) - seat.began
        return Recorded(
            items=seat.job.items,
            fixtures=self._line.fixtures,
            time_s=ticks / self._line.rate_hz,
            arrays={name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]},
            latency_s=self._calls.of(world),
        )


def episode_seed(scenario_id: str, repeat: int) -> int:
    """Return what a policy may seed its draws with in an episode."""
    return int(stream("episode", scenario_id, repeat).integers(SEEDS))


def wanted_cameras(spec: PolicySpec, cell: Cell) -> tuple[str, ...]:
    """Return the cameras whose images a policy asks for."""
    return tuple(one.name for one in cell.cameras) if spec.cameras == (ALL,) else spec.cameras


def allowed_s(scenario: Scenario, cell: Cell) -> float:
    """Return how long an episode may take [s]: the takt of each target, and some for the way."""
    targets = sum(
        1 for item in scenario.layout.items if item.zone == "feed" and cell.slots[item.name].role is Role.TARGET
    )
    return SPARE_S + cell.limits.takt_s * targets
