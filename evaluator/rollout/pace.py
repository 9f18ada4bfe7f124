"""How far rollouts are, tick by tick."""

from __future__ import annotations

from typing import NamedTuple


class Pace(NamedTuple):
    """What worlds did in one tick."""

    worlds: int
    """How many play."""
    tick_s: float
    """Simulated time of the tick in each of them [s]."""
    age_s: float
    """Simulated time of the oldest of their episodes [s]."""
    allowed_s: float
    """How long that one may take [s]."""
