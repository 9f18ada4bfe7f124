"""The sight of one who knows: true poses of all parts and bins."""

from __future__ import annotations

import numpy as np

from evaluator.policies.sight import NOTHING, Grasp, Grasps
from evaluator.policy import Truth
from scenegen.cell import Cell, Role
from scenegen.geometry import Pose
from scenegen.parts.catalogue import Catalogue
from scenegen.posed import Posed
from scenegen.relations import rules_for
from scenegen.scenario import Item
from validators.grasp import GRASP, free_grasps

RISEN_M = 0.02
"""A part that rose by less than this was left behind [m]; the tool rises by more."""


class TruthSight:
    """Knows everything in one world.

    Args:
        cell: The cell.
        parts: Its parts.
        truth: What is true now.
    """

    def __init__(self, cell: Cell, parts: Catalogue, truth: Truth) -> None:
        self._cell, self._parts, self._truth = cell, parts, truth

    def grasps(self) -> Grasps:
        """List the grasps of targets that nothing stands in the way of."""
        items = self._in_feed()
        if not items:
            return NOTHING
        feed = self.bin_pose("feed")
        posed = Posed.of(items, self._parts)
        tried, free = free_grasps(posed, GRASP.limits, self._cell.robot.gripper, self._cell.feed, feed)
        targets = np.array([self._cell.slots[item.name].role is Role.TARGET for item in items])
        item, which = np.nonzero(free & targets[:, None])
        # The nearer to the centre of mass, the less a part turns in the grip: a bolt that is held by its end slips.
        aside = np.linalg.norm(tried.center[item, which, :2] - posed.mass_centers[item, :2], axis=1)
        order = np.lexsort((which, np.round(aside, 4), item))
        item, which = item[order], which[order]
        axis = tried.axis[item, which]
        return Grasps(
            items=tuple(one.name for one in items),
            bins=tuple(self._bin(one) for one in items),
            item=item,
            middle=tried.center[item, which, :2],
            tip_m=tried.tip_m[item, which],
            yaw_rad=np.arctan2(axis[:, 1], axis[:, 0]),
            width_m=tried.width_m[item, which],
            play_m=GRASP.limits["play_m"],
            lowest_m=posed.least(posed.corners[:, 2])[item],
        )

    def came_along(self, grasp: Grasp) -> bool:
        """Tell whether the part rose with the tool."""
        item = self._now(self._truth.scenario.item(grasp.item))
        lowest = float(Posed.of([item], self._parts).corners[:, 2].min())
        return lowest > grasp.point.z - grasp.below_m + RISEN_M

    def bin_pose(self, name: str) -> Pose:
        """Return where a fixture truly stands."""
        return next(one.pose_to_world for one in self._truth.scenario.layout.fixtures if one.name == name)

    def _bin(self, item: Item) -> str:
        """Return where an item belongs; empty for what is not to be sorted."""
        rules = rules_for(item.part, self._parts[item.part].label, self._truth.scenario.task.rules)
        return rules[0].bin if rules else ""

    def _in_feed(self) -> list[Item]:
        """Return the items that lie in the feed now, at their present poses."""
        feed, half = self.bin_pose("feed"), np.array(self._cell.feed.size_m) / 2
        present = []
        for item in self._truth.scenario.layout.items:
            local = feed.rotation.T @ (self._truth.items[item.name][:3] - feed.position)
            if np.all(np.abs(local[:2]) <= half) and -0.01 < local[2] < 0.1:
                present.append(self._now(item))
        return present

    def _now(self, item: Item) -> Item:
        row = self._truth.items[item.name]
        return item.replaced(pose_to_world=Pose.of(row[:3], row[3:]))
