"""What was tried of each scene, and what is still to be tried: lost episodes are tried again, judged ones are not."""

from __future__ import annotations

from collections.abc import Iterable

from evaluator.judging.episode import Episode, EpisodeKey
from evaluator.judging.outcome import Outcome


class Attempts:
    """Episodes of one run, by scenario.

    Args:
        run_id: The run.
        seed: Its seed.
        repeats: How many judged episodes of each scenario are wanted.
        episodes: Those that are kept already.
    """

    def __init__(self, run_id: str, *, seed: int, repeats: int, episodes: Iterable[Episode]) -> None:
        self._run_id, self._seed, self._repeats = run_id, seed, repeats
        self._known: dict[str, list[Episode]] = {}
        for episode in episodes:
            self.add(episode)

    def add(self, episode: Episode) -> None:
        """Take up an episode."""
        found = self._known.setdefault(episode.key.scenario_id, [])
        found.append(episode)
        found.sort(key=lambda one: one.key.attempt)

    def missing(self, scenario_id: str) -> list[EpisodeKey]:
        """Return the keys under which a scenario has still to be rolled out."""
        judged, known = len(self._judged(scenario_id)), self._known.get(scenario_id, [])
        first = 1 + max((one.key.attempt for one in known), default=-1)
        return [
            EpisodeKey(run_id=self._run_id, scenario_id=scenario_id, seed=self._seed, attempt=first + extra)
            for extra in range(self._repeats - judged)
        ]

    def of(self, scenario_ids: Iterable[str]) -> list[Episode]:
        """Return all episodes of some scenarios."""
        return [episode for scenario_id in scenario_ids for episode in self._known.get(scenario_id, [])]

    def ranked(self, rank: int) -> list[Episode]:
        """Return the first, second, … judged episode of each scenario that has so many."""
        found = [self._judged(scenario_id) for scenario_id in self._known]
        return [judged[rank] for judged in found if len(judged) > rank]

    def _judged(self, scenario_id: str) -> list[Episode]:
        return [one for one in self._known.get(scenario_id, []) if one.outcome is not Outcome.INFRA_ERROR]
