"""Shares of trials that come in groups: variants of one base, items of one episode are not independent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from evaluator.judging.estimate import Estimate
from scenegen.geometry import Array
from scenegen.units import Unit
from validators.intervals import Z_95, wilson


class Tally(NamedTuple):
    """Hits and trials of one group."""

    group: str
    hits: float
    trials: float


def clustered_share(tallies: Sequence[Tally], *, unknown: int = 0) -> Estimate:
    """Estimate a share from trials in groups: Wilson's interval with as many trials as they are worth.

    Without trials nothing is known, and the interval is everything.

    Args:
        tallies: Hits and trials; those of one group may stand in several.
        unknown: Episodes of which nothing was known.
    """
    hits, trials = grouped(tallies)
    total, number = float(hits.sum()), float(trials.sum())
    effect = design_effect(hits, trials)
    low, high = wilson(total / effect, number / effect)
    return Estimate(
        value=total / number if number else None,
        low=low,
        high=high,
        unit=Unit.SHARE,
        count=round(number),
        groups=len(trials),
        unknown=unknown,
    )


def grouped(tallies: Sequence[Tally]) -> tuple[Array, Array]:
    """Add up hits and trials by group, in the order of the groups' names; each of shape [groups]."""
    sums: dict[str, list[float]] = {}
    for tally in tallies:
        if tally.trials:
            of = sums.setdefault(tally.group, [0.0, 0.0])
            of[0], of[1] = of[0] + tally.hits, of[1] + tally.trials
    rows = np.array([sums[group] for group in sorted(sums)]).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


def design_effect(hits: Array, trials: Array, *, naive: float | None = None) -> float:
    """Say how many trials in groups are worth one that is independent.

    It is the variance of the mean between groups by that of independent trials (Rao and Scott 1992, "A simple method
    for the analysis of clustered binary data"), made larger where few groups tell it (Korn and Graubard 1998:
    Student's t with groups - 1 degrees of freedom in place of the normal quantile). It is one where every group has one
    trial, and at most what it would be if trials of one group always agreed (Kish 1965: the sum of squared sizes by the
    sum of sizes). That is taken where all trials agree, or there is one group alone: nothing can be seen then.

    Args:
        hits: Sum of the trials' values by group, shape [groups].
        trials: Number of trials by group, none of them zero, shape [groups].
        naive: Variance of one trial; that of a share, p (1 - p), by default.
    """
    number = float(trials.sum())
    if not number:
        return 1.0
    most = float((trials**2).sum()) / number
    mean, groups = float(hits.sum()) / number, len(trials)
    single = mean * (1 - mean) if naive is None else naive
    if groups < 2 or single <= 0:
        return most
    between = groups / (groups - 1) * float(((hits - mean * trials) ** 2).sum()) / number
    few = (float(stdtrit(groups - 1, 0.975)) / Z_95) ** 2
    return min(max(between / single, 1.0) * few, most)
