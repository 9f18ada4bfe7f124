"""What lies in a zone's plane so far, and which candidate keeps clear of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scenegen.footprint import Footprint, Outline, Plane, Stencils, circle_about, gaps
from scenegen.geometry import Array


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
        return cls(stencils, kinds, places, yaws_rad, inside, stencils.circles(kinds, places, turns))

    def row(self, index: int) -> Candidates:
        """Return the candidates of one part out of many, from shape [n, k] to shape [k]."""
        arrays = (self.kinds, self.places, self.yaws_rad, self.inside, self.circles)
        return Candidates(self.stencils, *(array[index] for array in arrays))

    def footprint(self, index: int) -> Footprint:
        """Return the footprint of a candidate."""
        return self.stencils.footprints[self.kinds[index]]

    def outline(self, index: int) -> Outline:
        """Return the outline of a candidate at its place."""
        return self.footprint(index).at(complex(self.places[index]), float(self.yaws_rad[index]))


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
        self._fixed: set[int] = set()
        self._centers = np.empty(capacity, complex)
        self._radii_m = np.empty(capacity)

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
        self._fixed.add(self._index[name])

    def first_free(self, candidates: Candidates, rejections: Counter[str], *, ignore: str | None = None) -> int | None:
        """Return the index of the first candidate that keeps clear of everything, or None.

        Args:
            candidates: What to try, in order.
            rejections: Is told why those before it were rejected: `wall`, `overlap` or `fixture`.
            ignore: Name of what does not count, for example the part that is being moved.
        """
        near = self._near(candidates, ignore)
        touched = np.any(near, axis=1).tolist()
        for index, inside in enumerate(candidates.inside.tolist()):
            if not inside:
                rejections["wall"] += 1
            elif touched[index] and (reason := self._hit(candidates.outline(index), np.flatnonzero(near[index]))):
                rejections[reason] += 1
            else:
                return index
        return None

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
        near = np.abs(offset) < reach
        if ignore in self._index:
            near[:, self._index[ignore]] = False
        return near

    def _hit(self, outline: Outline, others: NDArray[np.intp]) -> str | None:
        """Narrow phase: what kind of thing an outline comes too near to, by exact distance."""
        distances = gaps(outline, [self._outline(other) for other in others])
        hit = others[distances < self.clearance_m].tolist()
        if not hit:
            return None
        return "fixture" if self._fixed.issuperset(hit) else "overlap"

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
