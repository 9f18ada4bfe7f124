"""The sight of one who looks: what a net saw in the last picture, and what the fingers feel."""

from __future__ import annotations

import numpy as np

from evaluator.policies.sight import NOTHING, Grasp, Grasps
from evaluator.vision.labels import PLAY_M
from evaluator.vision.sighting import Sighted
from scenegen.cell import Cell
from scenegen.geometry import Array, Pose
from scenegen.nominal import nominal_fixtures
from scenegen.parts.catalogue import Catalogue
from scenegen.relations import rules_for

SAME_M = 0.01
"""What lies this near to where something lay before is taken to be the same thing [m]."""
FELT_M = 0.0015
"""Fingers that stop before they are this close have something between them [m]."""


class Sorter:
    """What a looking policy knows of a cell: which parts go where, and where the bins should be.

    Args:
        cell: The cell; its own rules count.
        parts: Its parts.
        classes: Parts by class, from class 1.
    """

    def __init__(self, cell: Cell, parts: Catalogue, classes: tuple[str, ...]) -> None:
        self.opening_m = cell.robot.gripper.opening_m
        self.floor_m = float(cell.feed.pose_to_world.position[2])
        self.bins = tuple(rules_for(part, parts[part].label, cell.rules)[0].bin for part in classes)
        self.poses = {one.name: one.pose_to_world for one in nominal_fixtures(cell)}


class Places:
    """Names for places where something was seen, so that a policy knows what it tried before."""

    def __init__(self) -> None:
        self._known = np.zeros((0, 2))

    def names(self, places: Array) -> tuple[str, ...]:
        """Return the names of places [m], shape [n, 2]; each of those that are new becomes known."""
        away = np.linalg.norm(places[:, None] - self._known, axis=2)
        away = np.pad(away, ((0, 0), (0, 1)), constant_values=SAME_M)  # the last one stands for a new place
        nearest = away.argmin(axis=1)
        new = nearest == len(self._known)
        nearest[new] += np.arange(new.sum())
        self._known = np.concatenate([self._known, places[new]])
        return tuple(f"place {index}" for index in nearest.tolist())


class NetSight:
    """Knows what a picture shows and how far the gripper is open.

    Args:
        sorter: What is known of the cell.
        places: Where something was seen before in this world.
        opening: The gripper's opening, 0 closed to 1 open.
        seen: What the net saw; None where nobody looked.
    """

    def __init__(self, sorter: Sorter, places: Places, *, opening: float, seen: Sighted | None) -> None:
        self._sorter, self._places, self._opening, self._seen = sorter, places, opening, seen

    def grasps(self) -> Grasps:
        """List what the net saw; parts are taken to lie on the floor of the feed."""
        seen = self._seen
        if seen is None or not len(seen.peak):
            return NOTHING
        _, first, item = np.unique(seen.peak, return_index=True, return_inverse=True)
        return Grasps(
            items=self._places.names(seen.middle[first, :2]),
            bins=tuple(self._sorter.bins[part - 1] for part in seen.part[first].tolist()),
            item=item,
            middle=seen.middle[:, :2],
            tip_m=seen.tip_m,
            yaw_rad=seen.yaw_rad,
            width_m=seen.width_m,
            play_m=PLAY_M,
            lowest_m=np.full(len(item), self._sorter.floor_m),
        )

    def came_along(self, grasp: Grasp) -> bool:
        """Tell whether something keeps the fingers apart."""
        return self._opening * self._sorter.opening_m > FELT_M

    def bin_pose(self, name: str) -> Pose:
        """Return where a bin should stand."""
        return self._sorter.poses[name]
