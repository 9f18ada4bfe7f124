"""What shading takes: surfaces and lights as arrays, the same for one scene and for a batch of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scenegen.imaging.gbuffer import Vector


@dataclass(frozen=True, eq=False)
class SurfaceSet:
    """The look of every instance of a G-buffer; each array of shape [b, m], m = len(names)."""

    color: Vector
    """Base colour, linear RGB."""
    metallic: Any
    roughness: Any
    """Perceptual roughness as USD has it; the GGX width is its square."""


@dataclass(frozen=True, eq=False)
class AreaLight:
    """A rectangle that shines to the side of its normal; suns and spheres are rectangles too (far, or facing the feed).

    Each array of shape [b, 1].
    """

    center: Vector
    """World frame [m]."""
    half_u: Vector
    """Half of one side, world frame [m]."""
    half_v: Vector
    """Half of the other side; u x v points to where it shines."""
    radiance: Vector
    """Luminance by linear colour [cd/m2]: a white light's three are equal."""
    casts_shadow: bool = True


@dataclass(frozen=True, eq=False)
class Card:
    """A thin rectangle that stands between lights and the scene and is itself not seen; each array of shape [b, 1]."""

    center: Vector
    """World frame [m]."""
    half_u: Vector
    """Half of one side, world frame [m]."""
    half_v: Vector
    """Half of the other side, at a right angle to the first."""


@dataclass(frozen=True, eq=False)
class Ambient:
    """Light from all around, in three bands of elevation; each of shape [b, 1]."""

    floor: Vector
    """Luminance by linear colour [cd/m2] of what lies below and around: the surfaces that the lights shine on."""
    wall: Vector
    ceiling: Vector


@dataclass(frozen=True, eq=False)
class LightSet:
    """All light of a scene."""

    areas: tuple[AreaLight, ...]
    names: tuple[str, ...]
    """Names of the lights in the scenario, in the order of `areas`."""
    ambient: Ambient
    cards: tuple[Card, ...] = ()
    """What shades the scene without being seen."""


def together(areas: Sequence[AreaLight]) -> AreaLight:
    """Put lights of one image each below each other, numpy, shape [len(areas), 1]: they are shaded in one go."""

    def stacked(vectors: list[Vector]) -> Vector:
        x, y, z = (np.concatenate([np.zeros((0, 1), np.float32), *parts]) for parts in zip(*vectors, strict=True))
        return x, y, z

    return AreaLight(
        center=stacked([area.center for area in areas]),
        half_u=stacked([area.half_u for area in areas]),
        half_v=stacked([area.half_v for area in areas]),
        radiance=stacked([area.radiance for area in areas]),
    )
