"""How often the same rollouts come out differently: in another batch, in another order, at another time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluator.judging.episode import Episode
from validators.intervals import Rate


def flip_rate(episodes: Iterable[Episode], others: Iterable[Episode]) -> Rate:
    """Return the share of rollouts that succeeded in one run and failed in the other, with its interval.

    It is the floor below which no difference between runs means anything. Rollouts of the same scenario and seed are
    compared; those that are missing in either run are left out.

    Args:
        episodes: Episodes of one run, one for each rollout (see `one_each`).
        others: Those of the other.
    """
    first, second = _successes(episodes), _successes(others)
    shared = first.keys() & second.keys()
    return Rate.of(sum(first[key] is not second[key] for key in shared), len(shared))


def repeated_flip_rate(rounds: Sequence[Iterable[Episode]]) -> Rate:
    """Return the share of repetitions that came out other than the first time, with its interval.

    Args:
        rounds: The first, second, … judged episode of each rollout.
    """
    rates = [flip_rate(rounds[0], again) for again in rounds[1:]]
    return Rate.of(sum(rate.hits for rate in rates), sum(rate.trials for rate in rates))


def _successes(episodes: Iterable[Episode]) -> dict[tuple[str, int], bool]:
    return {
        (episode.key.scenario_id, episode.key.seed): episode.counts
        for episode in episodes
        if episode.counts is not None
    }
