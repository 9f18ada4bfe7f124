"""Tell which layouts rest by construction: parts that lie apart, each in a stable pose on its zone's floor."""

from __future__ import annotations

import numpy as np

from scenegen.cell import Cell
from scenegen.geometry import Array, Pose, quat_to_matrix
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Part
from scenegen.physics.contacts import Contact, ContactFinder
from scenegen.scenario import Item, Layout

TILT_TOLERANCE_RAD = 0.005
"""Largest lean from a stable pose; at a part's size of 20 mm this lifts an edge by 0.1 mm."""
HEIGHT_TOLERANCE_M = 0.0003
"""Largest distance from the height of a stable pose; dropping from there ends within it."""
APART_M = 0.0005
"""Least gap between two items: more than either moves while it comes to rest."""
LEVEL_RAD = 0.01
"""Largest slope of a floor on which nothing slides or rolls away."""


def rests_by_construction(layout: Layout, parts: Catalogue, cell: Cell, *, finder: ContactFinder | None = None) -> bool:
    """Tell whether a layout rests without simulating it: dynamics may then be skipped.

    True only if every item lies in a container, in one of its part's stable poses, on a level floor, clear of walls and
    of all other items. A layout of which this is false may rest all the same; only dynamics can tell.

    Args:
        layout: The layout.
        parts: The parts.
        cell: The cell.
        finder: Finds what touches; a new one is built without it, which takes longer than the check.
    """
    fixtures = {fixture.name: fixture.pose_to_world for fixture in layout.fixtures}
    for item in layout.items:
        container = cell.containers.get(item.zone)
        if container is None or item.zone not in fixtures:
            return False
        local = fixtures[item.zone].inverse().after(item.pose_to_world)
        half = np.array(container.size_m) / 2
        if not (_level(fixtures[item.zone]) and _in_stable_pose(local, parts[item.part])):
            return False
        if np.any(np.abs(local.apply(parts[item.part].collision_vertices)[:, :2]) > half):
            return False
    found = (finder or ContactFinder(cell, parts)).contacts(layout, margin_m=APART_M)
    zones = {item.name: item for item in layout.items}
    return all(_expected(contact, zones) for contact in found)


def _expected(contact: Contact, items: dict[str, Item]) -> bool:
    """Tell whether a contact is one between an item and the floor of its own zone, no deeper than it sinks at rest."""
    return items[contact.b].zone == contact.a and contact.depth_m < HEIGHT_TOLERANCE_M


def _level(fixture: Pose) -> bool:
    return float(fixture.rotation[2, 2]) > np.cos(LEVEL_RAD)


def _in_stable_pose(local: Pose, part: Part) -> bool:
    up = local.rotation[2]
    for stable in part.stable_poses:
        lean = np.linalg.norm(up - _up(stable.quat_xyzw))
        if lean <= TILT_TOLERANCE_RAD and abs(local.position_m[2] - stable.height_m) <= HEIGHT_TOLERANCE_M:
            return True
    return False


def _up(quat_xyzw: tuple[float, float, float, float]) -> Array:
    """Return the vertical in the part's frame, of a part that is rotated so."""
    return quat_to_matrix(np.array(quat_xyzw))[2]
