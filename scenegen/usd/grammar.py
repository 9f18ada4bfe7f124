"""The shapes of which scenes are written: scenes of the same shapes differ in nothing but values.

A validator of USD structure that passed a shape once passes it always, whatever numbers it holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scenegen.usd.prim import Prim

Shape = tuple[object, ...]


def shapes_of(prims: Iterable[Prim], *, above: tuple[str, ...] = ()) -> frozenset[Shape]:
    """Return every shape that some prims of a layout or scene layer, and what is below them, are made of.

    Prims of the same place, type, schemas, references and attribute names and types are of one shape; how the children
    of a group below `/World` (items, lights, cameras …) are named does not matter.

    Args:
        prims: Prims beside each other.
        above: Names of the prims that they are below.
    """
    return frozenset(shape for prim in prims for shape in _shapes(prim, above))


def _shapes(prim: Prim, above: tuple[str, ...]) -> Iterator[Shape]:
    named = len(above) == 2  # /World/<group>/<name>: the name is the scene's, all below it is ours
    path = (*above, "*" if named else prim.name)
    yield (
        path,
        prim.specifier,
        prim.type,
        prim.schemas,
        prim.references,
        prim.active,
        bool(prim.child_order),
        tuple((attribute.name, attribute.type) for attribute in prim.attributes),
    )
    for child in prim.children:
        yield from _shapes(child, path)
