"""What a policy is: it sees many worlds at once and answers with a chunk of actions for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from scenegen.scenario import Scenario


class ActionKind(StrEnum):
    """What the numbers of an action are; the last one is always the gripper's opening, 0 closed to 1 open."""

    JOINT_POSITION = "joint_position"
    """Target of each arm joint [rad]."""
    JOINT_VELOCITY = "joint_velocity"
    """Target of each arm joint [rad/s]."""
    TCP_POSE = "tcp_pose"
    """Position [m] and quaternion xyzw of the tool centre point in the robot's base frame."""
    TCP_DELTA = "tcp_delta"
    """Step of the tool centre point: translation [m] and rotation vector [rad], in the robot's base frame."""


@dataclass(frozen=True)
class PolicySpec:
    """What a policy asks for and gives."""

    name: str
    """As it was asked for on the command line, for example `openpi:ws://localhost:8000`."""
    action: ActionKind
    cameras: tuple[str, ...] = ()
    """Cameras whose images it wants; all of the cell's where `("*",)`."""
    image_px: tuple[int, int] | None = None
    """Height and width that images are scaled to, padded; None keeps the camera's."""
    truth: bool = False
    """It wants the true poses of items: privileged, and said so in every report."""
    rate_hz: float = 20.0
    """Actions a second."""
    horizon: int = 1
    """Actions in a chunk."""
    execute: int = 1
    """How many of a chunk are carried out before it is asked again."""


@dataclass(frozen=True, eq=False)
class Truth:
    """What is truly in one world, for policies that may know."""

    scenario: Scenario
    """The scenario as it was loaded."""
    items: Mapping[str, NDArray[np.float64]]
    """Present pose of each item, position [m] and quaternion xyzw, world frame, shape [7]."""


@dataclass(frozen=True, eq=False)
class Observation:
    """What n worlds show; arrays are torch on the simulator's device or numpy, their first axis the worlds."""

    worlds: tuple[int, ...]
    """Numbers of the worlds, shape [n]."""
    instructions: tuple[str, ...]
    policy: Mapping[str, Any]
    """`joint_pos` [rad] and `joint_vel` [rad/s], shape [n, joints]; `gripper_pos`, opening 0 to 1, shape [n, 1];
    `tcp_pose`, position [m] and quaternion xyzw in the robot's base frame, shape [n, 7]."""
    camera_obs: Mapping[str, Any] = field(default_factory=dict)
    """`<camera>_rgb`: sRGB, 8 bits, shape [n, h, w, 3]."""
    truth: tuple[Truth, ...] | None = None
    seeds: tuple[int, ...] = ()
    """A number for the episode of each world, 0 to 2**62 - 1, that follows from its scenario and repeat alone: who
    draws numbers seeds them with it, and draws the same in whichever world and order the episode is played. Empty
    where nobody knows, as behind a foreign client of a served policy."""
    photograph: Callable[[Sequence[int]], Mapping[str, Any]] | None = None
    """Takes `camera_obs` of some of the n worlds alone, by their rows: for policies that do not look at each step."""


class Policy(Protocol):
    """Decides what robots do. Worlds end their episodes at different times: `reset` names those that begin anew."""

    @property
    def spec(self) -> PolicySpec:
        """What it asks for and gives."""
        ...

    def reset(self, worlds: Sequence[int], instructions: Sequence[str]) -> None:
        """Forget what was seen in some worlds; each begins a new episode with its instruction."""
        ...

    def act(self, observation: Observation) -> NDArray[np.float32]:
        """Return a chunk of actions for each world, shape [n, horizon, numbers].

        Raises:
            PolicyError: It gave no usable answer; never answer with silent zeros. Where only some worlds have none,
                raise `evaluator.policies.unanswered.Unanswered`, which holds the others' chunks.
        """
        ...

    def close(self) -> None:
        """Let go of connections and processes."""
        ...


def as_numpy(array: Any) -> NDArray[Any]:
    """Return an array of torch or numpy as numpy."""
    return array.cpu().numpy() if hasattr(array, "cpu") else np.asarray(array)
