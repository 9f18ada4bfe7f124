"""Axis `tilt`: a target leans on a neighbour, on a wall of the feed or on a chip."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scenegen.axes.axis import Axis, AxisContext, Severity, band, inside
from scenegen.axes.drop import PLAY_M
from scenegen.axes.items import ITEM_FACETS, fixture_pose, free_slots, targets_in, with_items
from scenegen.axes.rest import explained, lean_deg, lowest_m, settled, trial
from scenegen.axes.touch import Body, body_of, box_body, gap_above
from scenegen.cell import Role
from scenegen.errors import VariationFailed
from scenegen.footprint import stable_footprints
from scenegen.geometry import Array, Pose, quat_about, quat_multiply, quat_to_matrix, quat_yaw
from scenegen.parts.part import Part
from scenegen.scenario import Cause, Item, Scenario
from scenegen.units import Quantity, Unit

NAME = "tilt"
DRAWS = 400
"""Most pairs of a target and a support that are looked at."""
TRIES = 24
"""Most of them that are simulated."""
MOST_M = 0.004
"""Most that a part is moved at once while it is brought to contact [m]."""
STEEP = 0.5
"""Least slope at which a part leans on the side of something, for friction of about 0.6."""
GRIP_M = 0.007
"""How far from a part's end fingers can hold it [m]."""
SMALL_M = 0.015
"""Radius of the largest piece that a target is leant on [m]."""

LEAN = Severity(
    "lean", Unit.DEGREE, 0.0, 0.0, 47.0, "largest angle of a target from its nearest stable pose", least=12.0
)


