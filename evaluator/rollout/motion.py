"""From a policy's actions to joint targets, whatever its actions are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.policy import ActionKind, PolicySpec
from scenegen.geometry import Array, quat_from_matrix, quat_to_matrix
from scenegen.robot import Arm


class Motion:
    """Remembers what each world's joints were asked for, since steps and velocities go on from there.

    Args:
        arm: The robot's kinematics.
        spec: The policy's kind of action and rate.
    """

    def __init__(self, arm: Arm, spec: PolicySpec) -> None:
        self._arm, self._spec = arm, spec
        self._joints = np.zeros((0, len(arm.robot.joints)))

    def reset(self, worlds: Sequence[int], joints_rad: Array) -> None:
        """Begin anew from where arms stand, shape [n, joints]."""
        self._grow(max(worlds, default=-1) + 1)
        self._joints[list(worlds)] = joints_rad

    def targets(self, actions: NDArray[np.float32], *, first: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Return joint targets, shape [w, joints], and gripper openings, shape [w], of all worlds.

        Args:
            actions: One action a world, shape [w, numbers].
            first: In which worlds this is the first tick of the action, shape [w]; its step is made once.
        """
        self._grow(len(actions))
        if first.any():
            self._joints[first] = self._next(self._joints[first], np.asarray(actions[first, :-1], float))
        return self._joints, np.clip(actions[:, -1].astype(float), 0.0, 1.0)

    def tcp_in_base(self, joints_rad: Array) -> Array:
        """Return the tool's pose in the robot's base frame, position [m] and quaternion xyzw, shape [n, 7]."""
        positions, rotations = self._arm.tcp(joints_rad)
        base = self._arm.robot.pose_base_to_world
        local = np.einsum("ni,ij->nj", positions - base.position, base.rotation)
        return np.concatenate([local, quat_from_matrix(base.rotation.T @ rotations)], axis=1)

    def _grow(self, worlds: int) -> None:
        """Make room for so many worlds; new ones stand at the robot's start."""
        missing = worlds - len(self._joints)
        if missing > 0:
            start = np.array(self._arm.robot.start_joints_rad)
            self._joints = np.concatenate([self._joints, np.repeat(start[None], missing, axis=0)])

    def _next(self, joints: Array, numbers: Array) -> Array:
        """Return what arms are asked for that were asked for `joints` before: row by row, whatever other rows are."""
        match self._spec.action:
            case ActionKind.JOINT_POSITION:
                return self._arm.clipped(numbers)
            case ActionKind.JOINT_VELOCITY:
                return self._arm.clipped(joints + numbers / self._spec.rate_hz)
            case ActionKind.TCP_POSE:
                base = self._arm.robot.pose_base_to_world
                positions = np.einsum("ni,ji->nj", numbers[:, :3], base.rotation) + base.position
                return self._arm.follow(joints, positions, base.rotation @ quat_to_matrix(numbers[:, 3:7]))
            case ActionKind.TCP_DELTA:
                base = self._arm.robot.pose_base_to_world
                positions, rotations = self._arm.tcp(joints)
                turned = base.rotation @ _rotation(numbers[:, 3:6]) @ base.rotation.T @ rotations
                steps = np.einsum("ni,ji->nj", numbers[:, :3], base.rotation)
                return self._arm.follow(joints, positions + steps, turned)


def _rotation(vectors: Array) -> Array:
    """Turn rotation vectors [rad] into matrices, shape [n, 3, 3] (Rodrigues)."""
    angles = np.linalg.norm(vectors, axis=1)
    axes = vectors / np.maximum(angles, 1e-12)[:, None]
    cross = np.zeros((len(vectors), 3, 3))
    cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -axes[:, 2], axes[:, 1], -axes[:, 0]
    cross -= np.swapaxes(cross, 1, 2)
    sine, rest = np.sin(angles)[:, None, None], (1 - np.cos(angles))[:, None, None]
    return np.eye(3) + sine * cross + rest * (cross @ cross)
