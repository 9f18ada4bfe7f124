"""What the pixels of a camera show before any light falls on it: instance, normal, position, depth.

Arrays may be of any library that follows the Python array API: numpy where rays are cast on a processor, torch where a
simulator's camera gives them. Pixels of an image lie in one row, images of a batch below each other: shape [b, p].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

Vector = tuple[Any, Any, Any]
"""X, Y and Z (or red, green and blue), each an array; kept apart because that is faster than a last axis of three."""

NOTHING = -1
"""Instance of a pixel that shows nothing."""


@dataclass(frozen=True, eq=False)
class GBuffer:
    """What each pixel shows; b images of h x w pixels, p = h * w."""

    names: tuple[str, ...]
    """What instances are: items in the layout's order, `feed` and the bins, then `table`; the same in all images."""
    height_px: int
    width_px: int
    instance: Any
    """Index into the names, or `NOTHING`; whole numbers, shape [b, p]."""
    normal: Vector
    """Unit normals toward the camera, smooth where the mesh is, world frame; each of shape [b, p]."""
    position: Vector
    """Where the surface is, world frame [m]; 1 m deep on the pixel's ray at `NOTHING`; each of shape [b, p]."""
    depth: Any
    """Depth along the optical axis [m], infinite where there is nothing; shape [b, p]."""
    eye: Vector
    """Camera centres, world frame [m]; each of shape [b, 1]."""
    alone: Any
    """How many pixels each instance would cover if nothing else were there; whole numbers, shape [b, len(names)].

    None where nobody counted: photos take none of it, meters do.
    """
    self_open: Any = None
    """Share of a pixel's surroundings that its own instance leaves open (less in threads), shape [b, p]; None: all.

    Where a groove hides a third or more (see `groove_depth`), the normal leans toward its way out (`caster.LEAN`).
    """

    def plane(self, values: Any) -> Any:
        """Return values of pixels as images, shape [b, h, w]."""
        return values.reshape((values.shape[0], self.height_px, self.width_px))

    def part(self, pixels: Any) -> GBuffer:
        """Return some pixels of the one image, by their place in its row, shape [k], as an image of one row."""
        return replace(
            self,
            height_px=1,
            width_px=len(pixels),
            instance=self.instance[:, pixels],
            normal=_some(self.normal, pixels),
            position=_some(self.position, pixels),
            depth=self.depth[:, pixels],
            self_open=None if self.self_open is None else self.self_open[:, pixels],
        )


def in_one_row(parts: Sequence[GBuffer], *, xp: Any) -> GBuffer:
    """Put images of one row each, of the same instances, one after the other; each pixel keeps its camera's centre.

    Args:
        parts: The images, at least one; all of them tell `self_open`, or none does.
        xp: Array namespace.
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    # Zeros of the row's length spread each camera's centre over its pixels.
    eyes = [tuple(plane + xp.zeros_like(part.depth) for plane in part.eye) for part in parts]
    return replace(
        first,
        width_px=sum(part.width_px for part in parts),
        instance=xp.concat([part.instance for part in parts], axis=1),
        normal=_joined([part.normal for part in parts], xp),
        position=_joined([part.position for part in parts], xp),
        depth=xp.concat([part.depth for part in parts], axis=1),
        eye=_joined(eyes, xp),
        self_open=None if first.self_open is None else xp.concat([part.self_open for part in parts], axis=1),
    )


def _some(vector: Vector, pixels: Any) -> Vector:
    return vector[0][:, pixels], vector[1][:, pixels], vector[2][:, pixels]


def _joined(vectors: Sequence[Any], xp: Any) -> Vector:
    x, y, z = (xp.concat(planes, axis=1) for planes in zip(*vectors, strict=True))
    return x, y, z


def groove_depth(self_open: Any, xp: Any) -> Any:
    """Return how much a point belongs to a groove, from 0 to 1, by the share of its surroundings that is left open.

    The flank of a metric thread, 60 degrees from flank to flank, leaves about two thirds open.
    """
    return xp.clip(3 * (1 - self_open), 0.0, 1.0)
