"""The oracle: a scripted policy that knows where everything is. What it cannot sort is no fair test."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.policies.context import PolicyContext
from evaluator.policies.form import PolicyForm
from evaluator.policies.path import ToolPoint
from evaluator.policies.picker import Picker
from evaluator.policy import ActionKind, Observation, PolicySpec, as_numpy
from scenegen.cell import Cell
from scenegen.errors import PolicyError
from scenegen.geometry import Array
from scenegen.parts.catalogue import Catalogue
from scenegen.robot import Arm

RATE_HZ = 50.0
CHUNK = 10
"""Actions in a chunk: it looks at the scene five times a second."""


class Oracle:
    """Picks and places with the true poses, by inverse kinematics; privileged.

    Args:
        cell: The cell.
        parts: Its parts.
    """

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self.spec = PolicySpec(
            "oracle", ActionKind.JOINT_POSITION, truth=True, rate_hz=RATE_HZ, horizon=CHUNK, execute=CHUNK
        )
        self._cell, self._parts, self._arm = cell, parts, Arm(cell.robot)
        self._pickers: dict[int, Picker] = {}
        self._points: dict[int, deque[ToolPoint]] = {}
        self._joints: dict[int, Array] = {}
        self._last: dict[int, ToolPoint] = {}

    def reset(self, worlds: Sequence[int], instructions: Sequence[str]) -> None:
        """Forget what was planned in some worlds."""
        for world in worlds:
            for known in (self._pickers, self._points, self._joints, self._last):
                known.pop(world, None)

    def act(self, observation: Observation) -> NDArray[np.float32]:
        """Return the next joint positions of each world, shape [n, CHUNK, joints + 1]."""
        if observation.truth is None:
            raise PolicyError("oracle", "it was shown no truth", "observations with the poses of all items")
        joints = as_numpy(observation.policy["joint_pos"])
        chunks = []
        for row, (world, truth) in enumerate(zip(observation.worlds, observation.truth, strict=True)):
            if world not in self._pickers:
                self._begin(world, joints[row])
            queue = self._points[world]
            if not queue:
                queue.extend(self._pickers[world].next_points(truth))
            chunk = [queue.popleft() for _ in range(min(CHUNK, len(queue)))]
            chunk += [chunk[-1]] * (CHUNK - len(chunk))
            chunks.append(np.array([point.numbers for point in chunk]))
        return self._followed(observation.worlds, np.stack(chunks)).astype(np.float32)

    def close(self) -> None:
        """Nothing is held open."""

    def _begin(self, world: int, joints: Array) -> None:
        position, rotation = self._arm.tcp(joints[None])
        closing = rotation[0, :2, 1]
        x, y, z = position[0].tolist()
        start = ToolPoint(x, y, z, float(np.arctan2(closing[1], closing[0])), 1.0)
        self._pickers[world] = Picker(self._cell, self._parts, start, rate_hz=RATE_HZ)
        self._points[world] = deque()
        self._joints[world] = np.array(joints, float)

    def _followed(self, worlds: Sequence[int], points: Array) -> Array:
        """Turn set points, shape [n, CHUNK, 5], into joints and opening, shape [n, CHUNK, joints + 1]."""
        joints = np.stack([self._joints[world] for world in worlds])
        found = np.empty((*points.shape[:2], joints.shape[1] + 1))
        for tick in range(points.shape[1]):
            joints = self._arm.follow(joints, points[:, tick, :3], downward(points[:, tick, 3]))
            found[:, tick, :-1], found[:, tick, -1] = joints, points[:, tick, 4]
        for row, world in enumerate(worlds):
            self._joints[world] = joints[row]
        return found


def build(form: PolicyForm, context: PolicyContext) -> Oracle:
    """Build it from `oracle`."""
    form.no_target()
    form.options.end()
    return Oracle(context.cell, context.parts)


def downward(yaw_rad: Array) -> Array:
    """Return rotations of a tool that points straight down and closes along a direction, shape [n, 3, 3]."""
    zero, one = np.zeros_like(yaw_rad), np.ones_like(yaw_rad)
    closing = np.stack([np.cos(yaw_rad), np.sin(yaw_rad), zero], axis=-1)
    down = np.stack([zero, zero, -one], axis=-1)
    return np.asarray(np.stack([np.cross(closing, down), closing, down], axis=-1), float)
