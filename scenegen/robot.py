"""Kinematics of a serial arm from its Denavit-Hartenberg rows: forward, top-down inverse, reach."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scenegen.cell import JointSpec, Robot
from scenegen.geometry import Array, Pose, quat_from_matrix

DAMPING = 1e-4
"""Square of the damping of the inverse kinematics: small against a reach of a metre."""


class Arm:
    """A robot's arm.

    Example:
        >>> from scenegen.cells import load_builtin  # doctest: +SKIP
        >>> Arm(load_builtin("fasteners").robot)  # doctest: +SKIP
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._base = _matrix(robot.pose_base_to_world)
        self._tcp = _matrix(robot.pose_tcp_to_flange)
        self._lower = np.array([j.lower_rad for j in robot.joints])
        self._upper = np.array([j.upper_rad for j in robot.joints])

    def pose_flange_to_world(self, joints_rad: ArrayLike) -> Pose:
        """Pose of the frame after the last joint, for joint angles [rad], shape [joints]."""
        matrix = self._chain(np.asarray(joints_rad, float)[None])[-1][0]
        return Pose.of(matrix[:3, 3], quat_from_matrix(matrix[:3, :3]))

    def reaches_top_down(self, points_m: ArrayLike, *, tolerance_m: float = 0.002) -> np.ndarray:
        """Tell which points the tool centre can reach pointing straight down, within the joint limits.

        Yaw about the vertical is left free, since a grasp's yaw is chosen later. Damped least squares from the start
        pose (Buss 2004, "Introduction to inverse kinematics", eq. 11), batched.

        Args:
            points_m: Tool centre points [m], world frame, shape [n, 3].
            tolerance_m: Accepted position error [m]; the tool's axis may lean by 0.02 rad.

        Returns:
            Booleans, shape [n].
        """
        goals = np.asarray(points_m, float).reshape(-1, 3)
        joints = np.repeat(np.array(self.robot.start_joints_rad)[None], len(goals), axis=0)
        for _ in range(80):
            error, jacobian = self._task(joints, goals)
            if np.all(self._close(error, tolerance_m * 0.5)):
                break
            gram = jacobian @ np.swapaxes(jacobian, 1, 2) + 1e-4 * np.eye(5)
            step = np.einsum("nij,ni->nj", jacobian, np.linalg.solve(gram, error[..., None])[..., 0])
            joints = np.clip(joints + np.clip(step, -0.4, 0.4), self._lower, self._upper)
        return self._close(self._task(joints, goals)[0], tolerance_m)

    def tcp(self, joints_rad: ArrayLike) -> tuple[Array, Array]:
        """Return position [m], shape [n, 3], and rotation, shape [n, 3, 3], of the tool centre, world frame.

        Args:
            joints_rad: Joint angles, shape [n, joints].
        """
        frames = self._chain(np.asarray(joints_rad, float))[-1] @ self._tcp
        return frames[:, :3, 3], frames[:, :3, :3]

    def axes(self, joints_rad: ArrayLike) -> tuple[Array, Array]:
        """Return a point on each joint's axis [m] and its direction, world frame, both of shape [n, joints, 3].

        Args:
            joints_rad: Joint angles, shape [n, joints].
        """
        _, axes, origins = self._frames(np.asarray(joints_rad, float))
        return origins, axes

    def clipped(self, joints_rad: Array) -> Array:
        """Return joints within their limits, shape [n, joints]."""
        return np.clip(joints_rad, self._lower, self._upper)

    def follow(self, joints_rad: ArrayLike, positions_m: Array, rotations: Array, *, steps: int = 4) -> Array:
        """Return joints that bring the tool centre to poses near the present one, shape [n, joints].

        Damped least squares (Buss 2004, eq. 11), a few steps from the present joints; limits are kept.

        Args:
            joints_rad: Present joint angles, shape [n, joints].
            positions_m: Wanted positions, world frame, shape [n, 3].
            rotations: Wanted rotations, shape [n, 3, 3].
            steps: Steps of the iteration.
        """
        joints = np.array(joints_rad, float)
        for _ in range(steps):
            frame, axes, origins = self._frames(joints)
            tcp = frame @ self._tcp
            turn = rotations @ np.swapaxes(tcp[:, :3, :3], 1, 2)
            spin = 0.5 * np.stack(
                [turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], axis=1
            )
            error = np.concatenate([positions_m - tcp[:, :3, 3], spin], axis=1)
            linear = np.cross(axes, tcp[:, None, :3, 3] - origins)
            jacobian = np.concatenate([linear, axes], axis=2).swapaxes(1, 2)
            gram = jacobian @ np.swapaxes(jacobian, 1, 2) + DAMPING * np.eye(6)
            step = np.einsum("nij,ni->nj", jacobian, np.linalg.solve(gram, error[..., None])[..., 0])
            joints = np.clip(joints + np.clip(step, -0.2, 0.2), self._lower, self._upper)
        return joints

    @staticmethod
    def _close(error: Array, tolerance_m: float) -> np.ndarray:
        return (np.linalg.norm(error[:, :3], axis=1) < tolerance_m) & (np.linalg.norm(error[:, 3:], axis=1) < 0.02)

    def _task(self, joints: Array, goals: Array) -> tuple[Array, Array]:
        """Position and tool-axis error, shape [n, 5], and its Jacobian, shape [n, 5, joints]."""
        frames, axes, origins = self._frames(joints)
        tcp = frames @ self._tcp
        position, axis = tcp[:, :3, 3], tcp[:, :3, 2]
        error = np.concatenate([goals - position, -axis[:, :2]], axis=1)
        # Pointing down means the axis' x and y vanish; where it points up, push it sideways first.
        error[:, 3] += np.where(axis[:, 2] > 0, 0.5, 0.0)
        linear = np.cross(axes, position[:, None] - origins)
        turning = np.cross(axes, axis[:, None])
        jacobian = np.concatenate([linear, turning[..., :2]], axis=2).swapaxes(1, 2)
        return error.astype(np.float64), jacobian.astype(np.float64)

    def _frames(self, joints: Array) -> tuple[Array, Array, Array]:
        chain = self._chain(joints)
        moved = chain[1:] if self.robot.convention == "modified" else chain[:-1]
        axes = np.stack([frame[:, :3, 2] for frame in moved], axis=1)
        origins = np.stack([frame[:, :3, 3] for frame in moved], axis=1)
        return chain[-1], axes, origins

    def _chain(self, joints: Array) -> list[Array]:
        frames = [np.repeat(self._base[None], len(joints), axis=0)]
        for index, row in enumerate(self.robot.joints):
            frames.append(frames[-1] @ _link(row, joints[:, index], self.robot.convention))
        return frames


