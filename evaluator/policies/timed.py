"""Policies that know how long each world's answer took."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class Timed(Protocol):
    """A policy that asks or thinks for one world after another: the time of the whole call is nobody's latency."""

    answered_in_s: NDArray[np.float64]
    """How long each answer of the last call took [s], shape [n]."""
