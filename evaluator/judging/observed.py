"""An episode with what was read from its trace once: when items lie still, what was carried, how the gripper moved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluator.judging.carry import Carry, carries
from evaluator.judging.job import Job
from evaluator.judging.rest import lies_still, window_start
from evaluator.judging.spans import spans
from evaluator.judging.stroke import Stroke, strokes
from evaluator.judging.trace import Flags, Trace
from evaluator.judging.zone import ZoneFinder


@dataclass(frozen=True)
class Rest:
    """An item lies somewhere, untouched, for a while."""

    start: int
    """First sample of it; the window in which it proved to be still is part of it."""
    zone: int
    """Index in the finder's names."""


@dataclass(frozen=True, eq=False)
class Observed:
    """A trace and what follows from it."""

    trace: Trace
    """Its items in the job's order."""
    job: Job

    @classmethod
    def of(cls, trace: Trace, job: Job) -> Observed:
        """Observe an episode.

        Raises:
            InvalidRecord: The trace's items are not those of the scenario.
        """
        return cls(trace.ordered(job.items), job)

    @cached_property
    def finder(self) -> ZoneFinder:
        """Tells zones."""
        return ZoneFinder(self.job)

    @cached_property
    def still(self) -> Flags:
        """When items lie released and at rest, shape [t, n]."""
        return lies_still(self.trace, self.job)

    @cached_property
    def moves(self) -> list[Stroke]:
        """The gripper's strokes."""
        return strokes(self.trace.gripper_opening)

    @cached_property
    def carries(self) -> list[Carry]:
        """What was carried, in order of time."""
        return carries(self.trace, self.job, self.still, self.moves)

    def carried(self, item: int) -> list[Carry]:
        """Return when one item was carried, in order of time."""
        return [carry for carry in self.carries if carry.item == item]

    @cached_property
    def rests(self) -> tuple[list[Rest], ...]:
        """For each item where it lay still, one entry a period, in order of time."""
        return tuple(self._rests_of(item) for item in range(len(self.job.items)))

    @cached_property
    def placed(self) -> Flags:
        """Where each item last came to rest: whether that is a bin of its own, shape [t, n]."""
        placed = np.zeros((self.trace.samples, len(self.job.items)), bool)
        for item, rests in enumerate(self.rests):
            for rest in rests:
                placed[rest.start :, item] = self.finder.names[rest.zone] in self.job.wanted[item]
        return placed

    def time(self, sample: int) -> float:
        """Time of a sample since the first one [s]; of one past the end, that of the last."""
        return float(self.trace.time_s[min(sample, self.trace.samples - 1)] - self.trace.time_s[0])

    def resting_at(self, item: int, sample: int) -> Rest | None:
        """Return where an item last lay still at or before a sample; None if it never had."""
        before = [rest for rest in self.rests[item] if rest.start <= sample]
        return before[-1] if before else None

    def _rests_of(self, item: int) -> list[Rest]:
        periods = spans(self.still[:, item])
        if not periods:
            return []
        proved = np.array([period.start for period in periods])
        zones = self.finder.of(item, self.trace.item_pose[proved, item])
        begins = window_start(self.trace.time_s)[proved]
        return [Rest(int(start), int(zone)) for start, zone in zip(begins, zones, strict=True)]
