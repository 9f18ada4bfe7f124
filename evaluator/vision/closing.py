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
_ALIGNED = 7
"""Directions that are tried for where a part that lies askew ends up."""


@dataclass(frozen=True, eq=False)
class Touch:
    """Fingers that come down open and close; k tries at one item."""

    holds: NDArray[np.bool_]
    """They meet nothing on the way down, close on the part and hold it, shape [k]."""
    width_m: Array
    """How far they are apart then, shape [k]; not finite where nothing is between them."""


@dataclass(frozen=True)
class Feed:
    """Where parts lie, and what takes them."""

    gripper: Gripper
    box: Container
    pose: Pose

    def close_at(
        self, posed: Posed, item: int, middle: Array, yaw_rad: Array, *, open_m: Array, askew_rad: float = 0.0
    ) -> Touch:
        """Let the fingers come down open about places on one item, and close.

        Args:
            posed: All items in the feed.
            item: Which of them.
            middle: Midway between the pads where they touch [m], world frame, shape [k, 3].
            yaw_rad: Closing directions, shape [k].
            open_m: How far the fingers are apart while they come down, shape [k].
            askew_rad: How far the closing fingers turn a part so that its faces lie along them (Brost 1988).
        """
        pad_m = GRASP.limits["pad_m"]
        axis = np.stack([np.cos(yaw_rad), np.sin(yaw_rad)], axis=1)
        holds, after, width = self._closed(posed, item, middle, yaw_rad)
        aside = np.abs(((after - middle)[:, :2] * axis).sum(axis=1))
        # Both fingers come down beside the part: what is left on the nearer side is the room.
        clear = np.isfinite(width) & ((open_m - width) / 2 > aside)
        for turn in np.linspace(-askew_rad, askew_rad, _ALIGNED) if askew_rad else ():
            holds = holds | self._closed(posed, item, middle, yaw_rad + turn)[0]
        tip = np.maximum(middle[:, 2] - pad_m, self.pose.position[2] + GRASP.limits["tip_gap_m"])
        heights = posed.corners[posed.owner == item, 2]
        top, low = float(heights.max()), float(heights.min())
        inside = (middle[:, 2] >= tip) & (top - tip <= self.gripper.finger_depth_m) & (top >= middle[:, 2])
        usable = holds & clear & inside & (top - low >= self.gripper.min_grasp_height_m)
        free = self._free(posed, item, Candidates(usable[None], middle[None], axis[None], open_m[None], tip[None]))
        return Touch(usable & free, width)

    def _closed(self, posed: Posed, item: int, middle: Array, yaw_rad: Array) -> tuple[NDArray[np.bool_], Array, Array]:
        """Close on one item alone: whether it is held, the point midway between the pads then, and their distance."""
        axis = np.stack([np.cos(yaw_rad), np.sin(yaw_rad), np.zeros(len(yaw_rad))], axis=1)
        rotation = posed.rotations[item]
        up = np.round(rotation[2], _LEVEL).tolist()
        jaws = Jaws(self.gripper.finger_width_m, self.gripper.opening_m, GRASP.limits["pad_m"])
        local = (middle - posed.positions[item]) @ rotation
        closed = close_jaws(posed.parts[item], (up[0], up[1], up[2]), jaws, local, axis @ rotation)
        with np.errstate(invalid="ignore"):
            after = closed.middles_m @ rotation.T + posed.positions[item]
        return closed.holds, after, closed.widths_m

    def _free(self, posed: Posed, item: int, tried: Candidates) -> NDArray[np.bool_]:
        """Tell which tries at one item no other item and no wall is in the way of, shape [k]."""
        count = len(posed.items)
        fields = (tried.usable, tried.center, tried.axis, tried.width_m, tried.tip_m)
        spread = Candidates(*(np.repeat(field, count, axis=0) for field in fields))
        spread.usable[np.arange(count) != item] = False
        return np.asarray(unobstructed(posed, spread, 0.0, self.gripper, self.box, self.pose)[item])
