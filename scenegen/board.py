"""What lies in a zone's plane so far, and where parts find room beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenegen.footprint import Outline, Outlines, Plane, Stencils, circle_about, nearer
from scenegen.geometry import Array

AT_ONCE = 4
"""Candidates of each part that are tried against all others at once."""
AT_LEAST = 40
"""Candidates that are tried at once where few parts are left."""
NONE = -1
"""Stands for no candidate."""


@dataclass(frozen=True, eq=False)
class Spots:
    """Where footprints lie, or might lie, in a zone's plane; all arrays have one shape."""

    stencils: Stencils
    kinds: NDArray[np.intp]
    """Index of each footprint."""
    places: Plane
    """Where the part frame's origin lies."""
    yaws_rad: Array

    @cached_property
    def turns(self) -> Plane:
        """exp(i yaw)."""
        return np.exp(1j * self.yaws_rad)

    @cached_property
    def centers(self) -> Plane:
        """Centres of the circles about the footprints."""
        return self.stencils.circles(self.kinds, self.places, self.turns)

    @property
    def radii_m(self) -> Array:
        """Radii of those circles [m]."""
        return self.stencils.radii_m[self.kinds]

    @cached_property
    def outlines(self) -> Outlines:
        """Outlines at their places, of spots of shape [n]."""
        return self.stencils.outlines(self.kinds, self.places, self.turns)

    def inside(self, half_m: Array) -> NDArray[np.bool_]:
        """Tell which lie wholly within ±`half_m`, shape [2], of the origin."""
        return self.stencils.inside(self.kinds, self.places, self.turns, half_m)

    def some(self, index: Any) -> Spots:
        """Return some of them, by any index into the arrays."""
        return Spots(self.stencils, self.kinds[index], self.places[index], self.yaws_rad[index])


