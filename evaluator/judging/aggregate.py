"""Measures of many episodes as estimates: shares by Wilson, means by bootstrap, grouped by base."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np

from evaluator.judging.bootstrap import Fraction, bootstrap_means, sums_by_group
from evaluator.judging.clustered import Tally, clustered_share
from evaluator.judging.episode import Episode
from evaluator.judging.estimate import Estimate
from evaluator.judging.measure_table import MEASURES
from evaluator.judging.measures_timing import Latencies
from scenegen.cell import Limits
from scenegen.units import Unit

LATENCY = "latency"
"""Name of the mean latency; its other figures are named after it."""


def aggregate(
    episodes: Sequence[Episode], bases: Sequence[str], limits: Limits, *, rng: np.random.Generator
) -> dict[str, Estimate]:
    """Estimate every measure of `MEASURES`, and the latency of the policy's calls.

    Args:
        episodes: One for each rollout that was measured.
        bases: The base of each episode's scenario.
        limits: What the line asks for.
        rng: Source of randomness, for the intervals of means.

    Returns:
        Estimates by name, in the order of the table.
    """
    read = {measure.name: [measure.of(episode, limits) for episode in episodes] for measure in MEASURES}
    calls: list[Fraction | None] = [_calls(episode.latencies) for episode in episodes]
    means = {measure.name: measure.unit for measure in MEASURES if not measure.is_share} | {LATENCY: Unit.SECOND}
    fractions = {**read, LATENCY: calls}
    sums = {name: sums_by_group(fractions[name], bases) for name in means}
    intervals = bootstrap_means(sums, rng=rng)
    found = {}
    for name, rows in fractions.items():
        unknown = sum(row is None for row in rows)
        if name not in means:
            tallies = [Tally(base, *row) for base, row in zip(bases, rows, strict=True) if row is not None]
            found[name] = clustered_share(tallies, unknown=unknown)
            continue
        (above, below), interval = sums[name], intervals[name]
        number = float(below.sum())
        found[name] = Estimate(
            value=float(above.sum()) / number if number else None,
            low=interval[0] if interval else None,
            high=interval[1] if interval else None,
            unit=means[name],
            count=round(number),
            groups=int((below > 0).sum()),
            unknown=unknown,
        )
    return found | _latency(reduce(add, (episode.latencies for episode in episodes), Latencies()), found[LATENCY])


def _calls(latencies: Latencies) -> Fraction | None:
    return (latencies.mean * latencies.count, float(latencies.count)) if latencies.count else None


def _latency(calls: Latencies, mean: Estimate) -> dict[str, Estimate]:
    """Estimate what is no mean; of the longest call and of the jitter no interval is told."""
    low, high = calls.p99_interval_s or (None, None)
    no_interval = mean.replaced(low=None, high=None)
    return {
        f"{LATENCY}_p99": mean.replaced(value=calls.p99_s, low=low, high=high),
        f"{LATENCY}_max": no_interval.replaced(value=calls.max_s),
        f"{LATENCY}_jitter": no_interval.replaced(value=calls.jitter_s),
    }
