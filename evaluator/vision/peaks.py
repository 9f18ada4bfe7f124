"""From maps to peaks: the places where the net says that a part can be taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from evaluator.vision.net import ANGLES, STRIDE, Maps
from evaluator.vision.room import Fingers, missing_room
from scenegen.geometry import Array

MOST = 32
"""Peaks of an image that are looked at: as many as a cell can hold items."""
LEAST = 0.3
"""Least probability of a peak."""
APART_CELLS = 2
"""Peaks lie at least so far apart, along rows and columns [cells]."""
DIRECTIONS = 3
"""Closing directions of a peak that are kept, best first."""
WORTH = 0.9
"""What a direction is worth less for each pixel that the fingers must open farther than the net says."""
NO_ROOM = 0.05
"""What is left of its worth where there is no room at all: it may be chosen if there is no other."""
_TINY = 1e-9


@dataclass(frozen=True, eq=False)
class Peaks:
    """Where parts can be taken in one image; p peaks, the surest first."""

    chance: Array
    """What the net makes of it, 0 to 1, shape [p]."""
    part: NDArray[np.int_]
    """Class, from 1, shape [p]."""
    pixel: Array
    """Column and row from the upper left corner of the image [px], shape [p, 2]."""
    angle: Array
    """Closing directions from the image's rows toward its lower edge [rad], best first, shape [p, DIRECTIONS]."""
    fits: Array
    """How well the fingers can close along each, 0 to 1, shape [p, DIRECTIONS]."""
    width: Array
    """Distance of the contacts along each as a share of the opening, shape [p, DIRECTIONS]."""
    height: Array
    """Height of the contacts as a share of the fingers' length, shape [p]."""


def peaks_of(maps: Maps, fingers: Fingers) -> list[Peaks]:
    """Find the peaks of each image; all work on maps is done where they are.

    Args:
        maps: Of n images.
        fingers: What needs room beside a part.

    Returns:
        One an image.
    """
    rows = table_of(maps, fingers).cpu().numpy().astype(np.float64)
    return [_peaks(rows[index][rows[index, :, 0] >= LEAST], fingers) for index in range(len(rows))]


def table_of(maps: Maps, fingers: Fingers) -> Tensor:
    """Gather what the maps say of the highest places of each image, on their device.

    Args:
        maps: Of n images.
        fingers: What needs room beside a part.

    Returns:
        The rows that peaks are read from, surest first, shape [n, MOST or fewer, 11 + 2 ANGLES].
    """
    spot = torch.sigmoid(maps.spot)
    best, part = spot.max(dim=1)
    count, height, width = best.shape
    side = 2 * APART_CELLS + 1
    highest = functional.max_pool2d(best[:, None], side, stride=1, padding=APART_CELLS)[:, 0]
    flat = torch.where(best == highest, best, 0.0).flatten(1)
    chance, place = flat.topk(min(MOST, height * width), dim=1)
    row, column = place // width, place % width
    image = torch.arange(count, device=best.device)[:, None].expand_as(place)
    # The five cells of a cross around each peak; at the border of the image the cell itself.
    steps = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))
    cross = [best[image, (row + dy).clamp(0, height - 1), (column + dx).clamp(0, width - 1)] for dy, dx in steps]
    angle = torch.sigmoid(maps.angle.permute(0, 2, 3, 1)[image, row, column])
    wide = maps.width[image, row, column]
    spots = (torch.stack([column, row], dim=-1) + 0.5) * STRIDE
    missing = missing_room(maps.region.argmax(dim=1) > 0, spots, wide, fingers)
    numbers = [chance, part[image, row, column], row, column, wide, maps.height[image, row, column], *cross]
    return torch.cat([torch.stack([one.to(best.dtype) for one in numbers], dim=-1), angle, missing], dim=-1)


def _peaks(table: Array, fingers: Fingers) -> Peaks:
    """Read some rows of `table_of`, shape [p, 11 + 2 ANGLES]."""
    middle, above, below, left, right = table[:, 6:11].T
    shift = np.column_stack([_vertex(left, middle, right), _vertex(above, middle, below)])
    closes, missing = table[:, 11 : 11 + ANGLES], table[:, 11 + ANGLES :]
    angle, fits, chosen = directions(closes, closes * np.maximum(WORTH**missing, NO_ROOM))
    more = np.take_along_axis(np.where(np.isfinite(missing), missing, 0.0), chosen, axis=1)
    return Peaks(
        chance=table[:, 0],
        part=table[:, 1].astype(int) + 1,
        pixel=(table[:, [3, 2]] + shift + 0.5) * STRIDE,
        angle=angle,
        fits=fits,
        width=table[:, 4:5] + 2 * more / fingers.opening,
        height=table[:, 5],
    )


def directions(closes: Array, worth: Array) -> tuple[Array, Array, NDArray[np.intp]]:
    """Find the best closing directions, each finer than the steps in which they are given.

    Args:
        closes: How well the fingers can close along each direction, shape [p, ANGLES].
        worth: The same, less where there is little room.

    Returns:
        Angles [rad], what each is worth, best first, and to which direction it is nearest, all of shape [p,
        DIRECTIONS]; where there are fewer peaks than that among the directions, the others are worth nothing.
    """
    peak = (worth > np.roll(worth, 1, axis=1)) & (worth >= np.roll(worth, -1, axis=1))
    peak[np.arange(len(worth)), worth.argmax(axis=1)] = True
    fits = np.where(peak, worth, 0.0)
    chosen = np.argsort(-fits, axis=1, kind="stable")[:, :DIRECTIONS]
    around = (np.take_along_axis(np.roll(closes, step, axis=1), chosen, axis=1) for step in (1, 0, -1))
    return (chosen + _vertex(*around)) * np.pi / ANGLES, np.take_along_axis(fits, chosen, axis=1), chosen


def _vertex(before: Array, middle: Array, after: Array) -> Array:
    """Return where a bell curve through three neighbours has its top, from the middle one, at most half a step."""
    a, b, c = (np.log(np.maximum(one, _TINY)) for one in (before, middle, after))
    bend = a - 2 * b + c
    shift = np.divide(a - c, 2 * bend, out=np.zeros_like(a), where=bend < -_TINY)
    return np.clip(shift, -0.5, 0.5)