class Board:
    """Footprints that lie in a plane between walls, each under a name.

    Args:
        half_m: The walls stand at ± these [m], shape [2]; what lies there already may lie beyond them.
        clearance_m: Least distance between two footprints [m].
        capacity: Most footprints.
    """

    def __init__(self, half_m: Array, clearance_m: float, *, capacity: int = 64) -> None:
        self._half_m = half_m
        self._clearance_m = clearance_m
        self._index: dict[str, int] = {}
        self._fixed = 0
        """What cannot be moved away, as bits."""
        self._outlines = np.empty(capacity, object)
        self._centers = np.empty(capacity, complex)
        self._radii_m = np.empty(capacity)

    def put(self, names: Sequence[str], spots: Spots) -> None:
        """Lay footprints down under names, shape [n], each in the place of what lay there under that name."""
        rows = [self._row(name) for name in names]
        self._outlines[rows], self._centers[rows], self._radii_m[rows] = spots.outlines, spots.centers, spots.radii_m

    def block(self, name: str, outline: Outline) -> None:
        """Lay down a fixture's outline."""
        row = self._row(name)
        self._outlines[row] = outline
        self._centers[row], self._radii_m[row] = circle_about(outline)
        self._fixed |= 1 << row

    def touching(self, distance_m: float) -> frozenset[str]:
        """Name what lies nearer than a distance to something else."""
        count = len(self._index)
        centers, radii_m = self._centers[:count], self._radii_m[:count]
        first, second = np.triu(_near(centers, radii_m, centers, radii_m, distance_m), 1).nonzero()
        touch = nearer(self._outlines[first], self._outlines[second], distance_m)
        names = tuple(self._index)
        return frozenset(names[row] for row in (*first[touch].tolist(), *second[touch].tolist()))

    def lay(self, names: Sequence[str], candidates: Spots, rejections: Sequence[Counter[str]]) -> NDArray[np.intp]:
        """Lay parts down, each at its first candidate that keeps clear of the walls and of all that lies there then.

        A few candidates of each part are tried in turn; who found no room tries its next ones when the others lie.

        Args:
            names: Their names; what lay under a name already is taken up when its part is laid down elsewhere.
            candidates: Where each might lie, in order, shape [n, k].
            rejections: For each part, is told why the others were rejected: `wall`, `overlap` or `fixture`.

        Returns:
            The index of the candidate at which each part lies now, or `NONE`, shape [n].
        """
        total, start = candidates.kinds.shape[1], 0
        chosen = np.full(len(names), NONE)
        rows = np.arange(len(names))
        while start < total and len(rows):
            stop = min(start + max(AT_ONCE, AT_LEAST // len(rows)), total)
            left = rows.tolist()
            spots = candidates.some((rows, slice(start, stop)))
            found = self._try([names[row] for row in left], spots, [rejections[row] for row in left])
            chosen[rows] = np.where(found == NONE, NONE, start + found)
            rows, start = rows[found == NONE], stop
        return chosen

    def _try(self, names: Sequence[str], spots: Spots, rejections: Sequence[Counter[str]]) -> NDArray[np.intp]:
        """Lay parts down as `lay` does, at spots of shape [n, k], all of which are tried against all others at once."""
        inside = spots.inside(self._half_m)
        parts, indices = inside.nonzero()
        own, spots = [self._index.get(name, NONE) for name in names], spots.some(inside)
        clashes = self._clashes(np.array(own)[parts], parts, spots)
        first = len(self._index)
        lying, chosen, laid = (1 << first) - 1, np.full(len(names), NONE), {}
        for row, (part, clash) in enumerate(zip(parts.tolist(), clashes, strict=True)):
            if names[part] in laid:
                continue
            if hit := clash & lying:
                rejections[part]["overlap" if hit & ~self._fixed else "fixture"] += 1
                continue
            laid[names[part]], chosen[part] = row, indices[row]
            lying |= 1 << first + row
            if own[part] != NONE:
                lying &= ~(1 << own[part])
        rows = [self._row(name) for name in laid]
        kept = list(laid.values())
        self._outlines[rows], self._centers[rows] = spots.outlines[kept], spots.centers[kept]
        self._radii_m[rows] = spots.radii_m[kept]
        tried = np.arange(inside.shape[1]) < np.where(chosen == NONE, inside.shape[1], chosen)[:, None]
        for counter, walls in zip(rejections, (tried & ~inside).sum(axis=1).tolist(), strict=True):
            counter["wall"] += walls
        return chosen

    def _clashes(self, own: NDArray[np.intp], parts: NDArray[np.intp], spots: Spots) -> list[int]:
        """Say for each spot what it comes too near to: as bits, first the rows of the board, then earlier parts' spots.

        Circles tell most of what keeps clear, exact distances the rest.

        Args:
            own: Row of the board that the part itself lies in, or `NONE`, shape [k].
            parts: Index of the part that would lie there, ascending, shape [k].
            spots: The spots, shape [k].
        """
        count = len(self._index)
        centers = np.concatenate([self._centers[:count], spots.centers])
        radii_m = np.concatenate([self._radii_m[:count], spots.radii_m])
        near = _near(centers[count:], radii_m[count:], centers, radii_m, self._clearance_m)
        near[:, count:] &= parts[:, None] > parts
        moved = np.flatnonzero(own != NONE)
        near[moved, own[moved]] = False
        first, second = near.nonzero()
        outlines = np.concatenate([self._outlines[:count], spots.outlines])
        near[first, second] = nearer(outlines[count + first], outlines[second], self._clearance_m)
        return [int.from_bytes(row.tobytes(), "little") for row in np.packbits(near, axis=1, bitorder="little")]

    def _row(self, name: str) -> int:
        row = self._index.setdefault(name, len(self._index))
        assert row < len(self._centers)
        return row


def _near(centers: Plane, radii_m: Array, others: Plane, other_radii_m: Array, distance_m: float) -> NDArray[np.bool_]:
    """Tell which circles come nearer than a distance to which others, shape [n, m]."""
    offset = centers[:, None] - others
    reach = radii_m[:, None] + (other_radii_m + distance_m)
    return offset.real**2 + offset.imag**2 < reach * reach
