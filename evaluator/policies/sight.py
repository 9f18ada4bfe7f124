"""What a picker knows of the parts before it: the seam between seeing and moving."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evaluator.policies.path import ToolPoint
from scenegen.geometry import Array, Pose


@dataclass(frozen=True)
class Grasp:
    """One way to take one part."""

    item: str
    """Which part: its name, or what the eye calls it."""
    bin: str
    """Where it belongs."""
    point: ToolPoint
    """The tool at the grasp, open."""
    below_m: float
    """How far the part reaches below the tool [m]."""
    width_m: float
    """How far the fingers are apart when they hold it [m]."""


@dataclass(frozen=True, eq=False)
class Grasps:
    """All ways to take parts now; g grasps of m parts."""

    items: tuple[str, ...]
    """The parts."""
    bins: tuple[str, ...]
    """Where each belongs."""
    item: NDArray[np.int_]
    """Which part each grasp takes; grasps of one part stand together, the best first, shape [g]."""
    middle: Array
    """Where the tool is midway between the fingers [m], world frame, shape [g, 2]."""
    tip_m: Array
    """Height of the finger tips [m], world frame, shape [g]."""
    yaw_rad: Array
    """Closing direction about the vertical, world frame, shape [g]."""
    width_m: Array
    """Distance of the contacts [m], shape [g]."""
    play_m: float
    """How far the fingers open beyond the part on each side [m]."""
    lowest_m: Array
    """Lowest point of the part [m], world frame, shape [g]."""


_EMPTY = np.zeros(0)
NOTHING = Grasps((), (), np.zeros(0, int), np.zeros((0, 2)), _EMPTY, _EMPTY, _EMPTY, 0.0, _EMPTY)
"""No grasps."""


class Sight(Protocol):
    """What is known at one moment in one world."""

    def grasps(self) -> Grasps:
        """List the ways to take parts that lie in the feed now."""
        ...

    def came_along(self, grasp: Grasp) -> bool:
        """Tell whether a part is in the gripper, which closed on it and rose."""
        ...

    def bin_pose(self, name: str) -> Pose:
        """Return where a bin stands, world frame."""
        ...
