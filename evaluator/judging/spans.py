"""Runs of samples in which something holds."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from evaluator.judging.trace import Flags
from scenegen.geometry import Array


class Span(NamedTuple):
    """Samples from `start` up to but not including `end`."""

    start: int
    end: int


def spans(flags: Flags) -> list[Span]:
    """Return the runs of true values, in order.

    Args:
        flags: Shape [t].
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [Span(int(start), int(end)) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def bridged(flags: Flags, time_s: Array, *, gap_s: float) -> Flags:
    """Return the flags with gaps of at most `gap_s` between two true values filled: contacts flicker.

    Args:
        flags: Shape [t].
        time_s: Times [s], shape [t].
        gap_s: Longest gap that is filled [s].
    """
    filled, runs = flags.copy(), spans(flags)
    for before, after in pairwise(runs):
        if time_s[after.start] - time_s[before.end - 1] <= gap_s * (1 + 1e-9):
            filled[before.end : after.start] = True
    return filled
