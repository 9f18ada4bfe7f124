"""What a picking policy does in one world: take one part after the other, feel whether it came along, put it away."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import numpy as np

from evaluator.policies.path import NUMBERS, ToolPoint, blended, held, moved, near_yaw
from evaluator.policies.sight import Grasp, Sight
from scenegen.cell import Cell
from scenegen.geometry import Array

SPEED_M_S, TURN_RAD_S = 0.7, 2.5
"""Highest speeds of the tool, and of the joints that swing and turn it: data sheets give 1 m/s and 3.1 rad/s for a UR5,
2 m/s and 2.6 rad/s for a Panda's wrist."""
SLOW_M_S, LIFT_M_S, CARRY_M_S = 0.2, 0.12, 0.5
"""Highest speeds on the last way to a part or into a bin, and up and across with a part: of 256 scenes, 11 failed by a
slip in Isaac Lab, all of them of bolts, when parts were lifted at 0.25 m/s and carried at 0.7 m/s."""
HOVER_M = 0.06
"""How far above a grasp the tool stops before it goes down [m]."""
SETTLE_S = 0.15
"""Time for the arm to come to its set point before it closes [s]."""
CLOSE_S, DWELL_S, OPEN_S = 0.4, 0.2, 0.25
"""Time over which the fingers close, hold before lifting, and open [s]."""
LIFTED_M = 0.02
"""How much higher than `HOVER_M` the tool rises with a part [m]."""
TRIES = 3
"""Most attempts at one part."""
BEST = 3
"""Of so many of a part's best grasps the nearest is taken; after a miss the best one is left out."""
CLEAR_M = 0.03
"""Room between what is carried and the walls that it passes over [m]."""
DROP_M = 0.012
"""Room below a part when it is let go [m]."""
SPOT_M = 0.045
"""Distance of the places in a bin where parts are let go [m]."""
YAW_M = 0.05
"""Way of the tool that counts as much as a radian of turning [m]."""
WAIT_S = 0.2
"""How long it waits before it looks again when there is nothing to take [s]."""


