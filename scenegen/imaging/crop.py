"""The part of an image that meters of a few items need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenegen.errors import UnknownName
from scenegen.imaging.gbuffer import GBuffer, Vector

Window = tuple[slice, slice]
"""Rows and columns [px]."""


def window_around(gbuffer: GBuffer, names: Sequence[str]) -> Window:
    """Return the smallest window that holds all visible pixels of some items in all images, and one pixel around.

    In it `measure` reads the same of these items as in the whole image. Where none is visible, it is the first pixel.

    Args:
        gbuffer: What the pixels show, in numpy's arrays.
        names: Names of the items.

    Raises:
        UnknownName: The G-buffer has no item of such a name.
    """
    for name in names:
        if name not in gbuffer.names:
            raise UnknownName("item", name, gbuffer.names)
    wanted = [gbuffer.names.index(name) for name in names]
    shown = np.isin(gbuffer.plane(gbuffer.instance), wanted).any(axis=0)
    rows, columns = np.flatnonzero(shown.any(axis=-1)), np.flatnonzero(shown.any(axis=0))
    return _widened(rows, gbuffer.height_px), _widened(columns, gbuffer.width_px)


def window_pixels(gbuffer: GBuffer, window: Window) -> NDArray[np.int64]:
    """Return the places of a window's pixels in the row of all pixels, `row * width + column`, shape [k]."""
    rows, columns = (np.arange(part.start, part.stop) for part in window)
    return (rows[:, None] * gbuffer.width_px + columns[None, :]).ravel()


def cropped(gbuffer: GBuffer, window: Window) -> GBuffer:
    """Return what the pixels of a window show; `alone` still counts the pixels of whole images."""
    rows, columns = window

    def cut(values: Any) -> Any:
        return gbuffer.plane(values)[:, rows, columns].reshape((values.shape[0], -1))

    def cut_all(values: Vector) -> Vector:
        return cut(values[0]), cut(values[1]), cut(values[2])

    return replace(
        gbuffer,
        height_px=rows.stop - rows.start,
        width_px=columns.stop - columns.start,
        instance=cut(gbuffer.instance),
        normal=cut_all(gbuffer.normal),
        position=cut_all(gbuffer.position),
        depth=cut(gbuffer.depth),
    )


def _widened(places: NDArray[np.int64], size: int) -> slice:
    if not len(places):
        return slice(0, 1)
    return slice(max(int(places[0]) - 1, 0), min(int(places[-1]) + 2, size))
