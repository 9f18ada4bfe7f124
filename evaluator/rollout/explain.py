"""Explain a run's failures: roll out the twins that are missing, and say what each failure comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import batched
from typing import NamedTuple

from evaluator.judging.attribution import Attribution, Result, attribute
from evaluator.judging.episode import Episode
from evaluator.judging.outcome import Outcome
from evaluator.judging.scorecard import JUDGED, NO_REASON
from evaluator.judging.unique import one_each
from evaluator.policies.knowing import knowing
from evaluator.rollout.kept import KeptRun, episodes_of_run, kept_runs
from evaluator.rollout.run import Run
from evaluator.rollout.twins import Counterfactual, Twin, in_nominal_light, twins_of
from library.layers import Layers
from library.row import Row
from library.snapshot import Snapshot
from library.tables import SCENARIOS
from library.versioned import VersionedLibrary
from scenegen.errors import LibraryError
from scenegen.scenario import Scenario

AT_ONCE = 128
"""Scenes that are built at a time: memory stays flat."""

RollOut = Callable[[Run, Iterator[Scenario], int], Iterable[Episode]]
"""Rolls out so many scenarios under a run's conditions, keeps the episodes under that run, and yields them."""

Place = tuple[str, str, int]
"""Run, scenario and seed of an episode."""


class Explained(NamedTuple):
    """A failed episode and what it comes from."""

    episode: Episode
    attribution: Attribution
    twins: dict[Twin, Episode]
    """The twins that were rolled out."""


