"""How long a policy takes to answer: mean, p99, maximum, jitter, of an episode or of all of a run."""

from __future__ import annotations

import math
from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from scenegen.record import Record
from validators.intervals import wilson

STEP = 1.02
"""Ratio of neighbouring edges of the histogram: what is read from it is at most 2 % too long, and never too short."""
LEAST_S = 1e-6
"""Upper edge of the lowest bin [s]."""

Finite = Annotated[float, Field(allow_inf_nan=False, ge=0)]


class Latencies(Record):
    """How long calls took, in a form that adds up: a histogram, and exact moments.

    Example:
        >>> both = Latencies.of([0.1, 0.1]) + Latencies.of([0.3])
        >>> both.count, round(both.mean_s, 3), both.max_s
        (3, 0.167, 0.3)
    """

    count: int = 0
    mean: Finite = 0.0
    """Mean [s]; zero of no calls (ask `mean_s`)."""
    squares: Finite = 0.0
    """Sum of the squared distances from the mean [s²]."""
    longest: Finite = 0.0
    bins: dict[int, int] = {}
    """Number of calls by bin; bin k ends at `LEAST_S * STEP ** k`."""

    @classmethod
    def of(cls, seconds: ArrayLike) -> Self:
        """Collect calls.

        Args:
            seconds: How long each took [s], finite and not negative, shape [calls].
        """
        values = np.asarray(seconds, float)
        if not values.size:
            return cls()
        edges = np.maximum(0, np.ceil(np.log(np.maximum(values, LEAST_S) / LEAST_S) / math.log(STEP) - 1e-9))
        keys, counts = np.unique(edges.astype(int), return_counts=True)
        return cls(
            count=len(values),
            mean=float(values.mean()),
            squares=float(((values - values.mean()) ** 2).sum()),
            longest=float(values.max()),
            bins=dict(zip(keys.tolist(), counts.tolist(), strict=True)),
        )

    def __add__(self, other: Latencies) -> Latencies:
        """Add the calls of another collection (Chan, Golub and LeVeque 1979 for the moments)."""
        count = self.count + other.count
        if not self.count or not other.count:
            return self if self.count else other
        apart = other.mean - self.mean
        keys = sorted(self.bins.keys() | other.bins.keys())
        return Latencies(
            count=count,
            mean=self.mean + apart * other.count / count,
            squares=self.squares + other.squares + apart**2 * self.count * other.count / count,
            longest=max(self.longest, other.longest),
            bins={key: self.bins.get(key, 0) + other.bins.get(key, 0) for key in keys},
        )

    @property
    def mean_s(self) -> float | None:
        """Mean [s]; None without calls."""
        return self.mean if self.count else None

    @property
    def jitter_s(self) -> float | None:
        """Standard deviation [s]; None with fewer than two calls."""
        return math.sqrt(self.squares / (self.count - 1)) if self.count > 1 else None

    @property
    def max_s(self) -> float | None:
        """Longest call [s]; None without calls."""
        return self.longest if self.count else None

    @property
    def p99_s(self) -> float | None:
        """Time within which 99 of 100 calls were answered [s], at most 2 % too long; None without calls."""
        return self.quantile_s(0.99)

    @property
    def p99_interval_s(self) -> tuple[float, float] | None:
        """95 % interval of the 99th percentile [s], calls taken as independent; None without calls."""
        low, high = (self.quantile_s(share) for share in wilson(round(0.99 * self.count), self.count))
        return None if low is None or high is None else (low, high)

    def quantile_s(self, share: float) -> float | None:
        """Return the time within which a share of the calls was answered [s]; None without calls."""
        if not self.count:
            return None
        rank, below = math.ceil(share * self.count - 1e-9), 0
        for key, number in sorted(self.bins.items()):
            below += number
            if below >= rank:
                return min(self.longest, LEAST_S * STEP**key)
        return self.longest
