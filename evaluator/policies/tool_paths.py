"""The way ahead of many robots: set points of their tools, handed out as chunks of joint targets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.policies.path import NUMBERS, ToolPoint
from evaluator.policies.rows import with_room
from scenegen.geometry import Array
from scenegen.robot import Arm

_LONG = 256
"""Set points that there is room for at first; it grows."""
FOLLOW_STEPS = 1
"""Steps of the inverse kinematics a set point: at full speed the tool is 0.3 mm off, and not at all when it stands."""


class ToolPaths:
    """Holds the set points that lie ahead in each world, and follows them by inverse kinematics, all worlds at once.

    Args:
        arm: The robot's kinematics.
    """

    def __init__(self, arm: Arm) -> None:
        self._arm = arm
        self._points = np.zeros((0, _LONG, NUMBERS))
        self._ahead = np.zeros((0, 2), int)
        """How many set points were handed out, and how many there are, shape [worlds, 2]."""
        self._joints = np.zeros((0, len(arm.robot.joints)))
        """What was handed out last [rad], shape [worlds, joints]."""
        self._known = np.zeros(0, bool)

    def forget(self, worlds: Sequence[int]) -> None:
        """Forget what lies ahead in some worlds."""
        self._make_room(worlds)
        self._known[list(worlds)] = False

    def unknown(self, worlds: Sequence[int]) -> NDArray[np.intp]:
        """Return which of some worlds were not begun, as places in the list."""
        self._make_room(worlds)
        return np.flatnonzero(~self._known[list(worlds)])

    def begin(self, worlds: Sequence[int], joints_rad: Array) -> list[ToolPoint]:
        """Begin in some worlds, and return where their tools are, open.

        Args:
            worlds: Their numbers.
            joints_rad: Where their arms stand, shape [n, joints].
        """
        if not len(worlds):
            return []
        self._make_room(worlds)
        rows = list(worlds)
        self._joints[rows], self._ahead[rows], self._known[rows] = joints_rad, 0, True
        positions, rotations = self._arm.tcp(joints_rad)
        yaw = np.arctan2(rotations[:, 1, 1], rotations[:, 0, 1])
        return [ToolPoint.open_at(place, turn) for place, turn in zip(positions, yaw.tolist(), strict=True)]

    def ended(self, worlds: Sequence[int]) -> NDArray[np.intp]:
        """Return in which of some worlds nothing lies ahead, as places in the list."""
        done, there = self._ahead[list(worlds)].T
        return np.flatnonzero(done >= there)

    def put(self, world: int, points: Array) -> None:
        """Say what lies ahead in a world where nothing does, shape [ticks, NUMBERS], at least one."""
        if len(points) > self._points.shape[1]:
            longer = max(len(points), 2 * self._points.shape[1]) - self._points.shape[1]
            self._points = np.pad(self._points, ((0, 0), (0, longer), (0, 0)))
        self._points[world, : len(points)] = points
        self._ahead[world] = 0, len(points)

    def chunk(self, worlds: Sequence[int], ticks: int) -> NDArray[np.float32]:
        """Hand out what lies ahead: joints [rad] and opening; after its end a path stays where it is.

        Args:
            worlds: Numbers of worlds where something lies ahead.
            ticks: How many set points.

        Returns:
            Shape [n, ticks, joints + 1].
        """
        rows = np.asarray(worlds, int)
        done, there = self._ahead[rows].T
        steps = np.minimum(done[:, None] + np.arange(ticks), there[:, None] - 1)
        points = self._points[rows[:, None], steps]
        self._ahead[rows, 0] = np.minimum(done + ticks, there)
        joints = self._joints[rows]
        found = np.empty((*points.shape[:2], joints.shape[1] + 1), np.float32)
        for tick in range(ticks):
            joints = self._arm.follow(joints, points[:, tick, :3], downward(points[:, tick, 3]), steps=FOLLOW_STEPS)
            found[:, tick, :-1], found[:, tick, -1] = joints, points[:, tick, 4]
        self._joints[rows] = joints
        return found

    def _make_room(self, worlds: Sequence[int]) -> None:
        self._points = with_room(self._points, worlds)
        self._ahead = with_room(self._ahead, worlds)
        self._joints = with_room(self._joints, worlds)
        self._known = with_room(self._known, worlds)


def downward(yaw_rad: Array) -> Array:
    """Return rotations of a tool that points straight down and closes along a direction, shape [n, 3, 3]."""
    zero, one = np.zeros_like(yaw_rad), np.ones_like(yaw_rad)
    closing = np.stack([np.cos(yaw_rad), np.sin(yaw_rad), zero], axis=-1)
    down = np.stack([zero, zero, -one], axis=-1)
    return np.asarray(np.stack([np.cross(closing, down), closing, down], axis=-1), float)
