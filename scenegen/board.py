"""What lies in a zone's plane so far, and which candidate keeps clear of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scenegen.footprint import Footprint, Outline, Outlines, Plane, Stencils, circle_about, gaps
from scenegen.geometry import Array

AT_ONCE = 4
"""Candidates whose exact distances are found at once."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Places that one part may take, in the order in which they are tried, in the zone's plane."""

    stencils: Stencils
    kinds: NDArray[np.intp]
    """Index of the footprint, shape [k]."""
    places: Plane
    """Where the part frame's origin lies, shape [k]."""
    yaws_rad: Array
    """Shape [k]."""
    turns: Plane
    """exp(i yaw), shape [k]."""
    inside: NDArray[np.bool_]
    """Whether it keeps its clearance to the zone's walls, shape [k]."""
    circles: Plane
    """Centres of the circles about the footprints, shape [k]."""

    @classmethod
    def of(
        cls, stencils: Stencils, kinds: NDArray[np.intp], places: Plane, yaws_rad: Array, *, half_m: Array
    ) -> Candidates:
        """Build candidates, shape [k] or [n, k], and try them against the walls ±`half_m`, shape [2]."""
        turns = np.exp(1j * yaws_rad)
        inside = stencils.inside(kinds, places, turns, half_m)
        return cls(stencils, kinds, places, yaws_rad, turns, inside, stencils.circles(kinds, places, turns))

    def row(self, index: int) -> Candidates:
        """Return the candidates of one part out of many, from shape [n, k] to shape [k]."""
        arrays = (self.kinds, self.places, self.yaws_rad, self.turns, self.inside, self.circles)
        return Candidates(self.stencils, *(array[index] for array in arrays))

    def footprint(self, index: int) -> Footprint:
        """Return the footprint of a candidate."""
        return self.stencils.footprints[self.kinds[index]]

    def outlines(self, rows: NDArray[np.intp]) -> Outlines:
        """Return the outlines of some candidates at their places, shape [n]."""
        return self.stencils.outlines(self.kinds[rows], self.places[rows], self.turns[rows])


@dataclass(frozen=True)
class _Lying:
    """A footprint at its place; its outline is built when it is first needed."""

    footprint: Footprint
    place: complex
    yaw_rad: float


class Board:
    """Footprints that lie in a plane, each under a name.

    Args:
        clearance_m: Least distance between two footprints [m].
        capacity: Most footprints.
    """

    def __init__(self, clearance_m: float, *, capacity: int = 64) -> None:
        self.clearance_m = clearance_m
        self._index: dict[str, int] = {}
        self._lying: list[_Lying | Outline] = []
        self._centers = np.empty(capacity, complex)
        self._radii_m = np.empty(capacity)
        self._fixed = np.zeros(capacity, bool)

    def put(self, name: str, footprint: Footprint, place: complex, yaw_rad: float) -> None:
        """Lay a footprint down under a name, in the place of what lay there under that name."""
        center = complex(footprint.center * np.exp(1j * yaw_rad)) + place
        self._lay(name, _Lying(footprint, place, yaw_rad), center, footprint.radius_m)

    def put_candidate(self, name: str, candidates: Candidates, index: int) -> None:
        """Lay one of the candidates down under a name."""
        footprint = candidates.footprint(index)
        lying = _Lying(footprint, complex(candidates.places[index]), float(candidates.yaws_rad[index]))
        self._lay(name, lying, candidates.circles[index], footprint.radius_m)

    def block(self, name: str, outline: Outline) -> None:
        """Lay down a fixture's outline."""
        self._lay(name, outline, *circle_about(outline))
        self._fixed[self._index[name]] = True

    def first_free(self, candidates: Candidates, rejections: Counter[str], *, ignore: str | None = None) -> int | None:
        """Return the index of the first candidate that keeps clear of everything, or None.

        Args:
            candidates: What to try, in order.
            rejections: Is told why those before it were rejected: `wall`, `overlap` or `fixture`.
            ignore: Name of what does not count, for example the part that is being moved.
        """
        near = self._near(candidates, ignore)
        doubtful = np.any(near, axis=1) & candidates.inside
        certain = np.flatnonzero(candidates.inside & ~doubtful)
        end = int(certain[0]) if len(certain) else len(candidates.kinds)
        found = None if end == len(candidates.kinds) else end
        rows = np.flatnonzero(doubtful[:end])
        for start in range(0, len(rows), AT_ONCE):
            some = rows[start : start + AT_ONCE]
            free = np.flatnonzero(self._free(candidates, some, near[some], rejections))
            if len(free):
                found = end = int(some[free[0]])
                break
        rejections["wall"] += end - int(np.count_nonzero(candidates.inside[:end]))
        return found

    def nearest_m(self, name: str) -> float:
        """Return the exact distance from what lies under a name to its nearest neighbour [m], at most the clearance."""
        index = self._index[name]
        others = [other for other in range(len(self._lying)) if other != index]
        apart = np.abs(self._centers[others] - self._centers[index]) - self._radii_m[others] - self._radii_m[index]
        close = [other for other, gap in zip(others, apart.tolist(), strict=True) if gap < self.clearance_m]
        distances = gaps(self._outline(index), [self._outline(other) for other in close])
        return float(distances.min(initial=self.clearance_m))

    def _near(self, candidates: Candidates, ignore: str | None) -> NDArray[np.bool_]:
        """Broad phase: which circles come too near, shape [k, names]."""
        count = len(self._lying)
        offset = candidates.circles[:, None] - self._centers[:count]
        reach = candidates.stencils.radii_m[candidates.kinds][:, None] + (self._radii_m[:count] + self.clearance_m)
        near = offset.real**2 + offset.imag**2 < reach * reach
        if ignore in self._index:
            near[:, self._index[ignore]] = False
        return near

    def _free(
        self, candidates: Candidates, rows: NDArray[np.intp], near: NDArray[np.bool_], rejections: Counter[str]
    ) -> NDArray[np.bool_]:
        """Narrow phase: which candidates keep clear, by exact distance; counts those before the first one that does."""
        own, others = near.nonzero()
        outlines = candidates.outlines(rows)
        too_near = gaps(outlines[own], [self._outline(other) for other in others.tolist()]) < self.clearance_m
        hit, overlap = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
        hit[own[too_near]] = True
        overlap[own[too_near & ~self._fixed[others]]] = True
        first = len(rows) if hit.all() else int(hit.argmin())
        overlaps = int(np.count_nonzero(overlap[:first]))
        rejections["overlap"] += overlaps
        rejections["fixture"] += first - overlaps
        return ~hit

    def _outline(self, index: int) -> Outline:
        lying = self._lying[index]
        if isinstance(lying, _Lying):
            lying = self._lying[index] = lying.footprint.at(lying.place, lying.yaw_rad)
        return lying

    def _lay(self, name: str, lying: _Lying | Outline, center: complex, radius_m: float) -> None:
        index = self._index.setdefault(name, len(self._lying))
        if index == len(self._lying):
            assert index < len(self._centers)
            self._lying.append(lying)
        self._lying[index] = lying
        self._centers[index] = center
        self._radii_m[index] = radius_m
