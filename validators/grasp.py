"""Can the gripper take every target out of the feed, one after the other, from above?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from scenegen.cell import Container, Gripper, Role
from scenegen.geometry import Array, Pose
from scenegen.parts.part import Part
from scenegen.posed import Posed
from scenegen.scenario import Facet, Scenario
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding
from validators.jaw_grasps import MAX_GRASPS, Jaws, jaw_grasps

DIRECTIONS = 32
"""Directions in the plane along which outlines are compared: a finger's outline grows by less than 1 mm."""
_ANGLES = np.arange(DIRECTIONS) * 2 * np.pi / DIRECTIONS
_RAYS = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)])
"""The directions, shape [2, DIRECTIONS]."""
FEW = 4
"""One in so many grasps is tried first: they suffice for most items."""
_BROAD = slice(None, None, DIRECTIONS // 4)
"""Four of them: rectangles about things tell most of what is apart."""
_OPPOSITE = (np.arange(DIRECTIONS) + DIRECTIONS // 2) % DIRECTIONS


@dataclass(frozen=True, eq=False)
class Candidates:
    """Top-down grasps of posed items, the same number for each; unusable ones are marked."""

    usable: np.ndarray
    """The jaws hold, and the part is neither too flat nor too tall; shape [n, k]."""
    center: Array
    """Midway between the pads [m], world frame, shape [n, k, 3]."""
    axis: Array
    """Unit closing direction in the plane, shape [n, k, 2]."""
    width_m: Array
    """Distance of the two contacts [m], shape [n, k]."""
    tip_m: Array
    """Height of the finger tips [m], world frame, shape [n, k]."""

    def some(self, rows: NDArray[np.intp] | slice, step: int = 1) -> Candidates:
        """Return the grasps of some items, or one in `step` of them."""
        fields = (self.usable, self.center, self.axis, self.width_m, self.tip_m)
        return Candidates(*(field[rows, ::step] for field in fields))

    def fingers(self, gripper: Gripper, play_m: float, rays: Array) -> Array:
        """Outlines of both open fingers as supports along directions: how far they reach.

        Args:
            gripper: The gripper.
            play_m: How far the fingers open beyond the part on each side [m].
            rays: Unit directions in the plane, shape [2, d].

        Returns:
            Largest coordinate of each finger along each direction [m], shape [n, k, 2, d].
        """
        along = self.axis @ rays
        across = np.stack([-self.axis[..., 1], self.axis[..., 0]], axis=-1) @ rays
        thick = gripper.finger_thickness_m
        reach = np.abs(along) * thick / 2 + np.abs(across) * gripper.finger_width_m / 2
        offset = (self.width_m / 2 + play_m + thick / 2)[..., None] * along
        middle = self.center[..., :2] @ rays
        return np.stack([middle + offset + reach, middle - offset + reach], axis=2)


def candidates(posed: Posed, gripper: Gripper, floor_m: Array, limits: Limits) -> Candidates:
    """List the top-down grasps of items where they lie.

    Args:
        posed: The items.
        gripper: The gripper.
        floor_m: Height of the floor below each item [m], world frame, shape [n].
        limits: `play_m`, `tip_gap_m` and `pad_m` of the check.
    """
    jaws = Jaws(gripper.finger_width_m, gripper.opening_m - 2 * limits["play_m"], limits["pad_m"])
    ups = np.round(posed.rotations[:, 2], 3).tolist()
    found = np.stack([_padded(part, (up[0], up[1], up[2]), jaws) for part, up in zip(posed.parts, ups, strict=True)])
    usable, widths = found[..., 0] > 0, found[..., 1]
    frames = posed.rotations.transpose(0, 2, 1)
    center = found[..., 2:5] @ frames + posed.positions[:, None]
    flat = found[..., 5:] @ frames[..., :2]
    flat /= np.maximum(np.linalg.norm(flat, axis=-1, keepdims=True), 1e-9)
    top = posed.most(posed.corners[:, 2])[:, None]
    tip = np.maximum(center[..., 2] - limits["pad_m"], (floor_m + limits["tip_gap_m"])[:, None])
    height = top - posed.least(posed.corners[:, 2])[:, None]
    usable &= (height >= gripper.min_grasp_height_m) & (top - tip <= gripper.finger_depth_m)
    usable &= center[..., 2] >= tip
    return Candidates(usable, center, flat, widths, tip)


@lru_cache(maxsize=4096)
def _padded(part: Part, up: tuple[float, float, float], jaws: Jaws) -> Array:
    """Grasps in the part's frame as rows of 1, width [m], centre [m] and axis, then zeros; shape [MAX_GRASPS, 8]."""
    grasps = jaw_grasps(part, up, jaws)
    rows = np.column_stack([np.ones(len(grasps.widths_m)), grasps.widths_m, grasps.centers_m, grasps.axes])
    return np.pad(rows, ((0, MAX_GRASPS - len(rows)), (0, 0)))


def within_walls(tried: Candidates, gripper: Gripper, play_m: float, box: Container, pose: Pose) -> np.ndarray:
    """Tell at which grasps both open fingers stay between a container's walls, or above them; shape [n, k]."""
    normals = np.concatenate([pose.rotation[:2, :2], -pose.rotation[:2, :2]], axis=1)
    walls = pose.position[:2] @ normals + np.array([*box.size_m, *box.size_m]) / 2
    free = (tried.fingers(gripper, play_m, normals) <= walls).all(axis=(-1, -2))
    return free | (tried.tip_m >= pose.position[2] + box.wall_height_m)


@dataclass(frozen=True, eq=False)
class PickOrder:
    """Which items can be taken, and what stands in the way of the others."""

    taken: np.ndarray
    """The item can be taken once others were, shape [n]."""
    has_grasp: np.ndarray
    """The gripper could take the item if it lay there alone, shape [n]."""
    has_room: np.ndarray
    """... and the walls leave room for the fingers, shape [n]."""
    blockers: tuple[tuple[int, ...], ...]
    """For each item that cannot be taken: the items in the way of its least blocked grasp."""

    def updated(self, rows: np.ndarray, rest: PickOrder) -> PickOrder:
        """Return the order with what is known better of some items, shape [m], looked at by themselves."""
        taken, has_grasp, has_room = self.taken.copy(), self.has_grasp.copy(), self.has_room.copy()
        taken[rows], has_grasp[rows], has_room[rows] = rest.taken, rest.has_grasp, rest.has_room
        blockers = list(self.blockers)
        for row, blocking in zip(rows.tolist(), rest.blockers, strict=True):
            blockers[row] = tuple(rows[list(blocking)].tolist())
        return PickOrder(taken, has_grasp, has_room, tuple(blockers))


def pick_order(posed: Posed, limits: Limits, gripper: Gripper, box: Container, pose: Pose) -> PickOrder:
    """Take items greedily, each as soon as one grasp of it is free of what remains.

    Taking an item never blocks another one, so greedy finds an order if there is one, and may try few grasps first.

    Args:
        posed: The items in the feed.
        limits: The check's limits.
        gripper: The gripper.
        box: The feed.
        pose: Where the feed stands.
    """
    play_m, things = limits["play_m"], _Things.of(posed)
    tried = candidates(posed, gripper, np.full(len(posed.items), pose.position[2]), limits)
    few = tried.some(slice(None), FEW)
    first = _take(
        things, few, few.fingers(gripper, play_m, _RAYS), few.usable & within_walls(few, gripper, play_m, box, pose)
    )
    rows = np.flatnonzero(~first.taken)
    if not len(rows):
        return first
    every = tried.some(rows)
    rest = _take(
        things.some(rows),
        every,
        every.fingers(gripper, play_m, _RAYS),
        every.usable & within_walls(every, gripper, play_m, box, pose),
    )
    return first.updated(rows, rest)


def free_grasps(
    posed: Posed, limits: Limits, gripper: Gripper, box: Container, pose: Pose
) -> tuple[Candidates, np.ndarray]:
    """List the grasps of items, and which of them nothing stands in the way of now, shape [n, k].

    Args:
        posed: The items in the feed.
        limits: The check's limits.
        gripper: The gripper.
        box: The feed.
        pose: Where the feed stands.
    """
    tried = candidates(posed, gripper, np.full(len(posed.items), pose.position[2]), limits)
    return tried, unobstructed(posed, tried, limits["play_m"], gripper, box, pose)


def unobstructed(
    posed: Posed, tried: Candidates, play_m: float, gripper: Gripper, box: Container, pose: Pose
) -> np.ndarray:
    """Tell which usable grasps nothing stands in the way of now, shape [n, k].

    Args:
        posed: The items in the feed.
        tried: Grasps of theirs.
        play_m: How far the fingers open beyond the part on each side [m].
        gripper: The gripper.
        box: The feed.
        pose: Where the feed stands.
    """
    open_to = tried.usable & within_walls(tried, gripper, play_m, box, pose)
    obstructs = _obstructing(_Things.of(posed), tried, tried.fingers(gripper, play_m, _RAYS))
    return open_to & (obstructs.sum(axis=0) == 0)


@dataclass(frozen=True, eq=False)
class _Things:
    """What stands in the way of fingers: how far items reach."""

    outline: Array
    """Largest coordinate along each direction of `_RAYS` [m], shape [n, DIRECTIONS]."""
    top: Array
    """Highest point [m], shape [n]."""
    center: Array
    """Height of the centre of mass [m], shape [n]."""

    @classmethod
    def of(cls, posed: Posed) -> _Things:
        """Measure items."""
        reach = posed.most(posed.corners[:, :2] @ _RAYS)
        return cls(reach, posed.most(posed.corners[:, 2]), posed.mass_centers[:, 2])

    def some(self, rows: NDArray[np.intp]) -> _Things:
        """Return some of them."""
        return _Things(self.outline[rows], self.top[rows], self.center[rows])


def _take(things: _Things, tried: Candidates, fingers: Array, open_to: np.ndarray) -> PickOrder:
    """Take items greedily.

    Args:
        things: The items.
        tried: Their grasps.
        fingers: Outlines of the fingers, as `Candidates.fingers` gives them along `_RAYS`.
        open_to: Grasps that nothing but other items may obstruct, shape [n, k].
    """
    obstructs = _obstructing(things, tried, fingers)
    left = np.ones(len(open_to), bool)
    while True:
        hit = np.tensordot(left.astype(float), obstructs, axes=1)
        free = left & (open_to & (hit == 0)).any(axis=1)
        if not free.any():
            break
        left &= ~free
    best = np.where(open_to, hit, np.inf).argmin(axis=1)
    blockers = tuple(
        tuple(np.flatnonzero(obstructs[:, row, best[row]] * left).tolist()) if waits else ()
        for row, waits in enumerate(left.tolist())
    )
    return PickOrder(~left, np.asarray(tried.usable.any(axis=1)), np.asarray(open_to.any(axis=1)), blockers)


def _obstructing(things: _Things, tried: Candidates, fingers: Array) -> Array:
    """Tell with 1 or 0 whether the first item obstructs each grasp of the second one, shape [n, n, k]."""
    outline, opposite = things.outline, things.outline[:, _OPPOSITE]
    spread = np.where(tried.usable[..., None, None], fingers[..., _BROAD], -np.inf).max(axis=(1, 2))
    near = np.asarray((np.maximum(spread, outline[:, _BROAD]) + opposite[:, None, _BROAD] > 0).all(axis=-1))
    np.fill_diagonal(near, False)
    others, rows = np.nonzero(near)
    apart = (fingers[rows] + opposite[others][:, None, None] < 0).any(axis=-1)
    reaches = tried.tip_m[rows] < things.top[others][:, None]
    covers = (outline[rows] + opposite[others] > 0).all(axis=-1)
    covers &= (things.center[others] > things.center[rows]) & (things.top[others] > things.top[rows])
    found = np.zeros((*near.shape, tried.usable.shape[1]))
    found[others, rows] = ~apart.all(axis=-1) & reaches | covers[:, None]
    return found


def _check_grasp(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    items = [item for item in scenario.layout.items if item.zone == "feed"]
    if not items:
        return
    feed = next(f.pose_to_world for f in scenario.layout.fixtures if f.name == "feed")
    posed = ctx.posed(scenario.layout) if len(items) == len(scenario.layout.items) else Posed.of(items, ctx.parts)
    order = pick_order(posed, limits, ctx.cell.robot.gripper, ctx.cell.feed, feed)
    slots = ctx.cell.slots
    for index, item in enumerate(items):
        if order.taken[index] or slots[item.name].role is not Role.TARGET:
            continue
        blockers = [items[j].name for j in order.blockers[index]]
        if not order.has_grasp[index]:
            code, why = "no_grasp", "as it lies, the gripper has no grasp of it from above"
        elif not order.has_room[index]:
            code, why = "walls", "the walls leave no room for the fingers"
        else:
            code, why = "blocked", f"{', '.join(repr(b) for b in blockers)} cannot be taken away first"
        sentence = f"{item.name!r} cannot be picked: {why} - accepted: each target can be picked in some order"
        yield finding(GRASP.name, code, [item.name, *blockers], sentence, value=0, limit=1, unit=Unit.COUNT)


GRASP = Check(
    name="grasp",
    version=1,
    tier=Tier.GEOMETRY,
    depends=frozenset({Facet.LAYOUT}),
    doc=(
        "In some order, each target in the feed can be picked from above: jaws that close level on it hold it, fingers "
        "open by `play_m` beyond the part, tips `tip_gap_m` above the floor and `pad_m` below the grasp, clear "
        "of walls and of what is still there."
    ),
    run=_check_grasp,
    limits={"play_m": 0.0015, "tip_gap_m": 0.0003, "pad_m": 0.002},
)
