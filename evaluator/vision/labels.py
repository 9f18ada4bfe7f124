"""What a net shall say of a scene: which part each pixel belongs to, and how each part can be taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_fill_holes, find_objects

from evaluator.vision.closing import Feed
from evaluator.vision.net import ANGLES
from evaluator.vision.subject import Subject
from scenegen.cell import MAX_SLOTS, Cell
from scenegen.geometry import Array
from scenegen.imaging.gbuffer import GBuffer
from scenegen.imaging.pinhole import project
from scenegen.parts.catalogue import Catalogue
from scenegen.posed import Posed
from scenegen.scenario import Camera, Scenario
from validators.check import Limits
from validators.grasp import GRASP, free_grasps

PLAY_M = 0.0025
"""How far the fingers open beyond a part on each side [m]: more than the oracle's, since a picture shows less."""
LIMITS: Limits = {**GRASP.limits, "play_m": PLAY_M}
"""Which grasps count as free."""
SNUG = 1.05
"""Grasps up to so many times as wide as the narrowest one are as good: the flats of a nut, the shank of a bolt."""
WIDER = 1.2
"""Other directions at the place of the best grasp are good up to so many times its width: across a nut's corners."""
SAME_M = 0.001
"""Grasps whose middles are this near to each other are one, in several directions [m]."""
BLUR_RAD = np.radians(8.0)
"""How far beside a closing direction the fingers may close nearly as well (standard deviation)."""
_YAWS = np.arange(2 * ANGLES) * np.pi / (2 * ANGLES)
"""Closing directions that are tried at the best place on each part, beside those that are known [rad]."""


@dataclass(frozen=True, eq=False)
class Labels:
    """What a net shall say of one image of h x w pixels; g graspable parts."""

    region: NDArray[np.uint8]
    """Class of each pixel, holes in parts filled, 0 for background, shape [h, w]."""
    part: NDArray[np.uint8]
    """Class of each part, from 1, shape [g]."""
    pixel: NDArray[np.float32]
    """Column and row of each grasp's middle from the upper left corner [px], shape [g, 2]."""
    angle: NDArray[np.float32]
    """How well the fingers can close along each direction, 0 to 1, shape [g, ANGLES]."""
    size: NDArray[np.float32]
    """Distance of the contacts as a share of the opening, their height as a share of the fingers, shape [g, 2]."""

    def rows(self) -> NDArray[np.float32]:
        """Return parts as rows of numbers, padded by rows of zeros, shape [MAX_SLOTS, 5 + ANGLES]."""
        known = np.column_stack([self.part, self.pixel, self.size, self.angle]).astype(np.float32)
        return np.pad(known, ((0, MAX_SLOTS - len(known)), (0, 0)))


def labels_of(
    scenario: Scenario, gbuffer: GBuffer, camera: Camera, *, cell: Cell, parts: Catalogue, subject: Subject
) -> Labels:
    """Label one image of a scene.

    Args:
        scenario: The scene.
        gbuffer: What the camera sees of it.
        camera: The camera.
        cell: Its cell.
        parts: The cell's parts.
        subject: Which parts are told apart.
    """
    region = regions(scenario, gbuffer, subject)
    items = scenario.layout.items
    kinds = np.array([subject.classes.index(item.part) + 1 if item.part in subject.classes else 0 for item in items])
    if not len(items):
        return Labels(region, *_rows([]))
    feed = next(fixture.pose_to_world for fixture in scenario.layout.fixtures if fixture.name == "feed")
    posed = Posed.of(items, parts)
    tried, free = free_grasps(posed, LIMITS, cell.robot.gripper, cell.feed, feed)
    gripper, found = cell.robot.gripper, []
    jaws = Feed(gripper, cell.feed, feed)
    for index in np.flatnonzero((kinds > 0) & free.any(axis=1)).tolist():
        rows = _best(tried.center[index], tried.width_m[index], free[index], posed.mass_centers[index])
        center, width = tried.center[index, rows].mean(axis=0), float(tried.width_m[index, rows].mean())
        turned = np.concatenate([_turns(tried.axis[index, rows]), _YAWS])
        places, opened = np.tile(center, (len(turned), 1)), np.full(len(turned), width + 2 * PLAY_M)
        closed = jaws.close_at(posed, index, places, turned, open_m=opened)
        good = closed.holds & (closed.width_m <= WIDER * width)
        good[: len(rows)] = True
        size = np.array([width / gripper.opening_m, (center[2] - feed.position[2]) / gripper.finger_depth_m])
        found.append((kinds[index], *_shown(camera, center, turned[good]), size))
    return Labels(region, *_rows(found))


def regions(scenario: Scenario, gbuffer: GBuffer, subject: Subject) -> NDArray[np.uint8]:
    """Return the class of each pixel, shape [h, w]; what is seen through a hole of a part counts to it."""
    shown = gbuffer.plane(gbuffer.instance)[0]
    known = {item.name: item.part for item in scenario.layout.items if item.part in subject.classes}
    kinds = np.array([subject.classes.index(known[name]) + 1 if name in known else 0 for name in gbuffer.names])
    found = np.where(shown >= 0, kinds[shown], 0).astype(np.uint8)
    for index, window in enumerate(find_objects(shown + 1, max_label=len(kinds))):
        if kinds[index] and window is not None:
            holes = binary_fill_holes(shown[window] == index) & (found[window] == 0)
            found[window][holes] = kinds[index]
    return found


def _best(center: Array, width_m: Array, free: NDArray[np.bool_], balance: Array) -> NDArray[np.intp]:
    """Choose among the grasps of one part: of the narrow ones those nearest to its centre of mass."""
    narrow = np.flatnonzero(free & (width_m <= SNUG * width_m[free].min()))
    away = np.linalg.norm((center[narrow] - balance)[:, :2], axis=1)
    nearest = center[narrow[away.argmin()], :2]
    return narrow[np.linalg.norm(center[narrow, :2] - nearest, axis=1) <= SAME_M]


def _turns(axes: Array) -> Array:
    return np.arctan2(axes[:, 1], axes[:, 0])


def _shown(camera: Camera, center: Array, yaw_rad: Array) -> tuple[Array, Array]:
    """Return the pixel of a grasp's middle, shape [2], and how well each direction fits, shape [ANGLES]."""
    reach = 0.005 * np.stack([np.cos(yaw_rad), np.sin(yaw_rad), np.zeros(len(yaw_rad))], axis=1)
    ends = project(camera, np.concatenate([center[None], center + reach, center - reach]))
    along = ends[1 : 1 + len(reach)] - ends[1 + len(reach) :]
    away = _turns(along)[:, None] - np.arange(ANGLES) * np.pi / ANGLES
    away = (away + np.pi / 2) % np.pi - np.pi / 2
    return ends[0], np.exp(-0.5 * (away / BLUR_RAD) ** 2).max(axis=0)


def _rows(found: list[tuple[int, Array, Array, Array]]) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    part = np.array([one[0] for one in found], np.uint8)
    pixel, angle, size = (
        np.array([one[field] for one in found], np.float32).reshape(-1, wide)
        for field, wide in ((1, 2), (2, ANGLES), (3, 2))
    )
    return part, pixel, angle, size
