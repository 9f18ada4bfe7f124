"""Means of many episodes with bootstrap intervals: bases are drawn, since episodes of one base go together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from scenegen.geometry import Array

RESAMPLES = 2000
"""Bootstrap samples: their noise moves an end by about a twentieth of the interval's width."""
AT_ONCE = 100
"""Samples that are drawn at a time: 10^5 bases then take 80 MB."""

Fraction = tuple[float, float]
"""What one episode adds above and below the line: a sum and how many were added, or hits and trials."""
Sums = tuple[Array, Array]
"""Fractions added up by group: above and below the line, each of shape [groups]."""


def sums_by_group(fractions: Sequence[Fraction | None], groups: Sequence[str]) -> Sums:
    """Add up fractions by group, in the order of the groups' names; None adds nothing.

    Args:
        fractions: One an episode.
        groups: The group of each.
    """
    names = {name: index for index, name in enumerate(sorted(set(groups)))}
    rows = np.array([names[group] for group in groups], int)
    parts = np.array([fraction or (0.0, 0.0) for fraction in fractions], float).reshape(-1, 2)
    sums = np.zeros((len(names), 2))
    np.add.at(sums, rows, parts)
    return sums[:, 0], sums[:, 1]


def bootstrap_means(
    sums: Mapping[str, Sums], *, rng: np.random.Generator, resamples: int = RESAMPLES
) -> dict[str, tuple[float, float] | None]:
    """Return the 95 % BCa interval of each mean (Efron 1987), all from the same draws of groups.

    Tails are widened for small numbers of groups (Hesterberg 2015, "What teachers should know about the bootstrap":
    Student's t with groups - 1 degrees of freedom, by the square root of groups / (groups - 1), in place of the normal
    quantile).

    Args:
        sums: Of each measure the sums by group, groups in the same order in all; a mean is what is above the line in
            all groups by what is below.
        rng: Source of randomness.
        resamples: Number of bootstrap samples.

    Returns:
        By measure the interval. None where nothing can be told: fewer than two groups have a known value, or all groups
        have the same, so that no spread was seen.
    """
    names = list(sums)
    totals, counts = (np.array([sums[name][side] for name in names]).reshape(len(names), -1) for side in (0, 1))
    drawn = _draw(totals, counts, rng, resamples)
    return {name: _interval(totals[row], counts[row], drawn[:, row]) for row, name in enumerate(names)}


def _draw(totals: Array, counts: Array, rng: np.random.Generator, resamples: int) -> Array:
    """Draw groups with replacement and return the means, shape [resamples, measures]; NaN where none was known."""
    groups = totals.shape[1]
    means = np.full((resamples, len(totals)), np.nan)
    if groups < 2:
        return means
    for start in range(0, resamples, AT_ONCE):
        size = min(AT_ONCE, resamples - start)
        weights = rng.multinomial(groups, np.full(groups, 1 / groups), size=size).astype(float)
        above, below = weights @ totals.T, weights @ counts.T
        np.divide(above, below, out=means[start : start + size], where=below > 0)
    return means


def _interval(total: Array, count: Array, drawn: Array) -> tuple[float, float] | None:
    groups = int((count > 0).sum())
    if groups < 2:
        return None
    mean = total.sum() / count.sum()
    drawn = drawn[np.isfinite(drawn)]
    if np.ptp(drawn) <= 1e-12 * max(1.0, abs(mean)):
        return None
    below = ((drawn < mean).sum() + (drawn == mean).sum() / 2) / len(drawn)
    bias = ndtri(np.clip(below, 0.5 / len(drawn), 1 - 0.5 / len(drawn)))
    tail = float(stdtrit(groups - 1, 0.975)) * math.sqrt(groups / (groups - 1))
    normal = bias + np.array([-tail, tail])
    skew = 1 - _acceleration(total, count) * normal
    # Beyond the pole of the formula the end is the outermost draw.
    shifted = np.where(skew > 0, bias + normal / np.where(skew > 0, skew, 1.0), np.copysign(np.inf, normal))
    low, high = np.quantile(drawn, ndtr(shifted))
    return float(low), float(high)


def _acceleration(total: Array, count: Array) -> float:
    """Skewness of the mean, from leaving out one group at a time."""
    rest = count.sum() - count
    use = (count > 0) & (rest > 0)
    without = (total.sum() - total[use]) / rest[use]
    apart = without.mean() - without
    spread = float((apart**2).sum())
    return float((apart**3).sum() / (6 * spread**1.5)) if spread > 0 else 0.0
