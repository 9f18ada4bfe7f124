"""In which fixture an item lies: wholly between a bin's walls, on its rim, in the feed, or elsewhere."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from evaluator.judging.job import Job
from scenegen.cell import Container
from scenegen.geometry import Array, Pose, quat_to_matrix
from scenegen.posed import hull_corners

SLACK_M = 0.001
"""How far a part may stand beyond a wall or above a rim [m]: what contacts give way, and no more."""
SINK_M = 0.005
"""How far below a container's floor its contents may be [m]: deeper, and the part has fallen through."""


class Place(StrEnum):
    """Where an item can be other than in a bin; hyphens keep these apart from names of bins."""

    FEED = "feed"
    RIM = "on-rim"
    """Partly over a bin: on its rim, or leaning out of it."""
    ELSEWHERE = "off-bins"
    """On the table, on the floor, in the air."""
    MOVING = "in-motion"
    """It had not come to rest."""
    HELD = "in-grip"
    """A finger still touched it."""


class ZoneFinder:
    """Tells in which zone items lie, with feed and bins where this scene has them.

    An item lies in a bin if its whole convex hull is between the walls (to `SLACK_M`) and its lowest point below their
    upper edge. If only some of it is over the bin it lies on the rim, which is not in the bin. It lies in the feed if
    the origin of its frame is between the feed's walls: heaps may overhang them.

    Example:
        >>> ZoneFinder(job).name(0, pose)  # doctest: +SKIP
        'bin_a'
    """

    def __init__(self, job: Job) -> None:
        self.names: tuple[str, ...] = (*job.cell.containers, Place.RIM, Place.ELSEWHERE)
        """Zones by index: `feed`, the bins, then rim and elsewhere."""
        self._corners = [hull_corners(part) for part in job.parts]
        self._radii = job.radii_m
        self._bins = [(index, job.cell.containers[name], job.fixtures[name]) for index, name in enumerate(job.bins, 1)]
        self._feed = (job.cell.feed, job.fixtures[Place.FEED])

    def of(self, item: int, poses: Array) -> NDArray[np.intp]:
        """Tell in which zone an item is at some poses.

        Args:
            item: Index of the item.
            poses: Poses of its frame, position [m] and quaternion xyzw, world frame, shape [k, 7].

        Returns:
            Indices in `names`, shape [k].
        """
        zones = np.full(len(poses), self.names.index(Place.ELSEWHERE))
        rows = np.flatnonzero(_over(*self._feed, poses[:, :3], margin_m=SLACK_M))
        if rows.size:
            heights = _local(self._feed[1], self._points(item, poses[rows]))[..., 2]
            zones[rows[heights.min(axis=1) >= -SINK_M]] = self.names.index(Place.FEED)
        for index, box, pose in self._bins:
            rows = np.flatnonzero(_over(box, pose, poses[:, :3], margin_m=box.wall_thickness_m + self._radii[item]))
            if rows.size:
                inside, partly = _between(box, _local(pose, self._points(item, poses[rows])))
                zones[rows[partly]] = self.names.index(Place.RIM)
                zones[rows[inside]] = index
        return zones

    def name(self, item: int, pose: Array) -> str:
        """Name the zone in which an item is at one pose, shape [7]."""
        return self.names[int(self.of(item, pose[None])[0])]

    def _points(self, item: int, poses: Array) -> Array:
        """Hull corners in the world [m], shape [k, corners, 3]."""
        quats = poses[:, 3:] / np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
        return np.einsum("kij,cj->kci", quat_to_matrix(quats), self._corners[item]) + poses[:, None, :3]


def _local(pose: Pose, points: Array) -> Array:
    """Map points from the world to a fixture's frame."""
    return (points - pose.position) @ pose.rotation


def _over(box: Container, pose: Pose, positions: Array, *, margin_m: float) -> NDArray[np.bool_]:
    """Tell which positions are above a container, or beside its inner box by a margin [m] at most."""
    beside = np.abs(_local(pose, positions)[:, :2]) - np.array(box.size_m) / 2
    return beside.max(axis=1) <= margin_m


def _between(box: Container, corners: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which hulls, shape [k, corners, 3], lie wholly between a container's walls, and which partly over it."""
    beside = (np.abs(corners[..., :2]) - np.array(box.size_m) / 2).max(axis=2)
    low = corners[..., 2].min(axis=1)
    above_floor, wall = low >= -SINK_M, box.wall_height_m
    inside = above_floor & (beside.max(axis=1) <= SLACK_M) & (low <= max(wall, SLACK_M))
    over = beside.min(axis=1) <= box.wall_thickness_m + SLACK_M
    return inside, above_floor & over & (low <= wall + SLACK_M) & ~inside
