"""What may stand between a light and a scene, ready to be drawn into shadow maps of many worlds at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenegen.imaging.gbuffer import Vector
from scenegen.imaging.vectors import Frame


class Placed(NamedTuple):
    """Bodies at their places in b worlds; each array of shape [b, m]."""

    position: Vector
    """Origins, world frame [m]."""
    axes: Frame
    """The bodies' own X, Y and Z, world frame."""


class Trays(NamedTuple):
    """Fixtures: blocks along their own axes, each hollow and open above; each array of shape [f]."""

    low: Vector
    """Lower corners of the blocks in the fixtures' frames [m]."""
    high: Vector
    """Upper corners of the blocks."""
    hollow_low: Vector
    """Lower corners of the hollows."""
    hollow_high: Vector
    """Upper corners of the hollows, infinitely high."""


@dataclass(frozen=True, eq=False)
class Micropolygons:
    """Triangles of bodies, each so small that it covers one pixel of a map at most (Cook et al. 1987, Reyes)."""

    corners: tuple[Vector, Vector, Vector]
    """In the frames of the bodies [m], each of shape [n]."""
    starts: tuple[int, ...]
    """Where the triangles of each body begin, and last n; one more than there are bodies."""
    edge_m: float
    """The longest edge [m]."""
    reach_m: tuple[float, ...]
    """How far the corners of each body lie from its origin at most [m]."""


@dataclass(frozen=True, eq=False)
class Blockers:
    """What may shade b worlds: the micropolygons of the items that are there, and the fixtures."""

    polygons: Micropolygons
    triangle: Any
    """Which micropolygons, those of all worlds one after the other; whole numbers, shape [t]."""
    body: Any
    """What each belongs to, as world * items + item; whole numbers, shape [t]."""
    reach_m: Any
    """How far each item reaches from its origin [m], shape [b, m]; minus infinity for those that are not there."""
    trays: Trays


def blockers_of(
    polygons: Micropolygons,
    trays: Trays,
    bodies: NDArray[np.int64],
    present: NDArray[np.bool_],
    *,
    like: Any,
    xp: Any,
) -> Blockers:
    """List what stands in each world; needed anew only when items come or go, not when they move.

    Args:
        polygons: Triangles of the bodies.
        trays: The fixtures.
        bodies: Which of those bodies each item is, shape [m].
        present: Whether it is there, shape [b, m].
        like: An array of floats on whose device the lists are made.
        xp: Array namespace.
    """
    starts = np.array(polygons.starts)
    counts = np.where(present, (starts[1:] - starts[:-1])[bodies], 0).reshape(-1)
    ends = counts.cumsum()
    # What to add to a place in the list to get the triangle that stands there, for each item of each world.
    shift = np.tile(starts[:-1][bodies], len(present)) - (ends - counts)
    place = xp.arange(int(counts.sum()), dtype=xp.int64, device=like.device)
    body = xp.searchsorted(xp.asarray(ends, device=like.device), place, side="right")
    triangle = place + xp.asarray(shift, device=like.device)[body]
    reach = np.where(present, np.array(polygons.reach_m)[bodies], -np.inf)
    return Blockers(
        polygons,
        triangle=xp.asarray(triangle, dtype=xp.int32),
        body=xp.asarray(body, dtype=xp.int32),
        reach_m=xp.asarray(reach, dtype=like.dtype, device=like.device),
        trays=trays,
    )


def placed(position_m: Any, quat_xyzw: Any) -> Placed:
    """Bring poses, as simulators hold them, into vectors.

    Args:
        position_m: Origins [m], world frame, shape [b, m, 3].
        quat_xyzw: Unit quaternions, shape [b, m, 4].
    """
    x, y, z, w = (quat_xyzw[..., index] for index in range(4))
    axes = Frame(
        (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
        (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
        (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)),
    )
    return Placed((position_m[..., 0], position_m[..., 1], position_m[..., 2]), axes)
