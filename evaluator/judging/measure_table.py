"""Every measure that a scorecard gives, by name: what is read from an episode, in which unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.judging.bootstrap import Fraction
from evaluator.judging.episode import Episode
from evaluator.judging.measures_motion import MotionMeasures
from evaluator.judging.measures_task import TaskMeasures
from scenegen.cell import Limits
from scenegen.units import Unit

Reader = Callable[[TaskMeasures, MotionMeasures, Limits], Fraction | None]
"""Reads an episode; None where it is not known, or there was nothing to measure."""


@dataclass(frozen=True)
class Measure:
    """One measure."""

    name: str
    unit: Unit
    doc: str
    read: Reader

    @property
    def is_share(self) -> bool:
        """It counts hits of trials; else it is a mean."""
        return self.unit is Unit.SHARE

    def of(self, episode: Episode, limits: Limits) -> Fraction | None:
        """Read the measure from an episode; None where it is not known."""
        if episode.task is None or episode.motion is None:
            return None
        return self.read(episode.task, episode.motion, limits)


def _any(count: int | None) -> Fraction | None:
    """One trial: did it happen at all?"""
    return None if count is None else (float(count > 0), 1.0)


def _one(value: float | None) -> Fraction | None:
    return None if value is None else (float(value), 1.0)


def _most(value: float | None, limit: float) -> Fraction | None:
    """One trial: was the limit kept?"""
    return None if value is None else (float(value <= limit), 1.0)


def _total(values: Sequence[float]) -> Fraction | None:
    return (float(sum(values)), float(len(values))) if values else None


def _share(hits: int, trials: int) -> Fraction | None:
    return (float(hits), float(trials)) if trials else None


def _spread(values: Sequence[float]) -> Fraction | None:
    return (float(np.std(values, ddof=1)), 1.0) if len(values) > 1 else None


MEASURES: tuple[Measure, ...] = (
    Measure("sorted", Unit.SHARE, "parts to sort that lie in their bins", lambda t, m, c: _share(t.sorted, t.to_sort)),
    Measure(
        "missorted",
        Unit.SHARE,
        "items that came into a bin and do not belong there",
        lambda t, m, c: _share(t.missorted, t.sorted + t.missorted),
    ),
    Measure(
        "recovered",
        Unit.SHARE,
        "episodes with an error that end well without intervention",
        lambda t, m, c: None if t.recovered is None else (float(t.recovered), 1.0),
    ),
    Measure("with_miss", Unit.SHARE, "episodes with a missed grasp", lambda t, m, c: _any(t.misses)),
    Measure("with_slip", Unit.SHARE, "episodes in which a part came off", lambda t, m, c: _any(t.slips)),
    Measure("with_drop", Unit.SHARE, "episodes with a drop or a bounce out of a bin", lambda t, m, c: _any(t.drops)),
    Measure("with_double_pick", Unit.SHARE, "episodes with a double pick", lambda t, m, c: _any(t.double_picks)),
    Measure("with_wrong_part", Unit.SHARE, "episodes with a wrong part picked", lambda t, m, c: _any(t.wrong_parts)),
    Measure("with_jam", Unit.SHARE, "episodes with a jam", lambda t, m, c: _any(t.jams)),
    Measure("with_intervention", Unit.SHARE, "episodes with help", lambda t, m, c: _any(t.interventions)),
    Measure("mishaps", Unit.COUNT, "errors with items, an episode", lambda t, m, c: _one(t.mishaps)),
    Measure("drops", Unit.COUNT, "drops, an episode", lambda t, m, c: _one(t.drops)),
    Measure("takt", Unit.SECOND, "time a sorted part", lambda t, m, c: _total(t.takt_s)),
    Measure("takt_spread", Unit.SECOND, "its standard deviation in an episode", lambda t, m, c: _spread(t.takt_s)),
    Measure(
        "takt_kept",
        Unit.SHARE,
        "sorted parts within the cell's takt",
        lambda t, m, c: _share(sum(one <= c.takt_s for one in t.takt_s), len(t.takt_s)),
    ),
    Measure(
        "within_joint_limits",
        Unit.SHARE,
        "episodes with all joints within their limits all the time",
        lambda t, m, c: (float(m.within_limits == 1), 1.0),
    ),
    Measure(
        "joint_margin",
        Unit.RADIAN,
        "least distance from a limit, mean of the episodes",
        lambda t, m, c: _one(m.joint_margin_rad),
    ),
    Measure("within_torque", Unit.SHARE, "episodes within all torque limits", lambda t, m, c: _most(m.torque_peak, 1)),
    Measure(
        "torque_peak",
        Unit.FACTOR,
        "peak torque by its limit, mean of the episodes",
        lambda t, m, c: _one(m.torque_peak),
    ),
    Measure(
        "within_force",
        Unit.SHARE,
        "episodes within the contact force that the cell allows",
        lambda t, m, c: _most(m.force_peak_n, c.contact_force_n),
    ),
    Measure(
        "force_peak",
        Unit.NEWTON,
        "peak contact force with fixtures, mean of the episodes",
        lambda t, m, c: _one(m.force_peak_n),
    ),
    Measure("with_collision", Unit.SHARE, "episodes with a collision", lambda t, m, c: _any(m.collisions)),
    Measure("with_body_hit", Unit.SHARE, "episodes with a part hit by the arm", lambda t, m, c: _any(m.body_hits)),
    Measure(
        "with_carried_hit",
        Unit.SHARE,
        "episodes with a fixture hit by a carried part",
        lambda t, m, c: _any(m.carried_hits),
    ),
    Measure("smoothness", Unit.NONE, "SPARC of the transports", lambda t, m, c: _one(m.smoothness)),
    Measure("jerk", Unit.NONE, "log dimensionless jerk of the transports", lambda t, m, c: _one(m.jerk)),
    Measure("path_ratio", Unit.FACTOR, "way of the transports by the straight one", lambda t, m, c: _one(m.path_ratio)),
    Measure(
        "lowest",
        Unit.METRE,
        "least height of the tool above the table, mean of the episodes",
        lambda t, m, c: _one(m.lowest_m),
    ),
    Measure(
        "placement_error",
        Unit.METRE,
        "distance of placed parts from the middle of their bins",
        lambda t, m, c: _total(m.placement_errors_m),
    ),
    Measure(
        "placement_drift",
        Unit.METRE,
        "growth of that distance from one placement to the next",
        lambda t, m, c: _one(m.placement_drift_m),
    ),
)
"""Task, then constraints; latency is measured by call (see `Latencies`)."""
