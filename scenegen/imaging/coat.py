"""Patterns and stains by position: which of its looks a surface shows at a spot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import cos, pi, sin, sqrt
from typing import Any

import numpy as np

from scenegen.cell import Cell
from scenegen.geometry import Array, Pose
from scenegen.imaging.gbuffer import Vector
from scenegen.optical import SECOND_SHARE, Pattern, PatternKind, Stain
from scenegen.scenario import Scenario, Surface

WORD = 0xFFFFFFFF
"""Numbers of the hash have 32 bits."""
PRIMES = (73856093, 19349663, 83492791)
"""Factors of a spatial hash (Teschner et al. 2003, "Optimized spatial hashing")."""
MIX = 0x45D9F3B
"""Factor that mixes their bits."""
DOT = sqrt(SECOND_SHARE[PatternKind.SPECKLE] / pi)
"""Radius of a dot in its cell of side 1: one dot a cell covers the share that the kind promises."""
SAMPLES = 1 << 16
"""Spots at which the field of patches is looked at, to know which value a share of it lies above."""


@dataclass(frozen=True)
class Coat:
    """A surface with a pattern or a stain, and where it is."""

    surface: Surface
    pose_to_world: Pose

    def looks(self, position: Vector, *, xp: Any) -> tuple[Vector, Any, Any]:
        """Return base colour, metallic and roughness at some spots.

        Args:
            position: Spots, world frame [m]; each array of one shape, which the results have too.
            xp: Array namespace.
        """
        local = _local(self.pose_to_world, position)
        look, one = self.surface.look, xp.ones_like(local[0])
        color: Vector = (look.color[0] * one, look.color[1] * one, look.color[2] * one)
        metallic, roughness = look.metallic * one, look.roughness * one
        if self.surface.pattern is not None:
            color = _over(color, self.surface.pattern.color, pattern_mask(self.surface.pattern, local, xp=xp))
        stain = self.surface.stain
        if stain is not None:
            mask = stain_mask(stain, local, xp=xp)
            color = _over(color, stain.color, mask)
            metallic = metallic + mask * (stain.metallic - metallic)
            roughness = roughness + mask * (stain.roughness - roughness)
        return color, metallic, roughness


def coats_of(scenario: Scenario, cell: Cell) -> dict[str, Coat]:
    """Return the patterned and stained surfaces of a scene by subject.

    Args:
        scenario: The scene.
        cell: Its cell, which knows where the table is.
    """
    poses = {"table": cell.table.pose_top_to_world}
    poses |= {one.name: one.pose_to_world for one in (*scenario.layout.fixtures, *scenario.layout.items)}
    return {
        surface.subject: Coat(surface, poses[surface.subject])
        for surface in scenario.surfaces.surfaces
        if (surface.stain or surface.pattern) and surface.subject in poses
    }


def pixel_looks(
    instance: Any, position: Vector, base: tuple[Vector, Any, Any], coats: Mapping[int, Coat], *, xp: Any
) -> tuple[Vector, Any, Any]:
    """Replace the looks of pixels that show a patterned or stained surface.

    Args:
        instance: What each pixel shows, shape [1, p].
        position: Where it is, world frame [m].
        base: Colour, metallic and roughness of each pixel by the means of its surface.
        coats: Instance -> its coat.
        xp: Array namespace.
    """
    (red, green, blue), metallic, roughness = base
    for index, coat in coats.items():
        here = instance == index
        color, metal, rough = coat.looks(position, xp=xp)
        red, green, blue = (xp.where(here, new, old) for new, old in zip(color, (red, green, blue), strict=True))
        metallic, roughness = xp.where(here, metal, metallic), xp.where(here, rough, roughness)
    return (red, green, blue), metallic, roughness


def pattern_mask(pattern: Pattern, local: Vector, *, xp: Any) -> Any:
    """Tell where a surface has the pattern's colour: 1 there, 0 elsewhere.

    Args:
        pattern: The pattern.
        local: Spots in the surface's frame [m]; the pattern lies in its X and Y.
        xp: Array namespace.
    """
    c, s = cos(pattern.angle_rad) / pattern.size_m, sin(pattern.angle_rad) / pattern.size_m
    u, v = c * local[0] + s * local[1], c * local[1] - s * local[0]
    match pattern.kind:
        case PatternKind.CHECKER:
            second = _odd(xp.floor(u) + xp.floor(v), xp)
        case PatternKind.STRIPES:
            second = _odd(xp.floor(u), xp)
        case PatternKind.WOOD:
            second = _odd(xp.floor(u + 0.6 * xp.sin(0.9 * v) + 0.25 * xp.sin(2.3 * v + u)), xp)
        case PatternKind.SPECKLE:
            i, j = xp.floor(u), xp.floor(v)
            room = 1.0 - 2.0 * DOT
            x = u - i - DOT - room * _hashed(i, j, 0 * i, 1, xp)
            y = v - j - DOT - room * _hashed(i, j, 0 * i, 2, xp)
            second = x * x + y * y < DOT * DOT
    return xp.asarray(second, dtype=local[0].dtype)


def stain_mask(stain: Stain, local: Vector, *, xp: Any) -> Any:
    """Tell where a surface has the stain's look: 1 in its patches, 0 elsewhere.

    Patches are where smooth noise on a lattice (Perlin 1985, value noise) exceeds what a share of it exceeds.

    Args:
        stain: The stain.
        local: Spots in the surface's frame [m].
        xp: Array namespace.
    """
    spots = tuple(one / stain.patch_m + shift for one, shift in zip(local, stain.phase, strict=True))
    return xp.asarray(_field(spots, xp) > stain_level(stain.share), dtype=local[0].dtype)


@lru_cache(maxsize=256)
def stain_level(share: float) -> float:
    """Return the value that a share of the field of patches exceeds."""
    return float(np.quantile(_values(), 1.0 - share))


@lru_cache(maxsize=1)
def _values() -> Array:
    """Sample the field evenly over many cells of its lattice (R3 sequence, Roberts 2018)."""
    steps = np.array([0.8191725134, 0.6710436067, 0.5497004779])
    spots = np.arange(SAMPLES)[:, None] * steps % 1.0 * 64.0
    return _field(tuple(spots.T), np)


def _field(spots: tuple[Any, ...], xp: Any) -> Any:
    """Smooth noise in [0, 1]: values at lattice points, blended by smoothsteps."""
    lows = tuple(xp.floor(one) for one in spots)
    weights = [f * f * (3.0 - 2.0 * f) for f in (one - low for one, low in zip(spots, lows, strict=True))]
    total = 0.0
    for corner in range(8):
        i, j, k = (low + (corner >> axis & 1) for axis, low in enumerate(lows))
        weight = 1.0
        for axis, one in enumerate(weights):
            weight = weight * (one if corner >> axis & 1 else 1.0 - one)
        total = total + weight * _hashed(i, j, k, 0, xp)
    return total


def _hashed(i: Any, j: Any, k: Any, salt: int, xp: Any) -> Any:
    """Return a number in [0, 1) for each lattice point, the same in every array library."""
    word = salt * MIX
    for index, prime in zip((i, j, k), PRIMES, strict=True):
        word = word ^ (xp.asarray(index, dtype=xp.int64) * prime & WORD)
    for _ in range(2):
        word = (word ^ word >> 16) * MIX & WORD
    return xp.asarray((word ^ word >> 16) & 0xFFFF, dtype=i.dtype) / 65536.0


def _odd(number: Any, xp: Any) -> Any:
    return number - 2.0 * xp.floor(number / 2.0) > 0.5


def _over(color: Vector, second: tuple[float, float, float], mask: Any) -> Vector:
    red, green, blue = (one + mask * (other - one) for one, other in zip(color, second, strict=True))
    return red, green, blue


def _local(pose: Pose, position: Vector) -> Vector:
    """Bring spots into the frame that a pose places in the world."""
    turn, shift = pose.rotation, pose.position
    moved = [one - float(origin) for one, origin in zip(position, shift, strict=True)]
    x, y, z = (sum(float(turn[row, axis]) * moved[row] for row in range(3)) for axis in range(3))
    return x, y, z
