"""From peaks in an image to grasps in the world, by the camera and the feed as the cell specifies them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.vision.labels import PLAY_M
from evaluator.vision.peaks import Peaks
from evaluator.vision.subject import Subject
from scenegen.cell import Cell
from scenegen.geometry import Array
from scenegen.imaging.pinhole import pixel_rays
from scenegen.nominal import nominal_cameras, nominal_motion
from validators.grasp import GRASP

LEAST_FIT = 0.15
"""A further closing direction of a peak is kept if it fits at least so well, 0 to 1."""
LEAST_WIDTH_M = 0.002
"""Nothing to be taken is narrower [m]."""


@dataclass(frozen=True, eq=False)
class Sighted:
    """Grasps that were seen; g grasps, those of one peak together, the surest peaks first."""

    peak: NDArray[np.int_]
    """Number of the peak that each belongs to, shape [g]."""
    part: NDArray[np.int_]
    """Class, from 1, shape [g]."""
    middle: Array
    """Midway between the contacts [m], world frame, shape [g, 3]."""
    yaw_rad: Array
    """Closing direction about the vertical, world frame, shape [g]."""
    width_m: Array
    """Distance of the contacts [m], shape [g]."""
    tip_m: Array
    """Height of the finger tips [m], world frame, shape [g]."""
    chance: Array
    """What the net makes of the peak, 0 to 1, shape [g]."""


class Sighting:
    """Knows where the nominal camera and the nominal feed are, and nothing of how they may have been moved.

    Args:
        cell: The cell.
        subject: Its view.
    """

    def __init__(self, cell: Cell, subject: Subject) -> None:
        cameras = nominal_cameras(cell, nominal_motion(cell)).cameras
        self._camera = next(one for one in cameras if one.name == subject.camera.name)
        self._feed, self._gripper = cell.feed, cell.robot.gripper

    def grasps(self, peaks: Peaks) -> Sighted:
        """Bring peaks into the world; those beside the feed are left out."""
        feed = self._feed.pose_to_world
        height = np.clip(peaks.size[:, 1], 0.0, 1.0) * self._gripper.finger_depth_m
        middle = self.at_height(peaks.pixel, feed.position[2] + height)
        local = (middle - feed.position) @ feed.rotation
        inside = np.asarray((np.abs(local[:, :2]) <= np.array(self._feed.size_m) / 2).all(axis=1))
        kept = inside[:, None] & (peaks.fits >= LEAST_FIT)
        kept[:, 0] = inside
        peak, which = np.nonzero(kept)
        angle = peaks.angle[peak, which]
        ahead = peaks.pixel[peak] + np.column_stack([np.cos(angle), np.sin(angle)])
        along = self.at_height(ahead, middle[peak, 2]) - middle[peak]
        width = peaks.size[peak, 0] * self._gripper.opening_m
        floor = feed.position[2] + GRASP.limits["tip_gap_m"]
        return Sighted(
            peak=peak,
            part=peaks.part[peak],
            middle=middle[peak],
            yaw_rad=np.arctan2(along[:, 1], along[:, 0]),
            width_m=np.clip(width, LEAST_WIDTH_M, self._gripper.opening_m - 2 * PLAY_M),
            tip_m=np.maximum(middle[peak, 2] - GRASP.limits["pad_m"], floor),
            chance=peaks.chance[peak],
        )

    def at_height(self, pixels: Array, height_m: Array) -> Array:
        """Return the points at heights that pixels show.

        Args:
            pixels: Column and row [px], shape [n, 2].
            height_m: Their heights [m], world frame, shape [n].

        Returns:
            Points [m], world frame, shape [n, 3].
        """
        pose = self._camera.pose_to_world
        rays = pixel_rays(self._camera, pixels) @ pose.rotation.T
        reach = (height_m - pose.position[2]) / rays[:, 2]
        return pose.position + reach[:, None] * rays
