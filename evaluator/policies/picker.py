"""What the oracle does in one world: take one part after the other, look whether it came along, put it in its bin."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from evaluator.policies.path import ToolPoint, held, moved, near_yaw
from evaluator.policy import Truth
from scenegen.cell import Cell, Role
from scenegen.geometry import Array, Pose
from scenegen.parts.catalogue import Catalogue
from scenegen.posed import Posed
from scenegen.relations import rules_for
from scenegen.scenario import Item, Scenario
from validators.grasp import GRASP, free_grasps

SPEED_M_S, TURN_RAD_S = 0.5, 2.5
"""Highest speeds of the tool."""
SLOW_M_S = 0.12
"""Highest speed on the last way to a part and away from it."""
HOVER_M = 0.06
"""How far above a grasp the tool stops before it goes down [m]."""
SETTLE_S = 0.15
"""Time for the arm to come to its set point before it closes [s]."""
CLOSE_S, DWELL_S, OPEN_S = 0.4, 0.2, 0.25
"""Time over which the fingers close, hold before lifting, and open [s]."""
LIFTED_M = 0.02
"""A part that rose by less than this was missed [m]."""
TRIES = 3
"""Most attempts at one part."""
CLEAR_M = 0.03
"""Room between what is carried and the walls that it passes over [m]."""
DROP_M = 0.012
"""Room below a part when it is let go [m]."""
SPOT_M = 0.045
"""Distance of the places in a bin where parts are let go [m]."""


@dataclass(frozen=True)
class Grasp:
    """One way to take one part."""

    item: str
    point: ToolPoint
    """The tool at the grasp, open."""
    below_m: float
    """How far the part reaches below the tool [m]."""


class Picker:
    """Sorts the parts of one world by knowing where they are.

    Args:
        cell: The cell.
        parts: Its parts.
        start: Where the tool is.
        rate_hz: Set points a second.
    """

    def __init__(self, cell: Cell, parts: Catalogue, start: ToolPoint, *, rate_hz: float) -> None:
        self._cell, self._parts, self._rate = cell, parts, rate_hz
        self._tool, self._home = start, start
        self._carried: Grasp | None = None
        self._tries: Counter[str] = Counter()
        self._placed: Counter[str] = Counter()
        self._before_m = 0.0
        """Height of the part before it was taken [m]."""

    def next_points(self, truth: Truth) -> list[ToolPoint]:
        """Decide what to do next, and return the set points of doing it: at least one."""
        if self._carried is not None:
            grasp, self._carried = self._carried, None
            if truth.items[grasp.item][2] > self._before_m + LIFTED_M:
                return self._to_bin(truth.scenario, grasp)
        grasp = self._grasp(truth)
        if grasp is None:
            return self._go(self._home) or held(self._tool, rate_hz=self._rate, seconds=0.2)
        self._tries[grasp.item] += 1
        self._before_m = float(truth.items[grasp.item][2])
        self._carried = grasp
        return self._take(grasp)

    def _grasp(self, truth: Truth) -> Grasp | None:
        """Choose the next part: of those that can be taken now, the one tried least, then nearest to the tool."""
        items = self._in_feed(truth)
        if not items:
            return None
        feed = next(f.pose_to_world for f in truth.scenario.layout.fixtures if f.name == "feed")
        posed = Posed.of(items, self._parts)
        gripper = self._cell.robot.gripper
        tried, free = free_grasps(posed, GRASP.limits, gripper, self._cell.feed, feed)
        found: list[tuple[float, Grasp]] = []
        for index, item in enumerate(items):
            if self._cell.slots[item.name].role is not Role.TARGET or self._tries[item.name] >= TRIES:
                continue
            for k in np.flatnonzero(free[index])[:: self._tries[item.name] + 1].tolist():
                axis, center = tried.axis[index, k], tried.center[index, k]
                yaw = near_yaw(float(np.arctan2(axis[1], axis[0])), self._tool.yaw_rad)
                opening = (tried.width_m[index, k] + 2 * GRASP.limits["play_m"]) / gripper.opening_m
                tool = float(tried.tip_m[index, k]) + gripper.tip_beyond_tcp_m
                point = ToolPoint(float(center[0]), float(center[1]), tool, yaw, float(min(1.0, opening)))
                lowest = float(posed.least(posed.corners[:, 2])[index])
                away = np.hypot(point.x - self._tool.x, point.y - self._tool.y) + 0.05 * abs(yaw - self._tool.yaw_rad)
                found.append((away + 10 * self._tries[item.name], Grasp(item.name, point, max(0.0, tool - lowest))))
        return min(found, key=lambda one: one[0])[1] if found else None

    def _in_feed(self, truth: Truth) -> list[Item]:
        """Return the items that lie in the feed now, at their present poses."""
        feed = next(f.pose_to_world for f in truth.scenario.layout.fixtures if f.name == "feed")
        half = np.array(self._cell.feed.size_m) / 2
        present = []
        for item in truth.scenario.layout.items:
            row = truth.items[item.name]
            local = feed.rotation.T @ (row[:3] - feed.position)
            if np.all(np.abs(local[:2]) <= half) and -0.01 < local[2] < 0.1:
                present.append(item.replaced(pose_to_world=Pose.of(row[:3], row[3:])))
        return present

    def _take(self, grasp: Grasp) -> list[ToolPoint]:
        point = grasp.point
        above = point.at(z=point.z + HOVER_M)
        points = self._go(above)
        points += self._straight(point, speed_m_s=SLOW_M_S)
        points += held(point, rate_hz=self._rate, seconds=SETTLE_S)
        closing = max(1, round(CLOSE_S * self._rate))
        points += [point.at(opening=point.opening * (1 - share / closing)) for share in range(1, closing + 1)]
        self._tool = point.at(opening=0.0)
        points += held(self._tool, rate_hz=self._rate, seconds=DWELL_S)
        return points + self._straight(self._tool.at(z=above.z + LIFTED_M), speed_m_s=SLOW_M_S)

    def _to_bin(self, scenario: Scenario, grasp: Grasp) -> list[ToolPoint]:
        item = scenario.item(grasp.item)
        name = rules_for(item.part, self._parts[item.part].label, scenario.task.rules)[0].bin
        box = self._cell.containers[name]
        pose = next(f.pose_to_world for f in scenario.layout.fixtures if f.name == name)
        places = spots(box.size_m)
        spot = pose.apply(places[self._placed[name] % len(places)])
        self._placed[name] += 1
        gripper = self._cell.robot.gripper
        palm = box.wall_height_m - gripper.finger_depth_m + gripper.tip_beyond_tcp_m + DROP_M
        low = float(spot[2]) + max(grasp.below_m + DROP_M, palm)
        yaw = near_yaw(float(np.arctan2(pose.rotation[1, 1], pose.rotation[0, 1])), self._tool.yaw_rad)
        over = ToolPoint(float(spot[0]), float(spot[1]), low, yaw, 0.0)
        points = self._go(over.at(z=low + CLEAR_M), below_m=grasp.below_m)
        points += self._straight(over, speed_m_s=SLOW_M_S)
        self._tool = over.at(opening=min(1.0, grasp.point.opening + 0.15))
        points += held(self._tool, rate_hz=self._rate, seconds=OPEN_S)
        return points + self._straight(self._tool.at(z=low + CLEAR_M), speed_m_s=SPEED_M_S)

    def _go(self, point: ToolPoint, *, below_m: float = 0.0) -> list[ToolPoint]:
        """Go up, across and down to a point: over the walls of everything."""
        walls = max((box.wall_height_m for box in self._cell.containers.values()), default=0.0) + float(
            self._cell.feed.pose_to_world.position[2]
        )
        high = max(self._tool.z, point.z, walls + below_m + CLEAR_M)
        opening = self._tool.opening
        points = self._straight(self._tool.at(z=high), speed_m_s=SPEED_M_S)
        points += self._straight(point.at(z=high, opening=min(opening, 1.0) if below_m else point.opening))
        return points + self._straight(point if not below_m else point.at(opening=opening))

    def _straight(self, point: ToolPoint, *, speed_m_s: float = SPEED_M_S) -> list[ToolPoint]:
        if np.allclose(point.numbers, self._tool.numbers, atol=1e-6):
            return []
        points = moved(self._tool, point, rate_hz=self._rate, speed_m_s=speed_m_s, turn_rad_s=TURN_RAD_S)
        self._tool = point
        return points


def spots(size_m: tuple[float, float]) -> Array:
    """Return places in a bin where parts are let go, in its frame [m], the middle first, shape [n, 3]."""
    sides = [np.arange(-n, n + 1) * SPOT_M for n in (int(max(0.0, side / 2 - 0.045) / SPOT_M) for side in size_m)]
    grid = np.array([[x, y, 0.0] for x in sides[0] for y in sides[1]])
    return grid[np.lexsort((grid[:, 1], grid[:, 0], np.round(np.linalg.norm(grid, axis=1), 6)))]
