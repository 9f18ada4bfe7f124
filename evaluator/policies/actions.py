"""What the numbers of an action are, by kind: how many there are, and which of them keep the robot where it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.policy import ActionKind, as_numpy

_MOTIONS = frozenset({ActionKind.JOINT_VELOCITY, ActionKind.TCP_DELTA})
"""Kinds whose numbers are motions: all zero means to stand still."""


def action_numbers(kind: ActionKind, joints: int) -> int:
    """Return how many numbers an action has, the gripper's included.

    Args:
        kind: What the numbers are.
        joints: How many joints the arm has.
    """
    return {ActionKind.TCP_POSE: 8, ActionKind.TCP_DELTA: 7}.get(kind, joints + 1)


def rest_actions(kind: ActionKind, policy: Mapping[str, Any]) -> NDArray[np.float32]:
    """Return the action that keeps each robot where it is, gripper included.

    Args:
        kind: What the numbers are.
        policy: An observation's `policy` group, n worlds.

    Returns:
        Shape [n, numbers].
    """
    gripper = as_numpy(policy["gripper_pos"])
    match kind:
        case ActionKind.JOINT_POSITION:
            arm = as_numpy(policy["joint_pos"])
        case ActionKind.JOINT_VELOCITY:
            arm = np.zeros_like(as_numpy(policy["joint_pos"]))
        case ActionKind.TCP_POSE:
            arm = as_numpy(policy["tcp_pose"])
        case ActionKind.TCP_DELTA:
            arm = np.zeros((len(gripper), 6))
    return np.concatenate([arm, gripper], axis=1).astype(np.float32)


def held(kind: ActionKind, actions: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return what is done after an action when no further one is known.

    A target stays the target. A motion does not go on: velocities and steps become zero, and the gripper keeps its last
    opening.

    Args:
        kind: What the numbers are.
        actions: The last actions, shape [..., numbers].
    """
    if kind not in _MOTIONS:
        return actions
    still = np.zeros_like(actions)
    still[..., -1] = actions[..., -1]
    return still
