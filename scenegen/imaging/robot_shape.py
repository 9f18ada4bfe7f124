"""A robot ready for rays: its links, each at the place that a posture gives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scenegen.geometry import Pose
from scenegen.imaging.ray_shape import RayShape
from scenegen.imaging.robot_body import RobotBody
from scenegen.imaging.robot_look import ROBOT


class Posture(NamedTuple):
    """How a robot stands."""

    joints_rad: tuple[float, ...]
    """Angles of the arm's joints [rad]."""
    opening: float = 1.0
    """Opening of the gripper, 0 closed to 1 open."""


class PlacedLink(NamedTuple):
    """A link at its place."""

    name: str
    """The link's name after `robot/`."""
    shape: RayShape
    pose_to_world: Pose


class RobotShape:
    """A robot's links, prepared for rays once.

    Args:
        body: What its file shows.
        arm: Names of the arm's joints, in the order of the cell's.
        fingers: Names of the fingers' joints.
        travel_m: How far each finger slides from closed to open [m].
        root: Where the file's default prim stands, world frame.
    """

    def __init__(
        self, body: RobotBody, *, arm: Sequence[str], fingers: Sequence[str], travel_m: float, root: Pose
    ) -> None:
        self.body = body
        self._arm, self._fingers, self._travel_m, self._root = tuple(arm), tuple(fingers), travel_m, root
        self._shapes = {
            index: RayShape(
                link.triangles.reshape(-1, 3),
                np.arange(3 * len(link.triangles), dtype=np.int32).reshape(-1, 3),
                link.normals,
            )
            for index, link in enumerate(body.links)
            if len(link.triangles)
        }

    def placed(self, posture: Posture) -> list[PlacedLink]:
        """Return the links that can be seen, where they are."""
        travel = dict(zip(self._arm, posture.joints_rad, strict=True))
        travel |= dict.fromkeys(self._fingers, posture.opening * self._travel_m)
        poses = self.body.placed(self._root, travel)
        return [
            PlacedLink(f"{ROBOT}/{self.body.links[index].name}", shape, poses[index])
            for index, shape in self._shapes.items()
        ]
