"""A family of parts: a size table and the drawing that turns one row of it into a solid and its collider pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from manifold3d import Manifold

from scenegen.geometry import Array
from scenegen.parts.material import Material

Size = Mapping[str, float]
"""One row of a size table [mm, unless the name ends in `_count`, `_deg` or `_sign`]."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """One part as drawn, in millimetres, in the drawing's own frame."""

    solid: Manifold
    """What is seen and weighed."""
    pieces: tuple[Array, ...]
    """Corners of each convex collider piece [mm], shape [k, 3]."""


@dataclass(frozen=True, eq=False)
class Family:
    """Parts that differ in size alone."""

    name: str
    label: str
    """Semantic class of all of them."""
    standard: str
    """Where the size table comes from."""
    material: Material
    sizes: Mapping[str, Size]
    """Size rows by part id."""
    draw: Callable[[Size], Drawing]
