"""Items of a scene, for axes that move, add or judge them; every facet that lists items follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from scenegen.cell import Cell, Role
from scenegen.geometry import Pose, quat_conjugate, quat_multiply
from scenegen.nominal import nominal_matter_of
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Asset, Cause, Facet, Item, Layout, Matter, Scenario, Surface, Surfaces

ITEM_FACETS = frozenset({Facet.LAYOUT, Facet.MATTER, Facet.SURFACES})
"""What changes when items are added."""


def with_items(scenario: Scenario, items: Iterable[Item], *, cell: Cell, parts: Catalogue) -> Scenario:
    """Return the scenario with these items in place of its own.

    Items stand in the inventory's order. Matter and surfaces of items that stay are kept, those of new ones are
    nominal; the assets are those of all parts that are used.

    Args:
        scenario: The scenario.
        items: All items that it shall have.
        cell: Its cell.
        parts: Its parts.
    """
    order = {slot: index for index, slot in enumerate(cell.slots)}
    chosen = tuple(sorted(items, key=lambda item: order[item.name]))
    names = {item.name for item in chosen}
    matter = {entry.name: entry for entry in scenario.matter.items}
    looks = {surface.subject: surface for surface in scenario.surfaces.surfaces}
    old = {item.name for item in scenario.layout.items}
    others = tuple(surface for surface in scenario.surfaces.surfaces if surface.subject not in old | names)
    return scenario.replaced(
        assets=tuple(Asset(part=part, content=parts[part].content_id) for part in sorted({i.part for i in chosen})),
        layout=Layout(fixtures=scenario.layout.fixtures, items=chosen),
        matter=Matter(items=tuple(matter.get(i.name) or nominal_matter_of(i, parts) for i in chosen)),
        surfaces=Surfaces(
            surfaces=others
            + tuple(looks.get(i.name) or Surface(subject=i.name, look=parts[i.part].look) for i in chosen)
        ),
    )


def with_poses(scenario: Scenario, poses: Mapping[str, Pose], *, cause: Cause) -> Scenario:
    """Return the scenario with some items moved, by name, and the cause of their being there."""
    items = tuple(
        item.replaced(cause=cause, pose_to_world=poses[item.name]) if item.name in poses else item
        for item in scenario.layout.items
    )
    return scenario.varied(layout=Layout(fixtures=scenario.layout.fixtures, items=items))


def with_surfaces(scenario: Scenario, surfaces: Iterable[Surface]) -> Scenario:
    """Return the scenario with some surfaces replaced, each that of the same subject."""
    changed = {surface.subject: surface for surface in surfaces}
    kept = tuple(changed.get(surface.subject, surface) for surface in scenario.surfaces.surfaces)
    return scenario.varied(surfaces=Surfaces(surfaces=kept))


def role_of(cell: Cell, item: Item) -> Role:
    """Return what an item is to the task."""
    return cell.slots[item.name].role


def targets_in(scenario: Scenario, cell: Cell, zone: str = "feed") -> list[Item]:
    """Return the targets that lie in a zone, in the layout's order."""
    slots = cell.slots
    return [item for item in scenario.layout.items if item.zone == zone and slots[item.name].role is Role.TARGET]


def free_slots(scenario: Scenario, cell: Cell, role: Role) -> list[str]:
    """Return the slots of a role that no item of the scenario occupies, in the inventory's order."""
    used = {item.name for item in scenario.layout.items}
    return [slot for slot, item in cell.slots.items() if item.role is role and slot not in used]


def fixture_pose(layout: Layout, name: str) -> Pose:
    """Return where a fixture stands; the table, and what does not exist, at the origin."""
    return next((f.pose_to_world for f in layout.fixtures if f.name == name), Pose())


def yaw_between(before: ArrayLike, after: ArrayLike) -> float:
    """Return the turn about the vertical from one rotation to another [rad], in (-π, π]; quaternions, shape [4]."""
    _, _, z, w = quat_multiply(after, quat_conjugate(before))
    return float(np.angle(complex(w, z) ** 2)) if z or w else 0.0
