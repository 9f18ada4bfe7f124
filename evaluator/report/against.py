"""A run against another one on the scenes and seeds that both played."""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.judging.episode import Episode
from evaluator.judging.origin import Origins, origin_of, setting_of
from evaluator.judging.retention import Pair, Retention, compare
from evaluator.judging.stability import flip_rate
from evaluator.judging.unique import one_each
from evaluator.rollout.run import Run
from scenegen.record import Record, canonical_text
from validators.intervals import Rate

APART = ("policy", "explains", "version")
"""Fields of a run that are no conditions of the shared scenes: who is evaluated, and which other scenes there were."""


class Against(Record):
    """Success of a run less that of another one, by axis and level; in `Retention`, twins are the other run's."""

    run_id: str
    """The other run."""
    run: Run
    differing: dict[str, tuple[str, str]]
    """Conditions that are not the same: this run's and the other's."""
    whole: Retention
    """All shared scenes together."""
    levels: tuple[Retention, ...]
    flips: Rate
    """Share of the shared rollouts that came out differently."""


def against(
    episodes: Sequence[Episode], run: Run, others: Sequence[Episode], other: Run, other_id: str, origins: Origins
) -> Against:
    """Compare a run with another one.

    Args:
        episodes: Its episodes, one for each rollout.
        run: Its conditions.
        others: The other's episodes, with all attempts.
        other: The other's conditions.
        other_id: The other's id.
        origins: Where the scenarios of the run came from.

    Raises:
        UnknownName: Nothing is known of a scenario.
    """
    theirs = one_each(others).episodes
    known = {(one.key.scenario_id, one.key.seed): one.counts for one in theirs}
    groups: dict[tuple[str, int], list[Pair]] = {}
    for episode in episodes:
        place = (episode.key.scenario_id, episode.key.seed)
        if place in known:
            origin = origin_of(episode, origins)
            groups.setdefault(setting_of(origin), []).append(Pair(origin.base_id, known[place], episode.counts))
    return Against(
        run_id=other_id,
        run=other,
        differing=_differing(run, other),
        whole=compare([pair for pairs in groups.values() for pair in pairs], axis="", level=0),
        levels=tuple(compare(pairs, axis=axis, level=level) for (axis, level), pairs in sorted(groups.items())),
        flips=flip_rate(episodes, theirs),
    )


def _differing(run: Run, other: Run) -> dict[str, tuple[str, str]]:
    mine, theirs = (one.model_dump(mode="json") for one in (run, other))
    return {
        name: (_text(mine.get(name)), _text(theirs.get(name)))
        for name in sorted(mine.keys() | theirs.keys())
        if name not in APART and mine.get(name) != theirs.get(name)
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) else canonical_text(value)