@dataclass(frozen=True, eq=False)
class Support:
    """Something to lean on."""

    body: Body
    """Where it stands in the world."""
    place: Array
    """Its middle in the plane [m], shape [2]."""
    radius_m: float
    added: Item | None = None
    """An item that comes into the scene with it."""
    outward: Array | None = None
    """Of a wall, the direction out of the feed, shape [2]."""


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Lean one target on something, let it settle, and keep it if it rests at the asked angle."""
    near, far = band(LEAN, level, cell=ctx.cell, axis=NAME, upward=True)
    return leaned(scenario, targets_in(scenario, ctx.cell), (near, far), level=level, ctx=ctx, rng=rng)


def leaned(
    scenario: Scenario,
    targets: Sequence[Item],
    band_deg: tuple[float, float],
    *,
    level: int = 0,
    ctx: AxisContext,
    rng: np.random.Generator,
) -> Scenario:
    """Lean one of some targets on something.

    Args:
        scenario: The scene.
        targets: Targets in its feed.
        band_deg: Least and greatest angle at which it rests [deg]; no target of the scene leans farther.
        level: The level that a failure names.
        ctx: The axis' context.
        rng: Source of randomness.

    Raises:
        VariationFailed: None came to rest so.
    """
    near, far = band_deg
    room_m = ctx.cell.robot.gripper.finger_width_m / 2 + GRIP_M
    failed: Counter[str] = Counter()
    for item, support in _pairs(scenario, targets, ctx, rng):
        angle = np.radians(float(inside(near, far, rng=rng)))
        pose = leaning_pose(ctx.parts[item.part], support, _floor_m(scenario), float(angle), room_m=room_m, rng=rng)
        if pose is None:
            continue
        if failed.total() == TRIES:
            break
        rested = trial(_leaned(scenario, item, pose, support, ctx), {item.name: pose}, ctx)
        reason = _judge(rested, item, ctx, near, far)
        if reason is None and rested is not None:
            rested = settled(rested, ctx)
            reason = _judge(rested, item, ctx, near, far)
        if reason is None and rested is not None:
            return explained(rested, ctx)
        failed[str(reason)] += 1
    raise VariationFailed(
        NAME, level, "not_leaning", f"none of {failed.total()} trials rests at {near:.0f}-{far:.0f} deg, {dict(failed)}"
    )


def _judge(rested: Scenario | None, item: Item, ctx: AxisContext, near: float, far: float) -> str | None:
    """Say why a trial is not what was asked for; None where it is."""
    if rested is None:
        return "not_at_rest"
    angle = max_lean(rested, ctx)
    if lean_deg(ctx.parts[item.part], rested.item(item.name).pose_to_world.quat) < near:
        return "too_flat"
    return None if near < angle <= far else "too_steep"


def max_lean(scenario: Scenario, ctx: AxisContext) -> float:
    """Return the largest angle of a target in the feed from its nearest stable pose [deg]."""
    leans = [lean_deg(ctx.parts[i.part], i.pose_to_world.quat) for i in targets_in(scenario, ctx.cell)]
    return max(leans, default=0.0)


def _floor_m(scenario: Scenario) -> float:
    return fixture_pose(scenario.layout, "feed").position_m[2]


def _pairs(
    scenario: Scenario, targets: Sequence[Item], ctx: AxisContext, rng: np.random.Generator
) -> Iterator[tuple[Item, Support]]:
    """Draw targets and what they shall lean on: a neighbour, a wall, or a small piece that comes into the scene."""
    if not targets:
        return
    slots = ctx.cell.slots
    pieces = [
        slot for slot in free_slots(scenario, ctx.cell, Role.OCCLUDER) if ctx.parts[slots[slot].part].radius_m < SMALL_M
    ]
    kinds = [_on_wall, _on_wall, _on_neighbour] + [_on_piece] * bool(pieces)
    for _ in range(DRAWS):
        item = targets[int(rng.integers(len(targets)))]
        yield item, kinds[int(rng.integers(len(kinds)))](scenario, item, pieces, ctx, rng)


def _on_neighbour(
    scenario: Scenario, item: Item, pieces: list[str], ctx: AxisContext, rng: np.random.Generator
) -> Support:
    others = [other for other in targets_in(scenario, ctx.cell) if other.name != item.name]
    if not others:
        return _on_wall(scenario, item, pieces, ctx, rng)
    return _standing(others[int(rng.integers(len(others)))], ctx)


def _on_piece(scenario: Scenario, item: Item, pieces: list[str], ctx: AxisContext, rng: np.random.Generator) -> Support:
    slot = pieces[int(rng.integers(len(pieces)))]
    part = ctx.parts[ctx.cell.slots[slot].part]
    rest = part.stable_poses[int(rng.integers(len(part.stable_poses)))]
    x, y, _ = item.pose_to_world.position_m
    quat = quat_multiply(quat_yaw(rng.uniform(0, 2 * np.pi)), rest.quat_xyzw)
    pose = Pose.of((x, y, _floor_m(scenario) + rest.height_m), quat)
    added = Item(name=slot, part=part.id, zone="feed", cause=Cause.OBSTRUCTION, pose_to_world=pose)
    return replace(_standing(added, ctx), added=added)


def _standing(item: Item, ctx: AxisContext) -> Support:
    part = ctx.parts[item.part]
    return Support(body_of(part).at(item.pose_to_world), item.pose_to_world.position[:2], part.radius_m)


def _on_wall(scenario: Scenario, item: Item, pieces: list[str], ctx: AxisContext, rng: np.random.Generator) -> Support:
    """Take a piece of one wall of the feed, as wide as the part needs."""
    feed, pose = ctx.cell.feed, fixture_pose(scenario.layout, "feed")
    half, reach = np.array(feed.size_m) / 2, ctx.parts[item.part].radius_m
    axis, sign = int(rng.integers(2)), float(rng.choice([-1.0, 1.0]))
    middle = np.zeros(3)
    middle[axis] = sign * (half[axis] + feed.wall_thickness_m / 2)
    middle[1 - axis] = rng.uniform(-1, 1) * (half[1 - axis] - reach - 0.005)
    extent = np.zeros(3)
    extent[axis], extent[1 - axis] = feed.wall_thickness_m / 2, 1.5 * reach
    low, high = middle - extent, middle + extent
    high[2] = feed.wall_height_m
    outward = np.zeros(3)
    outward[axis] = sign
    body = box_body(low, high).at(pose)
    return Support(body, pose.apply(middle)[:2], feed.wall_thickness_m, outward=(pose.rotation @ outward)[:2])


def leaning_pose(
    part: Part, support: Support, floor_m: float, angle_rad: float, *, room_m: float, rng: np.random.Generator
) -> Pose | None:
    """Turn a part out of a stable pose and put it, its lowest point on the floor, to where it meets a support.

    Args:
        part: The part.
        support: What it shall lean on.
        floor_m: Height of the floor [m].
        angle_rad: By how much it is turned [rad].
        room_m: How far it must reach from a wall into the feed [m].
        rng: Source of randomness.

    Returns:
        The pose, a hair before contact; None where the part would not reach the support, or fall back from it.
    """
    toward = rng.uniform(0, 2 * np.pi) if support.outward is None else float(np.arctan2(*support.outward[::-1]))
    ahead = np.array([np.cos(toward), np.sin(toward), 0.0])
    aside = np.array([-ahead[1], ahead[0], 0.0])
    quat = quat_multiply(quat_about(np.cross(ahead, (0.0, 0.0, 1.0)), angle_rad), _aligned(part, toward, rng))
    sideways = support.place @ aside[:2] + rng.uniform(-0.3, 0.3) * support.radius_m
    lift = floor_m + PLAY_M - lowest_m(part, Pose.of((0, 0, 0), quat))
    body = body_of(part).at(Pose.of(aside * sideways + (0.0, 0.0, lift), quat))
    center = float(quat_to_matrix(quat) @ np.array(part.mass.center_of_mass_m) @ ahead)
    step = _approach(body, support, ahead, center, angle_rad, room_m=room_m, rng=rng)
    if step is None:
        return None
    raised = max(0.0, PLAY_M - gap_above(body.moved(ahead * step), support.body))
    offset = aside * sideways + ahead * step + (0.0, 0.0, lift + raised)
    return Pose.of(offset, quat) if raised < MOST_M else None


def _aligned(part: Part, toward: float, rng: np.random.Generator) -> Array:
    """Draw a stable pose and turn the part's longest side roughly along a direction; quaternion, shape [4]."""
    probabilities = np.array([pose.probability for pose in part.stable_poses])
    index = int(rng.choice(len(probabilities), p=probabilities / probabilities.sum()))
    hull = stable_footprints(part)[index].hull
    longest = hull[np.argmax(np.abs(hull - hull.mean()))] - hull.mean()
    swing = rng.normal(scale=0.25) + np.pi * rng.integers(2)
    return quat_multiply(quat_yaw(toward + swing - np.angle(longest)), part.stable_poses[index].quat_xyzw)


