"""What happens where fingers close: do they hold the part, and does anything stand in their way?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scenegen.cell import Container, Gripper
from scenegen.geometry import Array, Pose
from scenegen.posed import Posed
from validators.grasp import GRASP, Candidates, unobstructed
from validators.jaw_grasps import Jaws, close_jaws

_LEVEL = 3
"""Decimals of a vertical, as the check of grasps rounds it."""


@dataclass(frozen=True, eq=False)
class Closed:
    """What closing gives; k tries at one item."""

    holds: NDArray[np.bool_]
    """The fingers come down free, close on the part and hold it, shape [k]."""
    width_m: Array
    """How far they are apart then, infinite where they do not hold, shape [k]."""
    aside_m: Array
    """How far the part is pushed along the closing direction, shape [k]."""


@dataclass(frozen=True)
class Feed:
    """Where parts lie, and what takes them."""

    gripper: Gripper
    box: Container
    pose: Pose

    def close_at(self, posed: Posed, item: int, middle: Array, yaw_rad: Array, *, open_m: Array) -> Closed:
        """Let the fingers come down open about places on one item, and close.

        Args:
            posed: All items in the feed.
            item: Which of them.
            middle: Midway between the pads where they touch [m], world frame, shape [k, 3].
            yaw_rad: Closing directions, shape [k].
            open_m: How far the fingers are apart while they come down, shape [k].
        """
        pad_m = GRASP.limits["pad_m"]
        axis = np.stack([np.cos(yaw_rad), np.sin(yaw_rad)], axis=1)
        rotation = posed.rotations[item]
        up = np.round(rotation[2], _LEVEL).tolist()
        local = (middle - posed.positions[item]) @ rotation
        level = np.column_stack([axis, np.zeros(len(axis))]) @ rotation
        jaws = Jaws(self.gripper.finger_width_m, self.gripper.opening_m, pad_m)
        closed = close_jaws(posed.parts[item], (up[0], up[1], up[2]), jaws, local, level)
        after = closed.centers_m @ rotation.T + posed.positions[item]
        aside = np.abs(((after - middle)[:, :2] * axis).sum(axis=1))
        # Both fingers come down beside the part: what is left on the nearer side is the room.
        clear = (open_m - closed.widths_m) / 2 - aside > 0
        tip = np.maximum(middle[:, 2] - pad_m, self.pose.position[2] + GRASP.limits["tip_gap_m"])
        top, low = (float(pick(posed.corners[posed.owner == item, 2])) for pick in (np.max, np.min))
        inside = (middle[:, 2] >= tip) & (top - tip <= self.gripper.finger_depth_m) & (top >= middle[:, 2])
        usable = clear & inside & (top - low >= self.gripper.min_grasp_height_m)
        free = self._free(posed, item, Candidates(usable[None], middle[None], axis[None], open_m[None], tip[None]))
        return Closed(usable & free, closed.widths_m, aside)

    def _free(self, posed: Posed, item: int, tried: Candidates) -> NDArray[np.bool_]:
        """Tell which tries at one item no other item and no wall is in the way of, shape [k]."""
        count = len(posed.items)
        spread = Candidates(
            *(
                np.repeat(field, count, axis=0)
                for field in (tried.usable, tried.center, tried.axis, tried.width_m, tried.tip_m)
            )
        )
        spread.usable[np.arange(count) != item] = False
        return np.asarray(unobstructed(posed, spread, 0.0, self.gripper, self.box, self.pose)[item])
