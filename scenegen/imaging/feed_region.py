"""The space in and over the feed, where targets lie: shadows there are looked up in a map of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenegen.cell import Container
from scenegen.geometry import Array, Pose
from scenegen.imaging.gbuffer import Vector
from scenegen.imaging.ray_shape import UNIT_CORNERS

HEIGHT_M = 0.06
"""How far it reaches above the floor [m]: higher than most parts that are piled or lean."""


@dataclass(frozen=True, eq=False)
class FeedRegion:
    """A box about a feed at its place."""

    pose_to_world: Pose
    low: Array
    """Its least corner in the feed's frame [m], shape [3]."""
    high: Array

    @classmethod
    def of(cls, feed: Container, pose_to_world: Pose) -> FeedRegion:
        """Span a feed, its walls' upper faces included."""
        half = np.array(feed.size_m) / 2 + feed.wall_thickness_m
        low, high = np.array([*-half, -feed.floor_thickness_m]), np.array([*half, HEIGHT_M])
        return cls(pose_to_world, low, high)

    def holds(self, position: Vector) -> NDArray[np.bool_]:
        """Tell which points lie in the box, shape [b, k], from world positions [m], each of shape [b, k]."""
        inside = np.ones(position[0].shape, bool)
        turn, origin = self.pose_to_world.rotation.astype(np.float32), self.pose_to_world.position.astype(np.float32)
        away: list[Any] = [plane - start for plane, start in zip(position, origin, strict=True)]
        for axis in range(3):
            along = sum(turn[row, axis] * away[row] for row in range(3))
            inside &= (along >= self.low[axis]) & (along <= self.high[axis])
        return inside

    def corners(self) -> Array:
        """Return its corners in the world frame [m], shape [8, 3]."""
        return self.pose_to_world.apply(self.low + UNIT_CORNERS * (self.high - self.low))
