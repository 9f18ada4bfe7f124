"""What lies in a zone's plane so far, and which candidate keeps clear of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from scenegen.footprint import Footprint, Geometry, Stencils, gaps
from scenegen.geometry import Array


@dataclass(frozen=True, eq=False)
class Candidates:
    """Places that one part may take, in the order in which they are tried.

    Coordinates are in the zone's frame.
    """

    stencils: Stencils
    kinds: NDArray[np.intp]
    """Index of the footprint, shape [k]."""
    xy: Array
    """Where the part frame's origin lies [m], shape [k, 2]."""
    yaw_rad: Array
    """Shape [k]."""
    inside: NDArray[np.bool_]
    """Whether it keeps its clearance to the zone's walls, shape [k]."""
    circles: Array
    """Centres of the circles about the footprints [m], shape [k, 2]."""

    @classmethod
    def of(cls, stencils: Stencils, kinds: NDArray[np.intp], xy: Array, yaw_rad: Array, half_m: Array) -> Candidates:
        """Build candidates, shape [k] or [n, k], and try them against the walls ±`half_m`, shape [2]."""
        cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
        inside = stencils.inside(kinds, xy, cos[..., None], sin[..., None], half_m)
        return cls(stencils, kinds, xy, yaw_rad, inside, stencils.circles(kinds, xy, cos, sin))

    def row(self, index: int) -> Candidates:
        """Return the candidates of one part out of many, from shape [n, k] to shape [k]."""
        arrays = (self.kinds, self.xy, self.yaw_rad, self.inside, self.circles)
        return Candidates(self.stencils, *(array[index] for array in arrays))


@dataclass(eq=False)
class Board:
    """Footprints that lie in a plane, each under a name."""

    clearance_m: float
    """Least distance between two footprints [m]."""
    capacity: int = 48
    names: list[str] = field(default_factory=list, init=False)
    _outlines: list[Geometry | None] = field(default_factory=list, init=False)
    _placed: list[tuple[Footprint, Array, float] | None] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._circles = np.empty((self.capacity, 3))

    def put(self, name: str, footprint: Footprint, xy: Array, yaw_rad: float) -> None:
        """Lay a footprint down under a name, in the place of what lay there under that name."""
        cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
        x, y = footprint.center
        circle = (xy[0] + cos * x - sin * y, xy[1] + sin * x + cos * y, footprint.radius_m)
        self._lay(name, circle, None, (footprint, xy, yaw_rad))

    def block(self, name: str, outline: Geometry) -> None:
        """Lay down any outline that no part may touch."""
        left, low, right, high = outline.bounds
        circle = ((left + right) / 2, (low + high) / 2, np.hypot(right - left, high - low) / 2)
        self._lay(name, circle, outline, None)

    def put_candidate(self, name: str, candidates: Candidates, index: int) -> None:
        """Lay one of the candidates down under a name."""
        footprint = candidates.stencils.footprints[candidates.kinds[index]]
        circle = (*candidates.circles[index], footprint.radius_m)
        self._lay(name, circle, None, (footprint, candidates.xy[index], float(candidates.yaw_rad[index])))

    def first_free(
        self, candidates: Candidates, rejections: Counter[str], *, ignore: str | None = None
    ) -> int | None:
        """Return the index of the first candidate that keeps clear of everything, or None.

        Args:
            candidates: What to try, in order.
            rejections: Is told why those before it were rejected: `wall`, `overlap` or `fixture`.
            ignore: Name of what does not count, for example the part that is being moved.
        """
        near = self._near(candidates, ignore)
        touched = near.any(axis=1)
        for index in range(len(candidates.kinds)):
            if not candidates.inside[index]:
                rejections["wall"] += 1
            elif touched[index] and (reason := self._hit(candidates, index, near[index])):
                rejections[reason] += 1
            else:
                return index
        return None

    def _near(self, candidates: Candidates, ignore: str | None) -> NDArray[np.bool_]:
        """Broad phase: which circles come too near, shape [k, names]."""
        circles = self._circles[: len(self.names)]
        offset = candidates.circles[:, None] - circles[:, :2]
        reach = candidates.stencils.radii_m[candidates.kinds][:, None] + (circles[:, 2] + self.clearance_m)
        near = offset[..., 0] ** 2 + offset[..., 1] ** 2 < reach**2
        if ignore is not None and ignore in self.names:
            near[:, self.names.index(ignore)] = False
        return near

    def _hit(self, candidates: Candidates, index: int, near: NDArray[np.bool_]) -> str | None:
        """Narrow phase: what the candidate comes too near to, by exact distance."""
        footprint = candidates.stencils.footprints[candidates.kinds[index]]
        outline = footprint.at(candidates.xy[index], float(candidates.yaw_rad[index]))
        others = np.flatnonzero(near)
        distances = gaps(outline, [self._outline(other) for other in others])
        hit = others[distances < self.clearance_m]
        if not len(hit):
            return None
        return "overlap" if any(self._placed[other] for other in hit) else "fixture"

    def _outline(self, index: int) -> Geometry:
        outline, placed = self._outlines[index], self._placed[index]
        if outline is None:
            assert placed is not None
            outline = self._outlines[index] = placed[0].at(placed[1], placed[2])
        return outline

    def _lay(
        self, name: str, circle: tuple[float, ...], outline: Geometry | None, placed: tuple[Footprint, Array, float] | None
    ) -> None:
        if name in self.names:
            index = self.names.index(name)
            self._outlines[index], self._placed[index] = outline, placed
        else:
            index = len(self.names)
            assert index < self.capacity
            self.names.append(name)
            self._outlines.append(outline)
            self._placed.append(placed)
        self._circles[index] = circle
