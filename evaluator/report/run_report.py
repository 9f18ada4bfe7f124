"""All that a report says of a run, as data: read from a library, nothing drawn yet."""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.judging.attribution import Cause, Rule, count_causes
from evaluator.judging.category import FailureCategory
from evaluator.judging.clustered import Tally, clustered_share
from evaluator.judging.episode import Episode
from evaluator.judging.estimate import Estimate
from evaluator.judging.retention import Retention, retention
from evaluator.judging.scorecard import Scorecard, score
from evaluator.judging.unique import one_each
from evaluator.policies.knowing import knowing
from evaluator.report.against import Against, against
from evaluator.report.case import Case, cases_of, examples, with_timeline, worst
from evaluator.rollout.explain import Explained, Explainer, row_of, rows_by_id
from evaluator.rollout.kept import KeptRun, episodes_of_run
from evaluator.rollout.kept_uses import use_of_run
from evaluator.rollout.run import Run
from library.layers import Layers
from library.snapshot import Snapshot
from library.versioned import VersionedLibrary
from scenegen.cell import Cell
from scenegen.record import Record
from scenegen.streams import stream
from validators.intervals import Rate


class Causes(Record):
    """What failures come from, counted."""

    shares: dict[Cause, Rate]
    rules: dict[Rule, int]
    """How often each rule decided."""
    perturbed: Rate
    """Share of the failures whose unperturbed twin succeeded, where that was rolled out."""

    @classmethod
    def of(cls, explained: Sequence[Explained]) -> Causes:
        """Count causes."""
        found = [one.attribution for one in explained]
        known = [one.perturbed for one in found if one.perturbed is not None]
        rules = [one.rule for one in found]
        return cls(
            shares=count_causes(found),
            rules={rule: rules.count(rule) for rule in Rule if rule in rules},
            perturbed=Rate.of(sum(known), len(known)),
        )


class RunReport(Record):
    """What a run showed."""

    library: str
    run_id: str
    run: Run
    cell: Cell
    began: str | None
    """When its first and last episodes were committed, ISO 8601, UTC; None where the history does not tell."""
    ended: str | None
    commands: tuple[str, ...]
    """Command lines that made it."""
    card: Scorecard
    axes: tuple[Retention, ...]
    """Against twins, all levels of an axis together."""
    retention: tuple[Retention, ...]
    """The same by axis and level."""
    causes: Causes
    flips: Estimate | None
    """Share of repeats that came out otherwise than the first rollout of their scene; None without repeats."""
    worst: tuple[Case, ...]
    examples: dict[FailureCategory, tuple[Case, ...]]
    """By category, the commonest first."""
    timelines: tuple[Case, ...]
    against: Against | None = None

    @property
    def explainable(self) -> bool:
        """Whether the policy can be given the truth: else only the light can tell a cause."""
        return knowing(self.run.policy) is not None

    @property
    def pictured(self) -> tuple[str, ...]:
        """Scenarios whose pictures are shown, each once."""
        shown = [*self.worst, *(case for cases in self.examples.values() for case in cases)]
        return tuple(dict.fromkeys(case.scenario_id for case in shown))


def run_report(
    store: VersionedLibrary, snapshot: Snapshot, kept: KeptRun, *, other: KeptRun | None = None
) -> RunReport:
    """Gather what a run showed.

    Args:
        store: The library.
        snapshot: The version that holds the episodes.
        kept: The run; it has episodes.
        other: A run to compare it with.

    Raises:
        LibraryError: The version does not hold the scenes of the episodes, or is damaged.
    """
    every = list(episodes_of_run(snapshot, kept.id))
    rows = rows_by_id(snapshot, {one.key.scenario_id for one in every})
    origins = {one.key.scenario_id: row_of(rows, one.key.scenario_id, snapshot).provenance for one in every}
    cell, _ = Layers(store, snapshot).cell_and_parts(next(iter(rows.values())))
    explained = Explainer(store, snapshot, kept.id).explained()
    attributions = {(one.episode.key.scenario_id, one.episode.key.seed): one.attribution for one in explained}
    episodes = one_each(every).episodes
    cases = cases_of(episodes, origins, attributions)
    shown = examples(cases)
    compared, machine = None, use_of_run(snapshot, kept.id)
    if other is not None:
        compared = against(episodes, kept.run, list(episodes_of_run(snapshot, other.id)), other.run, other.id, origins)
    return RunReport(
        library=store.name,
        run_id=kept.id,
        run=kept.run,
        cell=cell,
        began=kept.commits[0].time if kept.commits else None,
        ended=kept.commits[-1].time if kept.commits else None,
        commands=kept.commands,
        card=score(every, origins, cell.limits, rng=stream(kept.run.seed, "scorecard"), machine=machine),
        axes=retention(every, origins, by_level=False),
        retention=retention(every, origins),
        causes=Causes.of(explained),
        flips=flips(episodes),
        worst=worst(cases),
        examples=shown,
        timelines=with_timeline(cases, shown),
        against=compared,
    )


def flips(episodes: Sequence[Episode]) -> Estimate | None:
    """Say how often repeats of a scene came out otherwise than its first rollout; None without repeats.

    Args:
        episodes: One for each scenario and seed.
    """
    by_scene: dict[str, list[bool]] = {}
    for episode in sorted(episodes, key=lambda one: one.key.seed):
        if episode.counts is not None:
            by_scene.setdefault(episode.key.scenario_id, []).append(episode.counts)
    tallies = [
        Tally(scene, sum(one is not first for one in others), len(others))
        for scene, (first, *others) in by_scene.items()
        if others
    ]
    return clustered_share(tallies) if tallies else None
