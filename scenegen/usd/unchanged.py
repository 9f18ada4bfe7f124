"""What a scene may not change: shapes of parts, fixtures and table, which the cell and the asset files specify."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from scenegen.cell import Cell
from scenegen.parts.part import Part
from scenegen.usd.cell_prims import cell_world
from scenegen.usd.part_prims import COLLIDERS, MESH, part_tree
from scenegen.usd.prim import Attribute, Prim
from scenegen.usd.stage import PrimView
from scenegen.usd.strangers import refuse_added

_ORDER = "xformOpOrder"


def refuse_changed_cell(world: PrimView, cell: Cell) -> None:
    """Refuse a scene whose physics, table, robot base or containers are not those of the cell.

    Raises:
        UnreadableStage: Names the first prim and attribute that differ.
    """
    remedy = f"change it in the specification of cell {cell.name!r} instead"
    groups = {prim.name: prim for prim in cell_world(cell)}
    _refuse(world.child("PhysicsScene"), groups["PhysicsScene"], remedy)
    for prim in groups["Cell"].children:
        _refuse(world.child("Cell").child(prim.name), prim, remedy)
    for fixture in groups["Fixtures"].children:
        view = world.child("Fixtures").child(fixture.name)
        refuse_added(view, [box.name for box in fixture.children])
        for box in fixture.children:
            _refuse(view.child(box.name), box, remedy)


def refuse_changed_parts(items: PrimView, part_of: Callable[[PrimView], Part]) -> None:
    """Refuse a scene in which an item's mesh or colliders are not those of its part.

    Raises:
        UnreadableStage: Names the first prim and attribute that differ.
    """
    for view in items.children():
        part = part_of(view)
        expected = _shapes(part)
        refuse_added(view, [MESH, COLLIDERS])
        for prim in expected:
            child = view.child(prim.name)
            _refuse(child, prim, f"change part {part.id!r} instead, with `scenegen parts add`")
            if prim.name == COLLIDERS:
                refuse_added(child, [collider.name for collider in prim.children])


@lru_cache(maxsize=64)
def _shapes(part: Part) -> tuple[Prim, ...]:
    (root,) = part_tree(part).prims
    return tuple(prim for prim in root.children if prim.name in (MESH, COLLIDERS))


def _refuse(view: PrimView, prim: Prim, remedy: str) -> None:
    if view.prim.GetTypeName() != prim.type:
        raise view.fail(f"is a {view.prim.GetTypeName()} - accepted: a {prim.type}; {remedy}")
    names = [attribute.name for attribute in prim.attributes]
    for attribute in prim.attributes:
        if not _same(view.value(attribute.name), attribute):
            raise view.fail(f"{attribute.name} is not what it was - {remedy}")
    if _ORDER not in names and view.prim.GetAttribute(_ORDER) and view.prim.GetAttribute(_ORDER).Get():
        raise view.fail(f"is moved by itself - {remedy}")
    for child in prim.children:
        _refuse(view.child(child.name), child, remedy)


def _same(found: Any, attribute: Attribute) -> bool:
    """Compare at the precision of 32 bits, which every number has survived."""
    if isinstance(found, (str, bool)):
        return found == attribute.value
    if attribute.type in ("token[]", "string[]"):
        return list(found) == list(attribute.value)
    if hasattr(found, "GetImaginary"):
        found = (found.GetReal(), *found.GetImaginary())
    return np.array_equal(np.asarray(found, np.float32), np.asarray(attribute.value, np.float32))