class Explainer:
    """Finds the twins of a run's failures in a library, and says what the failures come from.

    Args:
        store: The library.
        snapshot: The version that holds the episodes.
        run_id: The run.
        most: Most failures to look at, those of the scenarios with the lowest ids; 0 takes all.

    Raises:
        LibraryError: There is no such run, or the library is damaged.
    """

    def __init__(self, store: VersionedLibrary, snapshot: Snapshot, run_id: str, *, most: int = 0) -> None:
        self._snapshot, self._layers = snapshot, Layers(store, snapshot)
        runs = {one.id: one for one in kept_runs(store, snapshot)}
        if run_id not in runs:
            raise LibraryError(snapshot.name, f"no run {run_id!r}", "list runs with `scenegen report`")
        self._run = runs[run_id].run
        self._episodes = dict(self._kept(run_id, list(runs.values())))
        own = [episode for (owner, _, _), episode in self._episodes.items() if owner == run_id]
        failed = sorted((one for one in own if one.outcome is Outcome.FAILURE), key=lambda one: one.key.scenario_id)
        self.failures: tuple[Episode, ...] = tuple(failed[: most or None])
        """The failed episodes that are looked at."""
        self._rows = rows_by_id(snapshot, [one.key.scenario_id for one in self.failures])
        bases = {row.provenance.base_id for row in self._rows.values()}
        self._bases = rows_by_id(snapshot, bases)
        keys = {(one.key.scenario_id, one.key.seed) for one in own if one.counts is not None}
        self.twins: tuple[Counterfactual, ...] = tuple(self._twins(keys))
        """All twins that the failures can have, each once a failure."""

    @property
    def broken(self) -> dict[str, int]:
        """Why episodes of the run or of its twins came out as neither success nor failure: they explain nothing."""
        found = [one for one in self._episodes.values() if one.outcome not in JUDGED]
        return dict(Counter(f"{one.outcome.value}: {one.reason or NO_REASON}" for one in found).most_common())

    @property
    def missing(self) -> dict[str, list[Counterfactual]]:
        """Twins that were not rolled out yet, each scenario once, by the id of the run that they belong to."""
        found: dict[Place, Counterfactual] = {}
        for one in self.twins:
            if one.place not in self._episodes:
                found.setdefault(one.place, one)
        by_run: dict[str, list[Counterfactual]] = {}
        for one in found.values():
            by_run.setdefault(one.run_id, []).append(one)
        return by_run

    def roll(self, roll_out: RollOut) -> None:
        """Roll out the twins that are missing.

        Args:
            roll_out: Rolls scenarios out and keeps their episodes.
        """
        for twins in self.missing.values():
            for episode in roll_out(twins[0].run, self._scenarios(twins), len(twins)):
                self._episodes[_place(episode)] = episode

    def explained(self) -> tuple[Explained, ...]:
        """Say what each failure comes from, as far as the twins that are there tell."""
        own_truth = knowing(self._run.policy) == self._run.policy
        twins: dict[Place, dict[Twin, Episode]] = {}
        for one in self.twins:
            if (episode := self._episodes.get(one.place)) is not None:
                twins.setdefault((one.of.run_id, one.of.scenario_id, one.of.seed), {})[one.twin] = episode
        found = []
        for failure in self.failures:
            known = twins.get(_place(failure), {})
            results = {twin: Result.of(episode) for twin, episode in known.items()}
            own = Result(failure.category)
            truth = own if own_truth else results.get(Twin.TRUTH)
            light, base = results.get(Twin.NOMINAL_LIGHT), results.get(Twin.UNPERTURBED)
            if attribution := attribute(own, truth=truth, nominal_light=light, unperturbed=base):
                found.append(Explained(failure, attribution, known))
        return tuple(found)

    def _kept(self, run_id: str, runs: Sequence[KeptRun]) -> Iterator[tuple[Place, Episode]]:
        for one in runs:
            if one.id == run_id or one.run.explains == run_id:
                for episode in one_each(episodes_of_run(self._snapshot, one.id)).episodes:
                    yield _place(episode), episode

    def _twins(self, own: set[tuple[str, int]]) -> Iterator[Counterfactual]:
        for some in batched(self.failures, AT_ONCE):
            rows = [self._row(one.key.scenario_id) for one in some]
            for failure, row, scene in zip(some, rows, self._snapshot.scenarios(rows), strict=True):
                base_id = row.provenance.base_id if row.provenance.base_id in self._bases else None
                lit = in_nominal_light(scene, *self._layers.cell_and_parts(row))
                yield from twins_of(failure.key, self._run, scene=scene, base_id=base_id, nominal_id=lit.id, own=own)

    def _scenarios(self, twins: Sequence[Counterfactual]) -> Iterator[Scenario]:
        for some in batched(twins, AT_ONCE):
            rows = [self._row(one.of.scenario_id) for one in some]
            wanted = [
                self._bases[one.scenario_id] if one.twin is Twin.UNPERTURBED else row
                for one, row in zip(some, rows, strict=True)
            ]
            for one, row, scene in zip(some, wanted, self._snapshot.scenarios(wanted), strict=True):
                lit = one.twin is Twin.NOMINAL_LIGHT
                yield in_nominal_light(scene, *self._layers.cell_and_parts(row)) if lit else scene

    def _row(self, scenario_id: str) -> Row:
        return row_of(self._rows, scenario_id, self._snapshot)


def rows_by_id(snapshot: Snapshot, scenario_ids: Iterable[str]) -> dict[str, Row]:
    """Return the rows of scenarios by id, also of what left the set since; of several roads the last."""
    columns = snapshot.table(SCENARIOS.name).look_up("scenario_id", scenario_ids)
    return {one["scenario_id"]: Row.of(one) for one in columns}


def row_of(rows: dict[str, Row], scenario_id: str, snapshot: Snapshot) -> Row:
    """Return the row of an episode's scenario.

    Raises:
        LibraryError: This version does not hold it.
    """
    if scenario_id not in rows:
        reason = f"scenario {scenario_id} of an episode is not in this version"
        raise LibraryError(snapshot.name, reason, "name a version that holds it: --version")
    return rows[scenario_id]


def _place(episode: Episode) -> Place:
    return episode.key.run_id, episode.key.scenario_id, episode.key.seed
