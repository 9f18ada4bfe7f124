"""Straight tool paths with smooth speed, as set points at a fixed rate."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from scenegen.geometry import Array

LEAST_S = 0.2
"""Shortest time of a movement [s]."""
PEAK = 1.875
"""Peak over mean speed of a minimum-jerk movement (Flash and Hogan 1985)."""
NUMBERS = 5
"""Numbers of a set point: those of `ToolPoint`, in its order."""
_SAME = 1e-6


@dataclass(frozen=True)
class ToolPoint:
    """Where the tool centre shall be, pointing straight down, and how far the gripper shall be open."""

    x: float
    """World frame [m]."""
    y: float
    z: float
    yaw_rad: float
    """Direction in which the fingers close, about the vertical, world frame [rad]."""
    opening: float
    """0 closed to 1 open."""

    def at(self, **fields: float) -> ToolPoint:
        """Return the point with some numbers changed."""
        return replace(self, **fields)

    @classmethod
    def open_at(cls, position_m: Array, yaw_rad: float) -> ToolPoint:
        """Return an open tool at a position, shape [3]."""
        x, y, z = np.asarray(position_m, float).tolist()
        return cls(x, y, z, float(yaw_rad), 1.0)

    def bearing_rad(self, base_m: tuple[float, float]) -> float:
        """Return the direction in which an arm that stands somewhere reaches for it, about the vertical."""
        return math.atan2(self.y - base_m[1], self.x - base_m[0])

    def near(self, other: ToolPoint) -> bool:
        """Tell whether it is another point, to rounding."""
        return (
            math.dist((self.x, self.y, self.z), (other.x, other.y, other.z)) < _SAME
            and abs(self.yaw_rad - other.yaw_rad) < _SAME
            and abs(self.opening - other.opening) < _SAME
        )

    @property
    def numbers(self) -> Array:
        """Everything, shape [5]."""
        return np.array([self.x, self.y, self.z, self.yaw_rad, self.opening])


def moved(
    start: ToolPoint,
    end: ToolPoint,
    *,
    rate_hz: float,
    speed_m_s: float,
    turn_rad_s: float,
    base_m: tuple[float, float] | None = None,
) -> Array:
    """Return the set points of a minimum-jerk movement, without its start, shape [ticks, NUMBERS].

    Args:
        start: Where it begins.
        end: Where it ends.
        rate_hz: Set points a second.
        speed_m_s: Highest speed [m/s].
        turn_rad_s: Highest turning speed [rad/s].
        base_m: Where an arm stands whose first and last joint may not turn faster either; None asks for the tool alone.
    """
    step = end.numbers - start.numbers
    x, y, z, turn, _ = step.tolist()
    turns = [turn]
    if base_m is not None:
        swing = math.remainder(end.bearing_rad(base_m) - start.bearing_rad(base_m), math.tau)
        turns += [swing, turn - swing]
    seconds = PEAK * max(math.hypot(x, y, z) / speed_m_s, max(map(abs, turns)) / turn_rad_s, LEAST_S / PEAK)
    count = max(1, round(seconds * rate_hz))
    share = np.arange(1, count + 1) / count
    smooth = share**3 * (10 - 15 * share + 6 * share**2)
    return start.numbers + smooth[:, None] * step


def blended(before: Array, after: Array) -> Array:
    """Join two movements so that the second one begins while the shorter of them is at its half.

    Args:
        before: Set points, shape [ticks, NUMBERS].
        after: Set points that go on from there, of which the first movement's end is the start.
    """
    shared = min(len(before), len(after)) // 2
    if not shared:
        return np.concatenate([before, after])
    both = before[-shared:] + after[:shared] - before[-1]
    return np.concatenate([before[:-shared], both, after[shared:]])


def held(point: ToolPoint, *, rate_hz: float, seconds: float) -> Array:
    """Return set points that stay, shape [ticks, NUMBERS]."""
    return np.tile(point.numbers, (max(1, round(seconds * rate_hz)), 1))


def near_yaw[T: (float, Array)](yaw_rad: T, other_rad: float) -> T:
    """Return closing directions, which are the same after half a turn, in the form that lies nearest to another one."""
    return other_rad + (yaw_rad - other_rad + np.pi / 2) % np.pi - np.pi / 2
