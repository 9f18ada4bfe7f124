"""How much of its success a policy keeps on each axis and level, against the unperturbed twins on the same seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from evaluator.judging.clustered import Tally, clustered_share, design_effect, grouped
from evaluator.judging.episode import Episode
from evaluator.judging.estimate import Estimate
from evaluator.judging.origin import Origins, origin_of, setting_of
from evaluator.judging.paired import PairCounts, difference_interval, mcnemar, ratio_interval
from evaluator.judging.unique import one_each
from scenegen.record import Real, Record
from scenegen.units import Unit

LEAST_TWINS = 0.2
"""Least success of the twins with which a ratio is told: below it the ratio explodes."""
LEAST_PAIRS = 20
"""Fewest pairs with which a ratio is told."""


class Pair(NamedTuple):
    """A scene and its twin on the same seed; None is missing."""

    base: str
    twin: bool | None
    scene: bool | None

    @property
    def known(self) -> bool:
        """Both were judged."""
        return self.twin is not None and self.scene is not None


class Retention(Record):
    """Success on one axis at one level against the twins."""

    axis: str
    level: int
    """Zero where all levels are taken together."""
    both: int
    """Pairs in which twin and scene succeeded."""
    lost: int
    """Pairs in which the twin alone succeeded."""
    gained: int
    """Pairs in which the scene alone succeeded."""
    neither: int
    missing: int
    """Pairs of which one side or both are missing: lost, or never rolled out."""
    twins: Estimate
    """Success of the twins, a scene each: a twin counts as often as it has scenes."""
    scenes: Estimate
    """Success of the scenes."""
    difference: Estimate
    """Scenes less twins, with Tango's interval."""
    worst_low: Real
    """Lower end of the difference's interval if what is missing had gone against the scenes."""
    worst_high: Real
    """Upper end of it if what is missing had gone for them."""
    ratio: Estimate | None
    """Scenes by twins: what is retained."""
    no_ratio: str | None
    """Why there is no ratio."""
    p_value: Annotated[float, Field(ge=0, le=1)] | None
    """McNemar's exact one; None where pairs share a base and are not independent."""


def retention(episodes: Iterable[Episode], origins: Origins, *, by_level: bool = True) -> tuple[Retention, ...]:
    """Compare scenes with their twins, by axis and level.

    Several variants share a twin, so pairs of one base depend on each other: intervals are as wide as if there were
    fewer pairs, by the design effect of the differences.

    Args:
        episodes: Episodes of a run, bases among them, with all attempts.
        origins: Where their scenarios came from.
        by_level: Whether levels are told apart; else all of an axis are taken together.

    Raises:
        UnknownName: Nothing is known of a scenario.
    """
    groups: dict[tuple[str, int], list[Pair]] = {}
    for (axis, level), pair in _pairs(one_each(episodes).episodes, origins):
        groups.setdefault((axis, level if by_level else 0), []).append(pair)
    return tuple(compare(pairs, axis=axis, level=level) for (axis, level), pairs in sorted(groups.items()))


def compare(pairs: Sequence[Pair], *, axis: str, level: int) -> Retention:
    """Compare scenes with their twins.

    Args:
        pairs: Pairs of one axis and level.
        axis: Its name.
        level: The level.
    """
    known = [pair for pair in pairs if pair.known]
    missing, counts = len(pairs) - len(known), _counts(known)
    twins, scenes = (
        clustered_share([Tally(pair.base, float(bool(side(pair))), 1) for pair in known], unknown=missing)
        for side in (lambda pair: pair.twin, lambda pair: pair.scene)
    )
    low, high = _difference(known)
    against = _difference([Pair(pair.base, pair.twin is not False, pair.scene is True) for pair in pairs])
    in_favour = _difference([Pair(pair.base, pair.twin is True, pair.scene is not False) for pair in pairs])
    shared = {
        "axis": axis,
        "level": level,
        "missing": missing,
        "twins": twins,
        "scenes": scenes,
        **{name: int(count) for name, count in counts._asdict().items()},
    }
    refusal = _no_ratio(counts)
    return Retention(
        **shared,
        difference=Estimate(
            value=(counts.gained - counts.lost) / counts.pairs if known else None,
            low=low,
            high=high,
            unit=Unit.SHARE,
            count=len(known),
            groups=scenes.groups,
            unknown=missing,
        ),
        worst_low=min(low, against[0]),
        worst_high=max(high, in_favour[1]),
        ratio=None if refusal else _ratio(known, scenes),
        no_ratio=refusal,
        p_value=mcnemar(int(counts.lost), int(counts.gained)) if scenes.groups == len(known) else None,
    )


def _pairs(episodes: Sequence[Episode], origins: Origins) -> Iterable[tuple[tuple[str, int], Pair]]:
    known = {(one.key.run_id, one.key.scenario_id, one.key.seed): one.counts for one in episodes}
    for episode in episodes:
        origin = origin_of(episode, origins)
        if origin.axes:
            twin = known.get((episode.key.run_id, origin.base_id, episode.key.seed))
            yield setting_of(origin), Pair(origin.base_id, twin, episode.counts)


def _counts(pairs: Sequence[Pair]) -> PairCounts:
    outcomes = [(pair.twin, pair.scene) for pair in pairs]
    return PairCounts(*(float(outcomes.count(one)) for one in _OUTCOMES))


_OUTCOMES = ((True, True), (True, False), (False, True), (False, False))
"""Of twin and scene, in the order of `PairCounts`."""


def _difference(pairs: Sequence[Pair]) -> tuple[float, float]:
    """Interval of the difference of pairs that are grouped by base."""
    return difference_interval(_counts(pairs).by(_effect(pairs)))


def _effect(pairs: Sequence[Pair], ratio: float = 1.0) -> float:
    """Design effect of scene less `ratio` times twin, with the bases as groups: what the variance is that of."""
    values = [float(bool(pair.scene)) - ratio * float(bool(pair.twin)) for pair in pairs]
    tallies = [Tally(pair.base, value, 1) for pair, value in zip(pairs, values, strict=True)]
    return design_effect(*grouped(tallies), naive=float(np.var(values)) if values else 0.0)


def _no_ratio(counts: PairCounts) -> str | None:
    if counts.pairs < LEAST_PAIRS:
        return f"{int(counts.pairs)} pairs - accepted: {LEAST_PAIRS} at least"
    twins = (counts.both + counts.lost) / counts.pairs
    if twins < LEAST_TWINS:
        return f"twins succeed in {twins:.1%} - accepted: {LEAST_TWINS:.0%} at least"
    return None


def _ratio(pairs: Sequence[Pair], scenes: Estimate) -> Estimate:
    counts = _counts(pairs)
    value = (counts.both + counts.gained) / (counts.both + counts.lost)
    interval = ratio_interval(counts.by(_effect(pairs, value)))
    assert interval is not None
    return Estimate(
        value=value,
        low=interval[0],
        high=interval[1] if np.isfinite(interval[1]) else None,
        unit=Unit.FACTOR,
        count=scenes.count,
        groups=scenes.groups,
        unknown=scenes.unknown,
    )
