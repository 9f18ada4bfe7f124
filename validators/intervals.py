"""Intervals for shares that were counted."""

from __future__ import annotations

import math

from scenegen.record import Record, Share

Z_95 = 1.959963984540054
"""Standard normal quantile at 0.975."""


class Rate(Record):
    """A counted share with its 95 % interval."""

    hits: int
    trials: int
    low: Share
    high: Share

    @property
    def share(self) -> float:
        """Hits a trial; zero without trials."""
        return self.hits / self.trials if self.trials else 0.0

    @classmethod
    def of(cls, hits: int, trials: int) -> Rate:
        """Count a share; without trials the interval is everything."""
        low, high = wilson(hits, trials)
        return cls(hits=hits, trials=trials, low=low, high=high)

    def __str__(self) -> str:
        """Return `hits/trials = share [low, high]`."""
        share = f"{self.share:.3f}" if self.trials else "?"
        return f"{self.hits}/{self.trials} = {share} [{self.low:.3f}, {self.high:.3f}]"


def wilson(hits: float, trials: float, z: float = Z_95) -> tuple[float, float]:
    """Return Wilson's score interval of a binomial share (Wilson 1927; Newcombe 1998, method 3).

    Args:
        hits: Successes, 0 to `trials`; fewer than were counted, and not whole, where trials depend on each other.
        trials: Trials; zero gives the interval [0, 1].
        z: Standard normal quantile; 95 % by default.
    """
    if trials == 0:
        return 0.0, 1.0
    share = hits / trials
    middle = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low = 0.0 if hits == 0 else (middle - half) / scale
    high = 1.0 if hits == trials else (middle + half) / scale
    return low, high
