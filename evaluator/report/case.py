"""Single episodes that a report shows: the worst scenes, examples of each failure, some timelines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from evaluator.judging.attribution import Attribution
from evaluator.judging.category import FailureCategory
from evaluator.judging.episode import Episode
from evaluator.judging.event import EventKind
from evaluator.judging.origin import Origins, origin_of, setting_of
from evaluator.judging.outcome import Outcome
from evaluator.judging.scorecard import BROKEN
from scenegen.record import Record

WORST = 8
"""Scenes that are shown as the worst ones."""
EXAMPLES = 4
"""Examples of each failure category."""
TIMELINES = 4
"""Episodes whose events are drawn: the first examples of the commonest failures, and a success."""


class Case(Record):
    """One episode, with where its scene comes from and what its failure comes from."""

    episode: Episode
    axis: str
    """Empty for a base; several axes joined by `+`."""
    level: int
    attribution: Attribution | None = None
    """None where nothing failed."""

    @property
    def scenario_id(self) -> str:
        """Its scene."""
        return self.episode.key.scenario_id

    @property
    def setting(self) -> str:
        """Axis and level in words."""
        return f"{self.axis.replace('+', ' + ')}, level {self.level}" if self.axis else "base"

    @property
    def sorted_share(self) -> float:
        """Share of the parts to sort that were sorted; zero where it was not measured, one where there were none."""
        task = self.episode.task
        if task is None:
            return 0.0
        return 1.0 if task.sorted_share is None else task.sorted_share

    @property
    def verdict(self) -> str:
        """Failure category, or the outcome."""
        return (self.episode.category or self.episode.outcome).value.replace("_", " ")

    @property
    def sorted_text(self) -> str:
        """`2 of 5 sorted`."""
        task = self.episode.task
        return "not measured" if task is None else f"{task.sorted} of {task.to_sort} sorted"

    @property
    def still_text(self) -> str:
        """Of a robot that stood still to the end: for how long, and that its policy was asked; nothing of others."""
        episode = self.episode
        stood = [event for event in episode.events if event.kind is EventKind.STAGNATION and event.value is not None]
        if episode.category is not FailureCategory.STAGNATION or not stood:
            return ""
        text = f"the robot stood still for {stood[-1].value:.1f} s"
        calls = episode.latencies.count
        return f"{text}; the policy answered {calls} times in {episode.duration_s:.1f} s" if calls else text

    @property
    def cause_text(self) -> str:
        """What the failure comes from, or nothing."""
        return self.attribution.cause.value if self.attribution else ""


def cases_of(
    episodes: Iterable[Episode], origins: Origins, attributions: dict[tuple[str, int], Attribution]
) -> list[Case]:
    """Put episodes beside where their scenes come from.

    Args:
        episodes: One for each rollout.
        origins: Where their scenarios came from.
        attributions: What failures come from, by scenario and seed.

    Raises:
        UnknownName: Nothing is known of a scenario.
    """
    found = []
    for episode in episodes:
        axis, level = setting_of(origin_of(episode, origins))
        attribution = attributions.get((episode.key.scenario_id, episode.key.seed))
        found.append(Case(episode=episode, axis=axis, level=level, attribution=attribution))
    return found


def worst(cases: Sequence[Case], count: int = WORST) -> tuple[Case, ...]:
    """Choose what failed with the lowest sorted share; among equals axes take turns, high levels first."""
    failed = [case for case in cases if case.episode.counts is False and case.episode.outcome not in BROKEN]
    return _in_turn(failed, count, lambda case: case.sorted_share)


def examples(cases: Sequence[Case], count: int = EXAMPLES) -> dict[FailureCategory, tuple[Case, ...]]:
    """Choose examples of each failure category, the commonest first; axes take turns, high levels first."""
    numbers = Counter(case.episode.category for case in cases if case.episode.category is not None)
    order = sorted(numbers, key=lambda category: (-numbers[category], category))
    return {
        category: _in_turn([case for case in cases if case.episode.category is category], count, lambda case: 0.0)
        for category in order
    }


def with_timeline(cases: Sequence[Case], shown: dict[FailureCategory, tuple[Case, ...]]) -> tuple[Case, ...]:
    """Choose episodes whose events are drawn."""
    failures = [ones[0] for ones in shown.values()][: TIMELINES - 1]
    won = [case for case in cases if case.episode.outcome is Outcome.SUCCESS and case.episode.events]
    by_length = sorted(won, key=lambda case: (case.episode.duration_s, case.scenario_id))
    return tuple(case for case in (*failures, *by_length[len(won) // 2 :][:1]) if case.episode.events)


def _in_turn(cases: Sequence[Case], count: int, badness: Callable[[Case], float]) -> tuple[Case, ...]:
    left = sorted(cases, key=lambda case: (badness(case), -case.level, case.scenario_id, case.episode.key.seed))
    seen: Counter[str] = Counter()
    chosen: list[Case] = []
    while left and len(chosen) < count:
        # Sorting is stable: among equally bad ones of axes seen equally often, the order above holds.
        best = min(left, key=lambda case: (badness(case), seen[case.axis]))
        left.remove(best)
        seen[best.axis] += 1
        chosen.append(best)
    return tuple(chosen)