def _link(row: JointSpec, angle: Array, convention: str) -> Array:
    """Transform across one joint, shape [n, 4, 4]; Craig 2005, eq. 3.6 (modified), or Denavit-Hartenberg's original."""
    cos, sin = np.cos(angle + row.theta_rad), np.sin(angle + row.theta_rad)
    c, s, a, d = np.cos(row.alpha_rad), np.sin(row.alpha_rad), row.a_m, row.d_m
    matrix = np.zeros((len(angle), 4, 4))
    matrix[:, 0, 0], matrix[:, 2, 2], matrix[:, 3, 3] = cos, c, 1.0
    if convention == "modified":
        matrix[:, 0, 1], matrix[:, 0, 3] = -sin, a
        matrix[:, 1, 0], matrix[:, 1, 1], matrix[:, 1, 2], matrix[:, 1, 3] = sin * c, cos * c, -s, -d * s
        matrix[:, 2, 0], matrix[:, 2, 1], matrix[:, 2, 3] = sin * s, cos * s, d * c
    else:
        matrix[:, 0, 1], matrix[:, 0, 2], matrix[:, 0, 3] = -sin * c, sin * s, a * cos
        matrix[:, 1, 0], matrix[:, 1, 1], matrix[:, 1, 2], matrix[:, 1, 3] = sin, cos * c, -cos * s, a * sin
        matrix[:, 2, 1], matrix[:, 2, 3] = s, d
    return matrix


def _matrix(pose: Pose) -> Array:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = pose.rotation, pose.position
    return matrix