def _approach(
    body: Body,
    support: Support,
    ahead: Array,
    center: float,
    angle_rad: float,
    *,
    room_m: float,
    rng: np.random.Generator,
) -> float | None:
    """Draw how far to move a tilted part ahead [m], so that it lies over the support's edge or against its side.

    Over an edge, its weight stays this side of it. Against a side, it must be steep enough for friction: tan(slope)
    >= (1 - mu²) / (2 mu), as for a ladder that rubs at both ends. None where neither can be, for the support's height
    and the part's length, or where a part at a wall is shorter than `room_m`, which fingers need to get at it.
    """
    along, heights = body.points @ ahead, body.points[:, 2]
    end, height = float(along.max()), float(np.ptp(support.body.points[:, 2]))
    near, length = float((support.body.points @ ahead).min()), float(np.ptp(along))
    foot = float(along[np.argmin(heights)])
    if center <= foot:
        return None
    if support.outward is not None and length < room_m:
        return None
    if np.tan(angle_rad) >= STEEP and length * np.tan(angle_rad) < 1.3 * height:
        return near - PLAY_M - end
    if not 0.6 * height < length * np.tan(angle_rad) < 4 * height:
        return None
    return near - end + rng.uniform(0.1, 0.95) * (end - center)


def _leaned(scenario: Scenario, item: Item, pose: Pose, support: Support, ctx: AxisContext) -> Scenario:
    """Put the part at its pose, with what it brings along."""
    moved = item.replaced(cause=Cause.LEANING, pose_to_world=pose)
    items = [moved if other.name == item.name else other for other in scenario.layout.items]
    if support.added is None:
        return scenario.varied(layout=scenario.layout.replaced(items=tuple(items)))
    return with_items(scenario, [*items, support.added], cell=ctx.cell, parts=ctx.parts)


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Measure the largest angle of a target in the feed from its nearest stable pose."""
    return (Quantity(name=LEAN.name, value=max_lean(varied, ctx), unit=LEAN.unit),)


TILT = Axis(
    name=NAME,
    doc="A target leans on a neighbour, on a wall of the feed or on a chip, at rest.",
    touches=ITEM_FACETS,
    severities=(LEAN,),
    aliases=("no field term: tilted parts", "SimplerEnv: can orientation (nearest)"),
    change=change,
    measure=measure,
)
