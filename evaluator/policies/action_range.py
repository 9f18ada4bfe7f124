"""What an action may ask for: a range for each of its numbers, from the robot's limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from evaluator.policy import ActionKind
from scenegen.cell import Robot

JOINT_MARGIN_RAD = 0.1
"""How far beyond a joint's limit a target may lie: learned policies overshoot a little, and the joint stops anyway."""
JOINT_SPEED_RAD_S = 12.0
"""Largest joint speed that may be asked for, three times what fast arms do (UR5 3.1, Panda 2.6 rad/s): beyond it the
numbers are in other units."""
TCP_RADIUS_M = 3.0
"""Farthest target of the tool from the robot's base, along an axis: no arm of a sorting cell is longer."""
TCP_STEP_M = 0.5
"""Largest step of the tool in one action, along an axis."""
TCP_TURN_RAD = float(np.pi)
"""Largest rotation in one action, about an axis."""
GRIPPER_MARGIN = 0.05
"""How far an opening may lie outside 0 to 1."""
NORM_MARGIN = 0.05
"""How far a quaternion's norm may be from one."""


@dataclass(frozen=True, eq=False)
class ActionRange:
    """Least and greatest value of each number of an action."""

    kind: ActionKind
    low: NDArray[np.float32]
    """Shape [numbers]."""
    high: NDArray[np.float32]
    """Shape [numbers]."""

    @classmethod
    def of(cls, kind: ActionKind, robot: Robot) -> Self:
        """Build the range for a robot."""
        count = len(robot.joints)
        match kind:
            case ActionKind.JOINT_POSITION:
                low = [joint.lower_rad - JOINT_MARGIN_RAD for joint in robot.joints]
                high = [joint.upper_rad + JOINT_MARGIN_RAD for joint in robot.joints]
            case ActionKind.JOINT_VELOCITY:
                low, high = [-JOINT_SPEED_RAD_S] * count, [JOINT_SPEED_RAD_S] * count
            case ActionKind.TCP_POSE:
                high = [TCP_RADIUS_M] * 3 + [1 + NORM_MARGIN] * 4
                low = [-value for value in high]
            case ActionKind.TCP_DELTA:
                high = [TCP_STEP_M] * 3 + [TCP_TURN_RAD] * 3
                low = [-value for value in high]
        ends = ([*low, -GRIPPER_MARGIN], [*high, 1 + GRIPPER_MARGIN])
        return cls(kind, *(np.array(end, np.float32) for end in ends))

    @property
    def numbers(self) -> int:
        """How many numbers an action has."""
        return len(self.low)

    def faults(self, chunks: NDArray[np.float32]) -> dict[int, tuple[str, str]]:
        """Find the worlds whose chunks ask for what must not be.

        Args:
            chunks: Shape [n, horizon, numbers].

        Returns:
            By row: what is wrong with it and what would be accepted, as phrases.
        """
        found: dict[int, tuple[str, str]] = {}
        bad = ~((chunks >= self.low) & (chunks <= self.high))
        for row in np.flatnonzero(bad.any(axis=(1, 2))).tolist():
            step, number = np.argwhere(bad[row])[0].tolist()
            value = chunks[row, step, number]
            if np.isfinite(value):
                accepted = f"{self.low[number]:.4g} to {self.high[number]:.4g}"
            else:
                accepted = "finite numbers"
            found[row] = (f"number {number} of action {step} is {value:.4g}", accepted)
        if self.kind is ActionKind.TCP_POSE:
            norms = np.linalg.norm(chunks[..., 3:7], axis=-1)
            off = np.abs(norms - 1) > NORM_MARGIN
            for row in np.flatnonzero(off.any(axis=1)).tolist():
                norm = norms[row, np.argmax(off[row])]
                found.setdefault(row, (f"a quaternion has norm {norm:.4g}", "a unit quaternion (x, y, z, w)"))
        return found
