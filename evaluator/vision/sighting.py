"""From peaks in an image to grasps in the world, by the camera and the feed as the cell specifies them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.vision.labels import PLAY_M
from evaluator.vision.peaks import NO_ROOM, Peaks
from evaluator.vision.room import Fingers
from evaluator.vision.subject import Subject
from scenegen.cell import Cell
from scenegen.geometry import Array
from scenegen.imaging.pinhole import pixel_rays, project
from scenegen.nominal import nominal_cameras, nominal_motion
from validators.grasp import GRASP, Candidates, within_walls

LEAST_SHARE = 0.6
"""A further closing direction of a peak is kept if it fits at least so well, as a share of the best one."""
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
        """Bring peaks into the world; those beside the feed are left out, and directions that end in its walls."""
        feed, gripper = self._feed.pose_to_world, self._gripper
        height = np.clip(peaks.height, 0.0, 1.0) * gripper.finger_depth_m
        middle = self.at_height(peaks.pixel, feed.position[2] + height)
        tip = np.maximum(middle[:, 2] - GRASP.limits["pad_m"], feed.position[2] + GRASP.limits["tip_gap_m"])
        local = (middle - feed.position) @ feed.rotation
        inside = np.asarray((np.abs(local[:, :2]) <= np.array(self._feed.size_m) / 2).all(axis=1))
        axis = self._axes(peaks, middle)
        width = np.clip(peaks.width * gripper.opening_m, LEAST_WIDTH_M, gripper.opening_m - 2 * PLAY_M)
        shape = peaks.fits.shape
        tried = Candidates(
            usable=np.ones(shape, bool),
            center=np.broadcast_to(middle[:, None], (*shape, 3)),
            axis=axis,
            width_m=width,
            tip_m=np.broadcast_to(tip[:, None], shape),
        )
        fits = np.where(within_walls(tried, gripper, PLAY_M, self._feed, feed), peaks.fits, NO_ROOM * peaks.fits)
        kept = inside[:, None] & (fits > 0) & (fits >= LEAST_SHARE * fits.max(axis=1, keepdims=True, initial=0.0))
        peak, which = np.nonzero(kept)
        order = np.lexsort((which, -fits[peak, which], peak))
        peak, which = peak[order], which[order]
        return Sighted(
            peak=peak,
            part=peaks.part[peak],
            middle=middle[peak],
            yaw_rad=np.arctan2(axis[peak, which, 1], axis[peak, which, 0]),
            width_m=width[peak, which],
            tip_m=tip[peak],
            chance=peaks.chance[peak],
        )

    def _axes(self, peaks: Peaks, middle: Array) -> Array:
        """Return the closing directions of peaks in the plane, world frame, shape [p, DIRECTIONS, 2]."""
        step = np.stack([np.cos(peaks.angle), np.sin(peaks.angle)], axis=-1)
        ahead = (peaks.pixel[:, None] + step).reshape(-1, 2)
        heights = np.repeat(middle[:, 2], step.shape[1])
        along = self.at_height(ahead, heights).reshape(*step.shape[:2], 3)[..., :2] - middle[:, None, :2]
        return along / np.maximum(np.linalg.norm(along, axis=-1, keepdims=True), 1e-12)

    @property
    def fingers(self) -> Fingers:
        """Sizes of the fingers as the camera sees them in the middle of the feed."""
        middle, gripper = self._feed.pose_to_world.position, self._gripper
        ends = project(self._camera, np.stack([middle, middle + np.array([0.01, 0, 0])]))
        scale = float(np.linalg.norm(ends[1] - ends[0])) / 0.01
        return Fingers(
            opening=gripper.opening_m * scale,
            play=PLAY_M * scale,
            thickness=gripper.finger_thickness_m * scale,
            width=gripper.finger_width_m * scale,
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
