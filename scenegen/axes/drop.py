"""Let one item down onto a scene until it touches something."""

from __future__ import annotations

from dataclasses import dataclass

from scenegen.axes.axis import AxisContext
from scenegen.axes.items import fixture_pose
from scenegen.axes.touch import body_of, gap_above
from scenegen.geometry import Array, Pose
from scenegen.scenario import Item, Scenario

PLAY_M = 0.0002
"""Gap at which an item is let go [m]."""


@dataclass(frozen=True, eq=False)
class Drop:
    """Where an item touches first when it is let down."""

    pose: Pose
    """A hair above the first contact."""
    onto: str | None
    """Name of the item that it touches first; None for the floor."""


def drop(scenario: Scenario, item: Item, place: Array, quat: Array, *, ctx: AxisContext) -> Drop:
    """Let an item down onto the feed and all that lies there.

    Args:
        scenario: The scene; what it holds under the item's own name does not count.
        item: The item; its pose does not count.
        place: Where its frame's origin comes down [m], world frame, shape [2].
        quat: Its rotation, shape [4].
        ctx: The axis' context.
    """
    body = body_of(ctx.parts[item.part]).at(Pose.of((place[0], place[1], 0.0), quat))
    low, high = body.points[:, :2].min(axis=0), body.points[:, :2].max(axis=0)
    gap, onto = float(body.points[:, 2].min()) - fixture_pose(scenario.layout, "feed").position_m[2], None
    for other in scenario.layout.items:
        part, (x, y, _) = ctx.parts[other.part], other.pose_to_world.position_m
        beside = (low - part.radius_m > (x, y)) | (high + part.radius_m < (x, y))
        if other.name == item.name or beside.any():
            continue
        own = gap_above(body, body_of(part).at(other.pose_to_world))
        if own < gap:
            gap, onto = own, other.name
    return Drop(Pose.of((place[0], place[1], PLAY_M - gap), quat), onto)