class Picker:
    """Sorts the parts of one world by what a sight tells it.

    Args:
        cell: The cell.
        start: Where the tool is.
        rate_hz: Set points a second.
        look_from: Where the tool must be for the feed to be seen; None: it is seen from everywhere. It is seen when the
            tool is over a bin, too.
    """

    def __init__(self, cell: Cell, start: ToolPoint, *, rate_hz: float, look_from: ToolPoint | None = None) -> None:
        self._cell, self._rate, self._look_from = cell, rate_hz, look_from
        self._tool, self._home = start, look_from or start
        x, y, _ = cell.robot.pose_base_to_world.position_m
        self._base = (x, y)
        self._clear = look_from is None
        """Nothing of the arm stands between the camera and the feed."""
        self._carried: Grasp | None = None
        self._tries: Counter[str] = Counter()
        self._placed: Counter[str] = Counter()

    @property
    def looks(self) -> bool:
        """Whether it decides by what lies in the feed when it is asked the next time."""
        return self._carried is None and self._clear

    def next_points(self, sight: Sight) -> Array:
        """Decide what to do next, and return the set points of doing it, at least one, shape [ticks, NUMBERS].

        Args:
            sight: What is known now; its grasps are asked for only if `looks` is true.
        """
        if self._carried is not None:
            grasp, self._carried = self._carried, None
            if sight.came_along(grasp):
                return self._to_bin(sight, grasp)
        if not self._clear:
            self._clear = True
            return self._or_wait(self._go(self._home))
        grasp = self._choose(sight)
        if grasp is None:
            return self._or_wait(self._go(self._home))
        self._tries[grasp.item] += 1
        self._carried, self._clear = grasp, self._look_from is None
        return self._take(grasp)

    def _choose(self, sight: Sight) -> Grasp | None:
        """Choose the next part: of those that can be taken now, the one tried least, then nearest to the tool."""
        seen, gripper = sight.grasps(), self._cell.robot.gripper
        tries = np.array([self._tries[name] for name in seen.items], int)[seen.item]
        rank = np.arange(len(seen.item)) - np.searchsorted(seen.item, seen.item)
        begin = np.minimum(tries, np.bincount(seen.item)[seen.item] - 1) if len(seen.item) else tries
        rows = np.flatnonzero((tries < TRIES) & (rank >= begin) & (rank < begin + BEST))
        if not len(rows):
            return None
        yaw = near_yaw(seen.yaw_rad[rows], self._tool.yaw_rad)
        way = np.hypot(seen.middle[rows, 0] - self._tool.x, seen.middle[rows, 1] - self._tool.y)
        best = int(np.argmin(way + YAW_M * np.abs(yaw - self._tool.yaw_rad) + 10 * tries[rows]))
        row, tool = rows[best], float(seen.tip_m[rows[best]]) + gripper.tip_beyond_tcp_m
        width = float(seen.width_m[row])
        opening = min(1.0, (width + 2 * seen.play_m) / gripper.opening_m)
        return Grasp(
            item=seen.items[seen.item[row]],
            bin=seen.bins[seen.item[row]],
            point=ToolPoint(float(seen.middle[row, 0]), float(seen.middle[row, 1]), tool, float(yaw[best]), opening),
            below_m=max(0.0, tool - float(seen.lowest_m[row])),
            width_m=width,
        )

    def _take(self, grasp: Grasp) -> Array:
        point = grasp.point
        above = point.at(z=point.z + HOVER_M)
        there = [self._go(above), self._straight(point, speed_m_s=SLOW_M_S)]
        closing = max(1, round(CLOSE_S * self._rate))
        shut = np.tile(point.numbers, (closing, 1))
        shut[:, -1] *= 1 - np.arange(1, closing + 1) / closing
        self._tool = point.at(opening=0.0)
        return np.concatenate(
            [
                *there,
                held(point, rate_hz=self._rate, seconds=SETTLE_S),
                shut,
                held(self._tool, rate_hz=self._rate, seconds=DWELL_S),
                self._straight(self._tool.at(z=above.z + LIFTED_M), speed_m_s=LIFT_M_S),
            ]
        )

    def _to_bin(self, sight: Sight, grasp: Grasp) -> Array:
        box, pose = self._cell.containers[grasp.bin], sight.bin_pose(grasp.bin)
        places = spots(box.size_m)
        spot = pose.apply(places[self._placed[grasp.bin] % len(places)])
        self._placed[grasp.bin] += 1
        gripper = self._cell.robot.gripper
        palm = box.wall_height_m - gripper.finger_depth_m + gripper.tip_beyond_tcp_m + DROP_M
        low = float(spot[2]) + max(grasp.below_m + DROP_M, palm)
        yaw = near_yaw(float(np.arctan2(pose.rotation[1, 1], pose.rotation[0, 1])), self._tool.yaw_rad)
        over = ToolPoint(float(spot[0]), float(spot[1]), low, yaw, 0.0)
        there = [
            self._go(over.at(z=low + CLEAR_M), below_m=grasp.below_m),
            self._straight(over, speed_m_s=SLOW_M_S),
        ]
        self._tool = over.at(opening=min(1.0, grasp.point.opening + 0.15))
        self._clear = True
        let_go = held(self._tool, rate_hz=self._rate, seconds=OPEN_S)
        return np.concatenate([*there, let_go, self._straight(self._tool.at(z=low + CLEAR_M), speed_m_s=SPEED_M_S)])

    def _go(self, point: ToolPoint, *, below_m: float = 0.0) -> Array:
        """Go up, across and down to a point: over the walls of everything, round the corners."""
        walls = max((box.wall_height_m for box in self._cell.containers.values()), default=0.0) + float(
            self._cell.feed.pose_to_world.position[2]
        )
        high = max(self._tool.z, point.z, walls + below_m + CLEAR_M)
        opening, speed_m_s = self._tool.opening, CARRY_M_S if below_m else SPEED_M_S
        up = self._straight(self._tool.at(z=high), speed_m_s=speed_m_s)
        level = point.at(z=high, opening=min(opening, 1.0) if below_m else point.opening)
        across = self._straight(level, speed_m_s=speed_m_s)
        down = self._straight(point if not below_m else point.at(opening=opening), speed_m_s=speed_m_s)
        if not len(across):
            return np.concatenate([up, down])
        return blended(blended(up, across), down)

    def _straight(self, point: ToolPoint, *, speed_m_s: float = SPEED_M_S) -> Array:
        if point.near(self._tool):
            return np.zeros((0, NUMBERS))
        points = moved(
            self._tool, point, rate_hz=self._rate, speed_m_s=speed_m_s, turn_rad_s=TURN_RAD_S, base_m=self._base
        )
        self._tool = point
        return points

    def _or_wait(self, points: Array) -> Array:
        return points if len(points) else held(self._tool, rate_hz=self._rate, seconds=WAIT_S)


@lru_cache(maxsize=64)
def spots(size_m: tuple[float, float]) -> Array:
    """Return places in a bin where parts are let go, in its frame [m], the middle first, shape [n, 3]."""
    sides = [np.arange(-n, n + 1) * SPOT_M for n in (int(max(0.0, side / 2 - 0.045) / SPOT_M) for side in size_m)]
    grid = np.array([[x, y, 0.0] for x in sides[0] for y in sides[1]])
    places = grid[np.lexsort((grid[:, 1], grid[:, 0], np.round(np.linalg.norm(grid, axis=1), 6)))]
    places.setflags(write=False)
    return places
