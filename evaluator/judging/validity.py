"""Whether a trace can be judged at all: its numbers are finite, nothing jumps, and it began as the scenario says."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from evaluator.judging.job import Job
from evaluator.judging.trace import Trace
from scenegen.geometry import Array

JUMP_M = 0.03
"""How much farther a part may get between two samples than its speed takes it [m]: a blow in between, at 1.5 m/s."""
UNIT_SLACK = 0.01
"""How far a quaternion's norm may be from one: 32-bit simulators stay within 1e-5, what was never written is zero."""
START_M = 0.01
"""How far a part may be at the first sample from where the scenario has it [m]: scenes rest, and vibration is small."""


class Flaw(StrEnum):
    """Why a trace cannot be judged from some sample on."""

    NOT_FINITE = "not_finite"
    """A state is NaN or infinite, or a rotation is none."""
    JUMP = "jump"
    """An item is suddenly somewhere else, as if it had been put there: no speed that it had takes it so far."""
    OTHER_START = "other_start"
    """An item does not begin where the scenario has it: the reset did not do what it should."""


class Found(NamedTuple):
    """A flaw and where it begins."""

    flaw: Flaw
    sample: int


def first_flaw(trace: Trace, job: Job) -> Found | None:
    """Find the first flaw of a trace; None if it can be judged to its end.

    Args:
        trace: An episode, its items in the job's order.
        job: The scene.
    """
    finite = _finite(trace)
    if not finite[0]:
        return Found(Flaw.NOT_FINITE, 0)
    starts = np.array([item.pose_to_world.position_m for item in job.scenario.layout.items]).reshape(-1, 3)
    if (np.linalg.norm(trace.item_pose[0, :, :3] - starts, axis=1) > START_M + 2 * job.sway_m).any():
        return Found(Flaw.OTHER_START, 0)
    sound = trace.until(int(finite.argmin())) if not finite.all() else trace
    jumps = np.flatnonzero(_jumps(sound).any(axis=1))
    if jumps.size:
        return Found(Flaw.JUMP, int(jumps[0]) + 1)
    return None if finite.all() else Found(Flaw.NOT_FINITE, sound.samples)


def _finite(trace: Trace) -> np.ndarray:
    """Tell which samples are finite throughout, and their quaternions of unit norm, shape [t]."""
    arrays = (trace.joint_pos, trace.joint_vel, trace.gripper_opening, trace.tcp_pose, trace.item_pose, trace.item_vel)
    known = [array for array in (*arrays, trace.joint_torque, trace.fixture_force) if array is not None]
    finite = np.logical_and.reduce([np.isfinite(array.reshape(trace.samples, -1)).all(axis=1) for array in known])
    quats = np.concatenate([trace.tcp_pose[:, None, 3:], trace.item_pose[..., 3:]], axis=1)
    norms = np.linalg.norm(np.where(finite[:, None, None], quats, 0.5), axis=2)
    return finite & (np.abs(norms - 1) <= UNIT_SLACK).all(axis=1)


def _jumps(trace: Trace) -> np.ndarray:
    """Tell which items get farther from one sample to the next than their speeds explain, shape [t - 1, n]."""
    steps: Array = np.linalg.norm(np.diff(trace.item_pose[..., :3], axis=0), axis=2)
    speed = np.linalg.norm(trace.item_vel[..., :3], axis=2)
    return steps > np.maximum(speed[1:], speed[:-1]) * np.diff(trace.time_s)[:, None] + JUMP_M
