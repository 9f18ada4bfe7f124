"""Can the gripper take every target out of the feed, one after the other, from above?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from scenegen.cell import Container, Gripper, Role
from scenegen.geometry import Array, Pose
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
    found = [jaw_grasps(part, (up[0], up[1], up[2]), jaws) for part, up in zip(posed.parts, ups, strict=True)]
    shape = (len(found), MAX_GRASPS)
    usable, widths = np.zeros(shape, bool), np.ones(shape)
    centers, axes = np.zeros((*shape, 3)), np.zeros((*shape, 3))
    for row, grasps in enumerate(found):
        count = len(grasps.widths_m)
        usable[row, :count], widths[row, :count] = True, grasps.widths_m
        centers[row, :count], axes[row, :count] = grasps.centers_m, grasps.axes
    center = np.einsum("nij,nkj->nki", posed.rotations, centers) + posed.positions[:, None]
    flat = np.einsum("nij,nkj->nki", posed.rotations[:, :2], axes)
    flat /= np.maximum(np.linalg.norm(flat, axis=-1, keepdims=True), 1e-9)
    top = posed.most(posed.corners[:, 2])[:, None]
    tip = np.maximum(center[..., 2] - limits["pad_m"], (floor_m + limits["tip_gap_m"])[:, None])
    height = top - posed.least(posed.corners[:, 2])[:, None]
    usable &= (height >= gripper.min_grasp_height_m) & (top - tip <= gripper.finger_depth_m)
    usable &= center[..., 2] >= tip
    return Candidates(usable, center, flat, widths, tip)


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


def pick_order(posed: Posed, limits: Limits, gripper: Gripper, box: Container, pose: Pose) -> PickOrder:
    """Take items greedily, each as soon as one grasp of it is free of what remains.

    Taking an item never blocks another one, so greedy finds an order if there is one.

    Args:
        posed: The items in the feed.
        limits: The check's limits.
        gripper: The gripper.
        box: The feed.
        pose: Where the feed stands.
    """
    floor = np.full(len(posed.items), pose.position[2])
    tried = candidates(posed, gripper, floor, limits)
    fingers = tried.fingers(gripper, limits["play_m"], _RAYS)
    open_to = tried.usable & within_walls(tried, gripper, limits["play_m"], box, pose)
    rows, others, blocked = _obstructed(posed, tried, fingers)
    left = np.ones(len(posed.items), bool)
    met, starts = np.unique(rows, return_index=True)
    while True:
        hit = np.zeros(tried.usable.shape, int)
        if len(met):
            hit[met] = np.add.reduceat((blocked & left[others][:, None]).astype(int), starts, axis=0)
        free = left & (open_to & (hit == 0)).any(axis=1)
        if not free.any():
            break
        left &= ~free
    hit = np.where(open_to, hit, len(left) + 1)
    best = hit.argmin(axis=1)
    blockers = tuple(
        tuple(others[(rows == i) & blocked[:, best[i]] & left[others]].tolist()) if left[i] else ()
        for i in range(len(left))
    )
    return PickOrder(~left, np.asarray(tried.usable.any(axis=1)), np.asarray(open_to.any(axis=1)), blockers)


def _obstructed(posed: Posed, tried: Candidates, fingers: Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """List pairs of near items, shapes [pairs], and which grasps of the first the second obstructs, [pairs, k]."""
    outline = posed.most(posed.corners[:, :2] @ _RAYS)
    spread = np.where(tried.usable[..., None, None], fingers, -np.inf).max(axis=(1, 2))
    spread = np.maximum(spread, outline)
    near = np.asarray((spread[:, None] + outline[None, :, _OPPOSITE] > 0).all(axis=-1))
    np.fill_diagonal(near, False)
    rows, others = np.nonzero(near)
    apart = (fingers[rows] + outline[others][:, None, None, _OPPOSITE] < 0).any(axis=-1)
    top = posed.most(posed.corners[:, 2])
    reaches = tried.tip_m[rows] < top[others][:, None]
    blocked = ~apart.all(axis=-1) & reaches
    centers = posed.mass_centers[:, 2]
    covers = (outline[rows] + outline[others][:, _OPPOSITE] > 0).all(axis=-1)
    covers &= (centers[others] > centers[rows]) & (top[others] > top[rows])
    return rows, others, blocked | covers[:, None]


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
