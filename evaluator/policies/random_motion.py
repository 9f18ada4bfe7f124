"""A policy that moves without sense: slow, smooth, small joint motions inside the robot's limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.policies.actions import action_numbers, rest_actions
from evaluator.policies.context import PolicyContext
from evaluator.policies.form import PolicyForm
from evaluator.policies.rows import with_room
from evaluator.policy import ActionKind, Observation, PolicySpec
from scenegen.cell import Robot
from scenegen.streams import stream

AMPLITUDE_RAD = 0.15
"""How far a joint may go from where the episode found it: visible, and small enough to stay above the table."""
WAVES = 3
"""How many sines make up the motion of a joint."""
FREQUENCIES_HZ = (0.05, 0.4)
"""Between which frequencies the sines lie: at most 0.4 rad/s, below what any arm can do."""
HORIZON = 8
RATE_HZ = 20.0


class RandomMotion:
    """Sums of sines about the first pose of an episode, other ones for each seed and episode.

    They follow from the run's seed and the episode's, so from scenario and repeat; where nobody gives an episode's
    seed, from its world and number there.

    Args:
        name: As it was asked for.
        robot: Gives the joint limits.
        seed: Another seed gives other motions.
    """

    def __init__(self, name: str, robot: Robot, *, seed: int) -> None:
        self.spec = PolicySpec(name, ActionKind.JOINT_POSITION, rate_hz=RATE_HZ, horizon=HORIZON, execute=HORIZON)
        self._seed = seed
        numbers = action_numbers(ActionKind.JOINT_POSITION, len(robot.joints))
        self._low = np.array([*(joint.lower_rad for joint in robot.joints), 0.0])
        self._high = np.array([*(joint.upper_rad for joint in robot.joints), 1.0])
        self._reach = np.array([AMPLITUDE_RAD] * (numbers - 1) + [0.5])
        self._waves = np.zeros((0, 2, numbers, WAVES))
        """Frequency [Hz] and phase [rad] of each sine, shape [worlds, 2, numbers, waves]."""
        self._start = np.zeros((0, numbers))
        self._steps = np.zeros(0, int)
        """How many actions each world has got in its episode."""
        self._episodes = np.zeros(0, int)
        """Number of each world's episode; none before the first."""

    def reset(self, worlds: Sequence[int], instructions: Sequence[str]) -> None:
        """Begin new episodes in some worlds."""
        self._waves = with_room(self._waves, worlds)
        self._start = with_room(self._start, worlds)
        self._steps = with_room(self._steps, worlds)
        self._episodes = with_room(self._episodes, worlds)
        self._episodes[list(worlds)] += 1
        self._steps[list(worlds)] = 0

    def act(self, observation: Observation) -> NDArray[np.float32]:
        """Return the next part of each world's motion, shape [n, horizon, numbers]."""
        worlds = observation.worlds
        self._episodes = with_room(self._episodes, worlds)
        unknown = [world for world in worlds if self._episodes[world] == 0]
        self.reset(unknown, [""] * len(unknown))
        rows = np.asarray(worlds, int)
        first = self._steps[rows] == 0
        self._start[rows[first]] = rest_actions(self.spec.action, observation.policy)[first]
        for row in np.flatnonzero(first).tolist():
            self._waves[worlds[row]] = draw_waves(self._waves.shape[2], rng=self._rng(observation, row))
        steps = self._steps[rows, None] + np.arange(1, HORIZON + 1)
        self._steps[rows] += HORIZON
        frequency, phase = np.moveaxis(self._waves[rows], 1, 0)
        turns = 2 * np.pi * frequency[:, None] * (steps / RATE_HZ)[..., None, None] + phase[:, None]
        away = (np.sin(turns) - np.sin(phase)[:, None]).mean(axis=-1) / 2
        return np.clip(self._start[rows, None] + away * self._reach, self._low, self._high).astype(np.float32)

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""

    def _rng(self, observation: Observation, row: int) -> np.random.Generator:
        if observation.seeds:
            return stream(self._seed, "random motion", observation.seeds[row])
        world = observation.worlds[row]
        return stream(self._seed, "random motion", world, int(self._episodes[world]))


def draw_waves(numbers: int, *, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw frequencies [Hz] and phases [rad], shape [2, numbers, waves]."""
    frequency = rng.uniform(*FREQUENCIES_HZ, (numbers, WAVES))
    return np.stack([frequency, rng.uniform(0, 2 * np.pi, (numbers, WAVES))])


def build(form: PolicyForm, context: PolicyContext) -> RandomMotion:
    """Build it from `random`; the seed is the run's."""
    form.no_target()
    form.options.end()
    return RandomMotion(form.text, context.cell.robot, seed=context.seed)
