"""Success of pairs, a scene and its unperturbed twin on the same seed: difference and ratio with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from scipy.special import bdtr

from validators.intervals import Z_95

TOLERANCE = 1e-9
"""How exactly the ends of an interval are found."""
LARGEST_RATIO = 1e6
"""Ratios beyond this are taken as unbounded."""


class PairCounts(NamedTuple):
    """How pairs came out. Counts need not be whole: pairs that depend on each other are worth fewer."""

    both: float
    """Twin and scene succeeded."""
    lost: float
    """The twin succeeded and the scene failed."""
    gained: float
    """The twin failed and the scene succeeded."""
    neither: float

    @property
    def pairs(self) -> float:
        """All pairs."""
        return self.both + self.lost + self.gained + self.neither

    def by(self, effect: float) -> PairCounts:
        """Return the counts divided by a design effect."""
        return PairCounts(*(count / effect for count in self))


def difference_interval(counts: PairCounts, z: float = Z_95) -> tuple[float, float]:
    """Return Tango's score interval of the difference in success, scene less twin (Tango 1998).

    It is sound for small numbers and at the ends: no discordant pair, all or none succeeded. Without pairs it is
    everything.

    Args:
        counts: How the pairs came out.
        z: Standard normal quantile; 95 % by default.
    """
    if not counts.pairs:
        return -1.0, 1.0
    best = (counts.gained - counts.lost) / counts.pairs

    def score(difference: float) -> float:
        return _difference_score(counts, difference)

    low = -1.0 if score(-1.0) <= z else _root(lambda at: score(at) - z, -1.0, best)
    high = 1.0 if score(1.0) >= -z else _root(lambda at: score(at) + z, best, 1.0)
    return low, high


def ratio_interval(counts: PairCounts, z: float = Z_95) -> tuple[float, float] | None:
    """Return the score interval of the ratio of success, scene by twin (Nam and Blackwelder 2002; Tang et al. 2003).

    Args:
        counts: How the pairs came out.
        z: Standard normal quantile; 95 % by default.

    Returns:
        The interval, infinite above where nothing bounds it; None where no twin succeeded: there is no ratio then.
    """
    twins = counts.both + counts.lost
    if not twins:
        return None
    best = (counts.both + counts.gained) / twins

    def score(log_ratio: float) -> float:
        return _ratio_score(counts, math.exp(log_ratio))

    bottom, top = -math.log(LARGEST_RATIO), math.log(LARGEST_RATIO)
    middle = math.log(best) if best else bottom
    low = 0.0 if not best or score(bottom) <= z else math.exp(_root(lambda at: score(at) - z, bottom, middle))
    high = math.inf if score(top) >= -z else math.exp(_root(lambda at: score(at) + z, middle, top))
    return low, high


def mcnemar(lost: int, gained: int) -> float:
    """Return McNemar's exact two-sided p value (McNemar 1947): are losses and gains equally likely?

    Pairs must be independent. Without discordant pairs there is nothing to tell, and it is one.

    Args:
        lost: Pairs in which only the twin succeeded.
        gained: Pairs in which only the scene succeeded.
    """
    discordant = lost + gained
    return min(1.0, 2 * float(bdtr(min(lost, gained), discordant, 0.5))) if discordant else 1.0


def _difference_score(counts: PairCounts, difference: float) -> float:
    """Tango's statistic: falls from above zero to below as the assumed difference grows."""
    n, lost, gained = counts.pairs, counts.lost, counts.gained
    b = -gained - lost + (2 * n - gained + lost) * difference
    c = -lost * difference * (1 - difference)
    q = (math.sqrt(max(b * b - 8 * n * c, 0.0)) - b) / (4 * n)
    variance = n * (2 * q + difference * (1 - difference))
    return _standardised(gained - lost - n * difference, variance)


def _ratio_score(counts: PairCounts, ratio: float) -> float:
    """Tang's statistic: falls as the assumed ratio grows."""
    n, lost = counts.pairs, counts.lost
    scene, twin, any_success = counts.both + counts.gained, counts.both + lost, counts.both + lost + counts.gained
    a = n * (1 + ratio)
    b = twin * ratio**2 - (scene + 2 * lost)
    c = lost * (1 - ratio) * any_success / n
    q = (math.sqrt(max(b * b - 4 * a * c, 0.0)) - b) / (2 * a)
    variance = n * (1 + ratio) * q + any_success * (ratio - 1)
    return _standardised(scene - ratio * twin, variance)


def _standardised(value: float, variance: float) -> float:
    if variance > 1e-12:
        return value / math.sqrt(variance)
    return math.copysign(math.inf, value) if abs(value) > 1e-12 else 0.0


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Find where a falling function crosses zero, by bisection."""
    while high - low > TOLERANCE:
        middle = (low + high) / 2
        if function(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
