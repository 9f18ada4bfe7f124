"""Beams of rays that meet one shape each, many beams at once: what each of them costs beside embree is little."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenegen.geometry import Array
from scenegen.imaging.ray_shape import NO_HIT, Hits, RayShape


class Beam(NamedTuple):
    """Rays from one point, and the shape that they may meet."""

    shape: RayShape
    origin: Array
    """Where they start, in the shape's frame [m], shape [3]."""
    rotation: Array
    """From the rays' to the shape's frame, shape [3, 3]."""
    rays: Array
    """Directions, of any length, shape [n, 3]."""


def beam_distances(beams: Sequence[Beam]) -> list[NDArray[np.float32]]:
    """Return what `RayShape.distances` returns for each beam."""
    bounds, scales = _bounds(beams), _scales(beams)
    if not bounds[-1]:
        return [np.empty(0, np.float32) for _ in beams]
    found = np.concatenate(_cast(beams, bounds, "DISTANCE"))
    whole = np.where(found < NO_HIT, found / scales, np.inf)
    return [whole[start:stop] for start, stop in pairwise(bounds)]


def beam_hits(beams: Sequence[Beam]) -> list[Hits]:
    """Return what `RayShape.hits` returns for each beam."""
    bounds, scales = _bounds(beams), _scales(beams)
    if not bounds[-1]:
        return [beam.shape.hits(beam.origin, beam.rays) for beam in beams]
    found = _cast(beams, bounds, "INTERSECT")
    faces, far, u, v = (np.concatenate([one[name] for one in found]) for name in ("primID", "tfar", "u", "v"))
    met = np.flatnonzero(faces >= 0)
    far, faces, u, v = far[met] / scales[met], faces[met], u[met], v[met]
    runs = pairwise(np.searchsorted(met, bounds).tolist())
    return [
        Hits(met[first:last] - start, far[first:last], faces[first:last], u[first:last], v[first:last])
        for start, (first, last) in zip(bounds, runs, strict=False)
    ]


def _bounds(beams: Sequence[Beam]) -> list[int]:
    """Where each beam's rays begin in the row of all rays, and where the last one's end."""
    return [0, *accumulate(len(beam.rays) for beam in beams)]


def _scales(beams: Sequence[Beam]) -> NDArray[np.float32]:
    """How large a metre of its shape is to each ray, shape [n]."""
    return np.repeat(np.array([beam.shape.scale for beam in beams], np.float32), [len(beam.rays) for beam in beams])


def _cast(beams: Sequence[Beam], bounds: Sequence[int], query: Literal["DISTANCE", "INTERSECT"]) -> list[Any]:
    """Return what embree says of the beams that have rays."""
    starts, directions = (np.empty((bounds[-1], 3), np.float32) for _ in range(2))
    found = []
    for beam, (first, last) in zip(beams, pairwise(bounds), strict=True):
        if first < last:
            start, direction = starts[first:last], directions[first:last]
            start[:] = (beam.origin - beam.shape.low) * beam.shape.scale
            direction[:] = beam.rays @ beam.rotation.T
            found.append(beam.shape.scene.run(start, direction, query=query, output=query == "INTERSECT"))
    return found
