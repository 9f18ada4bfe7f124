"""What the rollout asks of a simulator: many worlds of one cell that take scenarios and robot targets, tick by tick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from scenegen.geometry import Array
from scenegen.scenario import Scenario

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class LineState:
    """What all worlds do at one tick; w worlds, j arm joints, s slots; in the simulator's precision.

    The world frame is the table's: on a table that shakes, table, fixtures and robot stand still in it, and what lies
    loose moves as seen from the table, at most twice as far and as fast as the table shakes.
    """

    joint_pos: Floats
    """Angles of the arm's joints [rad], shape [w, j]."""
    joint_vel: Floats
    """Their speeds [rad/s], shape [w, j]."""
    joint_torque: Floats
    """Torques of the arm's drives [N m], shape [w, j]."""
    opening: Floats
    """Opening of the gripper, 0 closed to 1 open, shape [w]."""
    slot_pose: Floats
    """Poses of the slots' parts, position [m] and quaternion xyzw, world frame, shape [w, s, 7]."""
    slot_vel: Floats
    """Velocity of the centre of mass [m/s] and angular velocity [rad/s], world axes, shape [w, s, 6]."""
    finger_touch: NDArray[np.bool_]
    """A finger touches the slot's part, shape [w, s]."""
    body_touch: NDArray[np.bool_]
    """Another part of the robot touches it, shape [w, s]."""
    slot_fixture: NDArray[np.int_]
    """Index in `Line.fixtures` of what the part touches hardest, -1 for none, shape [w, s]."""
    fixture_force: Floats
    """Contact force between robot and fixtures [N], shape [w]."""
    sound: NDArray[np.bool_]
    """Whether the world's state can be trusted: numbers are finite and no contact was lost, shape [w]."""


class Line(Protocol):
    """Worlds of one cell; made by a simulator."""

    @property
    def count(self) -> int:
        """Number of worlds."""
        ...

    @property
    def rate_hz(self) -> float:
        """Ticks a second of simulated time."""
        ...

    @property
    def slots(self) -> tuple[str, ...]:
        """Names of the slots."""
        ...

    @property
    def fixtures(self) -> tuple[str, ...]:
        """Names of table, feed and bins."""
        ...

    def put(self, scenarios: Mapping[int, Scenario]) -> None:
        """Put scenarios into some worlds, by number; the others go on as they are."""
        ...

    def command(self, joints_rad: Array, opening: Array) -> None:
        """Set the targets of all worlds: arm joints, shape [w, j], and gripper, 0 to 1, shape [w]."""
        ...

    def tick(self) -> None:
        """Simulate one tick of all worlds."""
        ...

    def state(self) -> LineState:
        """Return what all worlds do now."""
        ...

    def images(self, worlds: Sequence[int], cameras: Sequence[str]) -> Mapping[str, Any]:
        """Photograph some worlds as they are now.

        Args:
            worlds: Their numbers, n of them.
            cameras: Names of cameras of the cell.

        Returns:
            `<camera>_rgb` -> sRGB, 8 bits, shape [n, h, w, 3]; torch on the simulator's device, or numpy.
        """
        ...
