"""How often episodes succeeded, and what that would be if all that is missing had gone one way or the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from evaluator.judging.clustered import Tally, clustered_share
from evaluator.judging.episode import Episode
from evaluator.judging.estimate import Estimate
from evaluator.judging.origin import Origins, origin_of
from scenegen.record import Record, Share


class SuccessRate(Record):
    """Share of the episodes that succeeded."""

    rate: Estimate
    """Of the episodes that count, grouped by base."""
    missing: int
    """Episodes that count for nothing: lost, or broken before the robot had touched anything."""
    worst_low: Share
    """Lower end of the interval if all that is missing had failed."""
    worst_high: Share
    """Upper end of the interval if all that is missing had succeeded."""

    @classmethod
    def of(cls, episodes: Sequence[Episode], origins: Origins) -> Self:
        """Count successes.

        Args:
            episodes: One for each rollout.
            origins: Where their scenarios came from.

        Raises:
            UnknownName: Nothing is known of a scenario.
        """
        counted = [(origin_of(episode, origins).base_id, episode.counts) for episode in episodes]
        known = [Tally(base, float(counts), 1) for base, counts in counted if counts is not None]
        lost = [base for base, counts in counted if counts is None]
        failed, won = (clustered_share([*known, *(Tally(base, hits, 1) for base in lost)]) for hits in (0.0, 1.0))
        rate = clustered_share(known, unknown=len(lost))
        low = min(one.low for one in (rate, failed) if one.low is not None)
        high = max(one.high for one in (rate, won) if one.high is not None)
        return cls(rate=rate, missing=len(lost), worst_low=low, worst_high=high)
