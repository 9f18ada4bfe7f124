"""Tell which layouts rest by construction: parts that lie apart, each in a stable pose on its zone's floor."""

from __future__ import annotations

import numpy as np

from scenegen.cell import Cell
from scenegen.geometry import Pose
from scenegen.parts.catalogue import Catalogue
from scenegen.physics.contacts import Contact, ContactFinder
from scenegen.posed import Posed
from scenegen.scenario import Item, Layout

TILT_TOLERANCE_RAD = 0.005
"""Largest lean from a stable pose; at a part's size of 20 mm this lifts an edge by 0.1 mm."""
HEIGHT_TOLERANCE_M = 0.0003
"""Largest distance from the height of a stable pose; dropping from there ends within it."""
APART_M = 0.0005
"""Least gap between two items: more than either moves while it comes to rest."""
LEVEL_RAD = 0.01
"""Largest slope of a floor on which nothing slides or rolls away."""


def rests_by_construction(
    layout: Layout,
    parts: Catalogue,
    cell: Cell,
    *,
    finder: ContactFinder | None = None,
    posed: Posed | None = None,
) -> bool:
    """Tell whether a layout rests without simulating it: dynamics may then be skipped.

    True only if every item lies in a container, in one of its part's stable poses, on a level floor, clear of walls and
    of all other items. A layout of which this is false may rest all the same; only dynamics can tell.

    Args:
        layout: The layout.
        parts: The parts.
        cell: The cell.
        finder: Finds what touches; a new one is built without it, which takes longer than the check.
        posed: The layout's items, where they are known already.
    """
    items = layout.items
    if not all(item.zone in cell.containers for item in items):
        return False
    fixtures = {fixture.name: fixture.pose_to_world for fixture in layout.fixtures}
    if items and not _lie_stable(posed or Posed.of(items, parts), fixtures, cell):
        return False
    found = (finder or ContactFinder(cell, parts)).contacts(layout, margin_m=APART_M)
    by_name = {item.name: item for item in items}
    return all(_expected(contact, by_name) for contact in found)


def _lie_stable(posed: Posed, fixtures: dict[str, Pose], cell: Cell) -> bool:
    """Tell whether every item is in a stable pose, on its zone's level floor and between its walls."""
    zones = list(dict.fromkeys(item.zone for item in posed.items))
    row = [zones.index(item.zone) for item in posed.items]
    frames = np.stack([fixtures[zone].rotation.T for zone in zones])[row]
    if np.any(frames[:, 2, 2] < np.cos(LEVEL_RAD)):
        return False
    origins = np.array([fixtures[zone].position_m for zone in zones])[row]
    halves = np.array([cell.containers[zone].size_m for zone in zones])[row] / 2
    local = np.einsum("kij,kj->ki", frames[posed.owner], posed.corners - origins[posed.owner])
    if np.any(np.abs(local[:, :2]) > halves[posed.owner]):
        return False
    ups = np.einsum("ni,nij->nj", frames[:, 2], posed.rotations)
    heights = np.einsum("ni,ni->n", frames[:, 2], posed.positions - origins)
    upright = np.linalg.norm(posed.stable_ups - ups[:, None], axis=2) <= TILT_TOLERANCE_RAD
    level = np.abs(posed.stable_heights_m - heights[:, None]) <= HEIGHT_TOLERANCE_M
    return bool((upright & level).any(axis=1).all())


def _expected(contact: Contact, items: dict[str, Item]) -> bool:
    """Tell whether a contact is one between an item and the floor of its own zone, no deeper than it sinks at rest."""
    return items[contact.b].zone == contact.a and contact.depth_m < HEIGHT_TOLERANCE_M
