"""One episode for each scenario and seed, however often it was attempted, and where attempts disagree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from evaluator.judging.episode import Episode
from evaluator.judging.outcome import Outcome


class Chosen(NamedTuple):
    """The episodes that count, and what was left aside."""

    episodes: tuple[Episode, ...]
    """One for each run, scenario and seed, in their order."""
    conflicts: tuple[tuple[Episode, ...], ...]
    """Attempts at one rollout that came out differently though none was lost: to be looked into, never averaged."""


def one_each(episodes: Iterable[Episode]) -> Chosen:
    """Choose the first attempt at each rollout that was not lost; the last one where all were.

    A rollout is attempted again because it was lost, and not to do better: a later attempt never replaces a judged one.
    The same episode twice, as merged shards may hold it, counts once.
    """
    attempts: dict[tuple[str, str, int], dict[str, Episode]] = {}
    for episode in episodes:
        key = episode.key
        attempts.setdefault((key.run_id, key.scenario_id, key.seed), {})[episode.content_id] = episode
    chosen, conflicts = [], []
    for _, found in sorted(attempts.items()):
        rows = sorted(found.values(), key=lambda episode: (episode.key.attempt, episode.content_id))
        judged = [episode for episode in rows if episode.outcome is not Outcome.INFRA_ERROR]
        chosen.append(judged[0] if judged else rows[-1])
        if len({episode.outcome for episode in judged}) > 1:
            conflicts.append(tuple(judged))
    return Chosen(tuple(chosen), tuple(conflicts))
