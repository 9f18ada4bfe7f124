"""A layer as plain data: what is to be written, apart from how (`text` writes it fast, `sdf` as OpenUSD would).

Values are in USD's order and units (quaternions w first, colours as triples); arrays are tuples or numpy arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

NAMESPACE = "scenegen:"
"""Prefix of all attributes that no USD schema defines; they are written as `custom`."""


class Attribute(NamedTuple):
    """One attribute with its default value."""

    name: str
    type: str
    """Sdf's name of the value type, for example `point3f[]`."""
    value: Any = None
    """Scalar, tuple or array; None declares the attribute without a value."""
    uniform: bool = False
    interpolation: str = ""
    """Of primvars: `constant`, `faceVarying` …."""
    source: str = ""
    """Path of the output that it is connected to."""

    @property
    def custom(self) -> bool:
        """True if no schema defines the attribute."""
        return self.name.startswith(NAMESPACE)


class Relationship(NamedTuple):
    """One relationship with its targets (absolute prim paths)."""

    name: str
    targets: tuple[str, ...]


class Prim(NamedTuple):
    """One prim specification and what is below it."""

    name: str
    type: str = ""
    specifier: str = "def"
    """`def`, or `over` for opinions about a prim that a weaker layer defines."""
    kind: str = ""
    schemas: tuple[str, ...] = ()
    """Applied API schemas, prepended."""
    references: tuple[str, ...] = ()
    """Asset paths, prepended."""
    active: bool = True
    attributes: tuple[Attribute, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    children: tuple[Prim, ...] = ()
    child_order: tuple[str, ...] = ()
    """Reorders children that weaker layers define; empty leaves their order alone."""


class LayerTree(NamedTuple):
    """One layer: root prims and metadata. All layers are in metres and kilograms with Z up."""

    default_prim: str
    prims: tuple[Prim, ...]
    sub_layers: tuple[str, ...] = ()
    """Asset paths, strongest first."""
    facts: tuple[tuple[str, str | int], ...] = ()
    """Entries of `customLayerData["scenegen"]`."""


def over(name: str, *, attributes: tuple[Attribute, ...] = (), children: tuple[Prim, ...] = ()) -> Prim:
    """Opinions about a prim that a weaker layer defines."""
    return Prim(name, specifier="over", attributes=attributes, children=children)


def differing(actual: tuple[Attribute, ...], nominal: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    """Attributes of `actual` that `nominal` does not hold as they are."""
    if actual == nominal:
        return ()
    known = {attribute.name: attribute for attribute in nominal}
    return tuple(attribute for attribute in actual if known.get(attribute.name) != attribute)
