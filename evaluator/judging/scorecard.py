"""The scorecard of a run: every measure with its interval, success by axis and level, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from evaluator.judging.aggregate import aggregate
from evaluator.judging.category import FailureCategory
from evaluator.judging.confusion import Confusion
from evaluator.judging.episode import Episode
from evaluator.judging.estimate import Estimate
from evaluator.judging.machine_use import MachineUse
from evaluator.judging.origin import Origins, origin_of, setting_of
from evaluator.judging.outcome import Outcome
from evaluator.judging.success_rate import SuccessRate
from evaluator.judging.unique import one_each
from scenegen.cell import Limits
from scenegen.record import Record

MISSING_LIMIT = 0.05
"""Largest share of missing episodes with which a run shows something: beyond it, what is missing decides."""
BROKEN = (Outcome.PHYSICS_INVALID, Outcome.INFRA_ERROR)
"""Outcomes of episodes that are counted and not measured: their traces stop where they broke."""


JUDGED = (Outcome.SUCCESS, Outcome.FAILURE)
"""Outcomes that need no reason."""
NO_REASON = "no reason was kept"
"""In place of a reason, where an episode has none."""


class Reason(Record):
    """Why episodes came out as neither success nor failure."""

    outcome: Outcome
    text: str
    """The error's text, or the flaw of the trace."""
    episodes: int


class LevelScore(Record):
    """Episodes of one axis at one level."""

    axis: str
    """Empty for bases; several axes joined by `+`."""
    level: int
    success: SuccessRate
    categories: dict[FailureCategory, int]
    """Failures by category."""
    others: dict[Outcome, int] = {}
    """Outcomes other than success and failure."""


class Scorecard(Record):
    """What a run showed. None is unknown, and never zero."""

    episodes: int
    """Rollouts, each counted once however often it was attempted."""
    outcomes: dict[Outcome, int]
    conflicts: int
    """Rollouts of which judged attempts disagree; the first one counts."""
    refusal: str | None
    """Why the run shows nothing; None if it does."""
    success: SuccessRate
    measures: dict[str, Estimate]
    """By the names of `MEASURES`, then `latency`, `latency_p99`, `latency_max` and `latency_jitter` of all calls."""
    levels: tuple[LevelScore, ...]
    """By axis and level; bases first."""
    categories: dict[FailureCategory, int]
    reasons: tuple[Reason, ...] = ()
    """Why episodes are neither success nor failure, the commonest first."""
    confusion: Confusion
    machine: MachineUse = MachineUse()


def score(
    episodes: Iterable[Episode],
    origins: Origins,
    limits: Limits,
    *,
    rng: np.random.Generator,
    machine: MachineUse | None = None,
) -> Scorecard:
    """Sum up a run.

    Args:
        episodes: Its episodes with all attempts; their order does not matter.
        origins: Where their scenarios came from.
        limits: What the line asks for.
        rng: Source of randomness, for the intervals of means.
        machine: What the run asked of its machine.

    Raises:
        UnknownName: Nothing is known of a scenario.
    """
    found, conflicts = one_each(episodes)
    sound = [episode for episode in found if episode.outcome not in BROKEN]
    success = SuccessRate.of(found, origins)
    return Scorecard(
        episodes=len(found),
        outcomes=_outcomes(found),
        conflicts=len(conflicts),
        refusal=_refusal(success.missing, len(found)),
        success=success,
        measures=aggregate(sound, [origin_of(one, origins).base_id for one in sound], limits, rng=rng),
        levels=_levels(found, origins),
        categories=_categories(found),
        reasons=_reasons(found),
        confusion=Confusion.of(item for episode in sound for item in episode.items),
        machine=machine or MachineUse(),
    )


def _refusal(missing: int, episodes: int) -> str | None:
    if not episodes:
        return "there are no episodes - accepted: one at least"
    if missing > MISSING_LIMIT * episodes:
        return f"{missing} of {episodes} episodes are missing - accepted: at most {MISSING_LIMIT:.0%} of them"
    return None


def _outcomes(episodes: Sequence[Episode]) -> dict[Outcome, int]:
    counts = Counter(episode.outcome for episode in episodes)
    return {outcome: counts[outcome] for outcome in Outcome if counts[outcome]}


def _categories(episodes: Sequence[Episode]) -> dict[FailureCategory, int]:
    counts = Counter(episode.category for episode in episodes)
    return {category: counts[category] for category in FailureCategory if counts[category]}


def _reasons(episodes: Sequence[Episode]) -> tuple[Reason, ...]:
    counts = Counter(
        (episode.outcome, episode.reason or NO_REASON) for episode in episodes if episode.outcome not in JUDGED
    )
    return tuple(
        Reason(outcome=outcome, text=text, episodes=count)
        for (outcome, text), count in sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    )


def _levels(episodes: Sequence[Episode], origins: Origins) -> tuple[LevelScore, ...]:
    groups: dict[tuple[str, int], list[Episode]] = {}
    for episode in episodes:
        groups.setdefault(setting_of(origin_of(episode, origins)), []).append(episode)
    return tuple(
        LevelScore(
            axis=axis,
            level=level,
            success=SuccessRate.of(group, origins),
            categories=_categories(group),
            others={outcome: count for outcome, count in _outcomes(group).items() if outcome not in JUDGED},
        )
        for (axis, level), group in sorted(groups.items())
    )
