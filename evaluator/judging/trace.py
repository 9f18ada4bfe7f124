"""What a simulator records of one episode: all that judging knows of it, whatever simulated it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from scenegen.errors import InvalidRecord
from scenegen.geometry import Array

Flags = NDArray[np.bool_]


class EndReason(StrEnum):
    """Why an episode ended; whether it succeeded is judged from what lies where."""

    DONE = "done"
    """The policy, or who watched it, said that nothing was left to do."""
    TIMEOUT = "timeout"
    POLICY_ERROR = "policy_error"
    """The policy gave no usable answer."""
    PHYSICS_INVALID = "physics_invalid"
    """The simulator said that its state cannot be trusted: it diverged, or its contact buffers were full."""
    INFRA_ERROR = "infra_error"
    """A process, machine or connection failed: nothing that the policy did."""


@dataclass(frozen=True, eq=False)
class Trace:
    """One episode, sampled at the control rate (50 Hz or so) from just after the reset to the end.

    t samples, j arm joints, n items. Arrays that a simulator cannot give are None: what needs them is then unknown, and
    never zero. The first sample is the scene as it was loaded, at rest.

    Example:
        >>> import numpy as np
        >>> trace = Trace(
        ...     items=("nut",),
        ...     end=EndReason.TIMEOUT,
        ...     time_s=np.array([0.0, 0.02]),
        ...     joint_pos=np.zeros((2, 7)),
        ...     joint_vel=np.zeros((2, 7)),
        ...     gripper_opening=np.ones(2),
        ...     tcp_pose=np.tile([0.5, 0, 0.3, 1, 0, 0, 0.0], (2, 1)),
        ...     item_pose=np.tile([0.5, 0, 0.01, 0, 0, 0, 1.0], (2, 1, 1)),
        ...     item_vel=np.zeros((2, 1, 6)),
        ...     finger_touch=np.zeros((2, 1), bool),
        ... )
        >>> trace.duration_s
        0.02
    """

    items: tuple[str, ...]
    """Names of the scenario's items, in any order; of the inventory's slots only those that the scenario fills."""
    end: EndReason
    time_s: Array
    """Simulated time since the reset [s], increasing, shape [t], t >= 1."""
    joint_pos: Array
    """Angles of the arm's joints [rad], shape [t, j]."""
    joint_vel: Array
    """Their speeds [rad/s], shape [t, j]."""
    gripper_opening: Array
    """Opening of the gripper as a share, 0 closed to 1 open, as it is and not as it was commanded, shape [t]."""
    tcp_pose: Array
    """Tool centre point, position [m] and quaternion xyzw, world frame, shape [t, 7]."""
    item_pose: Array
    """Frames of the items' parts, position [m] and quaternion xyzw, world frame, shape [t, n, 7]."""
    item_vel: Array
    """Velocity of the centre of mass [m/s] and angular velocity [rad/s], world axes, shape [t, n, 6]."""
    finger_touch: Flags
    """Whether a finger of the gripper touches the item, shape [t, n]."""
    joint_torque: Array | None = None
    """Torques that the arm's drives gave [N m], shape [t, j]."""
    fixture_force: Array | None = None
    """Size of the contact force between the robot (fingers too) and table, feed or bins [N], shape [t]."""
    body_touch: Flags | None = None
    """Whether a part of the robot other than the fingers touches the item, shape [t, n]."""
    item_fixture: NDArray[np.int_] | None = None
    """Index in `fixtures` of what the item touches with the largest force, -1 where it touches none, shape [t, n]."""
    fixtures: tuple[str, ...] = ()
    """`table`, `feed` and names of bins, as `item_fixture` counts them."""
    latency_s: Array | None = None
    """How long each call of the policy took [s], in order, shape [calls]; None where it was not timed."""
    interventions_s: tuple[float, ...] = ()
    """Times at which someone other than the policy acted: a person, a recovery script [s]."""

    def __post_init__(self) -> None:
        """Hold every array against the episode's sizes.

        Raises:
            InvalidRecord: A shape does not fit, there is no sample, time does not increase, or an item comes twice.
        """
        if wrong := tuple(self._wrong()):
            raise InvalidRecord("Trace", wrong)

    @property
    def samples(self) -> int:
        """Number of samples, t."""
        return len(self.time_s)

    @property
    def duration_s(self) -> float:
        """Time from the first to the last sample [s]."""
        return float(self.time_s[-1] - self.time_s[0])

    @property
    def rate_hz(self) -> float:
        """Median rate of the samples [Hz]; zero with a single one."""
        return float(1 / np.median(np.diff(self.time_s))) if self.samples > 1 else 0.0

    def until(self, samples: int) -> Trace:
        """Return the first samples alone, one at least; calls and interventions stay as they are."""
        return replace(self, **{name: array[: max(samples, 1)] for name, array in self._arrays() if "t" in _AXES[name]})

    def ordered(self, items: Sequence[str]) -> Trace:
        """Return the trace with its items in another order.

        Raises:
            InvalidRecord: The trace is not one of exactly these items.
        """
        if sorted(items) != sorted(self.items):
            sentence = f"items are {', '.join(self.items) or 'none'} - accepted: those of the scenario, each once"
            raise InvalidRecord("Trace", [f"{sentence} ({', '.join(items) or 'none'})"])
        rows = [self.items.index(item) for item in items]
        moved = {name: array[:, rows] for name, array in self._arrays() if "n" in _AXES[name]}
        return replace(self, items=tuple(items), **moved)

    def _arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """Name the arrays that there are."""
        for one in fields(self):
            if one.name in _AXES and (array := getattr(self, one.name)) is not None:
                yield one.name, array

    def _wrong(self) -> Iterator[str]:
        joints = self.joint_pos.shape[1] if self.joint_pos.ndim == 2 else 0
        sizes = {"t": self.time_s.size, "j": joints, "n": len(self.items), "6": 6, "7": 7}
        for name, array in self._arrays():
            expected = tuple(sizes[axis] for axis in _AXES[name])
            if array.shape != expected:
                yield f"{name} has shape {array.shape} - accepted: [{', '.join(_AXES[name])}], here {expected}"
        if self.time_s.size == 0:
            yield "time_s is empty - accepted: one sample at least, the scene as it was loaded"
        elif not (np.diff(self.time_s) > 0).all():
            yield "time_s does not increase - accepted: times that increase from sample to sample"
        if len(set(self.items)) < len(self.items):
            yield "an item comes twice - accepted: each item once"


_AXES = {
    "time_s": "t",
    "joint_pos": "tj",
    "joint_vel": "tj",
    "joint_torque": "tj",
    "gripper_opening": "t",
    "tcp_pose": "t7",
    "item_pose": "tn7",
    "item_vel": "tn6",
    "finger_touch": "tn",
    "fixture_force": "t",
    "body_touch": "tn",
    "item_fixture": "tn",
}
"""Axes of each array, a letter each; digits stand for themselves."""
