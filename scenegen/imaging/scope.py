"""The pixels that meters of a few items need: those that show them, and those beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenegen.errors import UnknownName
from scenegen.imaging.gbuffer import NOTHING, GBuffer

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Scope:
    """Where one image shows some items; each item's pixels, and its steps to what lies beside it, follow each other."""

    names: tuple[str, ...]
    """The items, n of them."""
    pixels: Places
    """Places in the row of all pixels, `row * width + column`: first those of items, then the rim; shape [k]."""
    visible: Places
    """How many pixels show each item, shape [n]."""
    alone: Places
    """How many would if nothing else were there, shape [n]."""
    inner: Places
    """Of each pair of neighbours of which one shows an item and the other does not: index of the one, shape [q]."""
    outer: Places
    """Index of the other, shape [q]."""
    borders: Places
    """How many pairs each item has, shape [n]."""

    @property
    def inside(self) -> int:
        """How many of the pixels show an item."""
        return int(self.visible.sum())


def scope_of(gbuffer: GBuffer, names: Sequence[str]) -> Scope:
    """Find the pixels that meters of some items need, in the only image of a G-buffer of numpy arrays.

    Args:
        gbuffer: What the pixels show.
        names: Names of the items.

    Raises:
        UnknownName: The G-buffer has no item of such a name.
    """
    wanted = np.full(len(gbuffer.names) + 1, -1)
    for place, name in enumerate(names):
        if name not in gbuffer.names:
            raise UnknownName("item", name, gbuffer.names)
        wanted[gbuffer.names.index(name)] = place
    shown = gbuffer.instance[0]
    chosen = [gbuffer.names.index(name) for name in names]
    # Items come before all else: the many pixels that show bins and table are left out quickly.
    items = np.flatnonzero((shown >= 0) & (shown <= max(chosen, default=NOTHING)))
    owner = wanted[shown[items]]
    items, owner = items[owner >= 0], owner[owner >= 0]
    order = np.argsort(owner, kind="stable")
    items, owner = items[order], owner[order]
    here, there = _pairs(items, gbuffer)
    border = shown[here] != shown[there]
    here, there = here[border], there[border]
    owned = wanted[shown[here]]
    order = np.argsort(owned, kind="stable")
    here, there = here[order], there[order]
    pixels = np.concatenate([items, np.unique(there[wanted[shown[there]] < 0])])
    index = np.empty(shown.size, np.int64)
    index[pixels] = np.arange(len(pixels))
    count = len(names)
    return Scope(
        names=tuple(names),
        pixels=pixels,
        visible=np.bincount(owner, minlength=count),
        alone=np.asarray(gbuffer.alone)[0, chosen],
        inner=index[here],
        outer=index[there],
        borders=np.bincount(owned, minlength=count),
    )


def sums_by_item(values: Any, counts: Places) -> NDArray[np.float64]:
    """Add up values of each item, which follow each other, in 64 bits.

    Args:
        values: Rows of values, shape [r, m].
        counts: How many of the m belong to each item, shape [n]; those after them to none.

    Returns:
        Sums, shape [r, n]; 0 where an item has none.
    """
    total = np.zeros((len(values), len(counts)))
    there = np.flatnonzero(counts)
    if len(there):
        starts = (np.cumsum(counts) - counts)[there]
        used = values[:, : int(counts.sum())]
        total[:, there] = np.add.reduceat(used, starts, axis=1, dtype=np.float64)
    return total


def _pairs(pixels: Places, gbuffer: GBuffer) -> tuple[Places, Places]:
    """Return pixels with each of their up to four neighbours, as places in the row, shape [q] each."""
    width, height = gbuffer.width_px, gbuffer.height_px
    row, column = np.divmod(pixels, width)
    here, there = [], []
    for inside, step in ((column < width - 1, 1), (column > 0, -1), (row < height - 1, width), (row > 0, -width)):
        here.append(pixels[inside])
        there.append(here[-1] + step)
    return np.concatenate(here), np.concatenate(there)
