"""When the gripper closes and opens."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from scenegen.geometry import Array

STROKE = 0.02
"""Least change of the opening that is a stroke, as a share: of an 80 mm gripper 1.6 mm, above what drives tremble."""
TAIL = 0.005
"""Share of the opening by which a stroke's ends are told: it has begun, or all but ended."""


class Stroke(NamedTuple):
    """A movement of the gripper in one direction."""

    start: int
    """Last sample before it began."""
    end: int
    """First sample at which it had all but ended."""
    closes: bool


def strokes(opening: Array) -> list[Stroke]:
    """Split a gripper's opening into strokes of `STROKE` at least, in order; they close and open by turns.

    Args:
        opening: Opening as a share, shape [t].
    """
    found: list[Stroke] = []
    turns = _turns(opening)
    for begin, stop in pairwise(turns):
        first, last = opening[begin], opening[stop]
        sign = 1 if last > first else -1
        piece = sign * opening[begin : stop + 1]
        start = begin + max(i for i, value in enumerate(piece) if value <= sign * first + TAIL)
        end = begin + min(i for i, value in enumerate(piece) if value >= sign * last - TAIL)
        found.append(Stroke(min(start, end), end, closes=sign < 0))
    return found


def _turns(opening: Array) -> list[int]:
    """Find the samples at which the opening turns back by `STROKE` or more, with the two ends of what moves."""
    turns: list[int] = []
    low = high = 0
    rising: bool | None = None
    for index, value in enumerate(opening.tolist()):
        if value < opening[low]:
            low = index
        if value > opening[high]:
            high = index
        if rising is not True and value - opening[low] >= STROKE:
            turns.append(low)
            rising, high = True, index
        elif rising is not False and opening[high] - value >= STROKE:
            turns.append(high)
            rising, low = False, index
    if rising is not None:
        turns.append(high if rising else low)
    return turns
