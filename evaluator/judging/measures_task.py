"""What an episode achieved: parts sorted and missorted, errors and recovery, takt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluator.judging.event import MISHAPS, Event, EventKind
from evaluator.judging.success import ItemEnd, succeeds
from scenegen.cell import Role
from scenegen.record import NonNegative, Real, Record

LOST = (EventKind.DROP, EventKind.BOUNCE_OUT)
"""Ways in which a part is dropped: it came to rest outside the bins, or bounced out of one."""


class TaskMeasures(Record):
    """What one episode achieved. None is unknown."""

    to_sort: int
    """Targets that did not lie in their bins at the start."""
    sorted: int
    """How many of them lie in their bins at the end."""
    missorted: int
    """Items that came into a bin in which they do not belong."""
    mishaps: int
    """Errors with items: misses, slips, drops, double picks, … (see `MISHAPS`)."""
    recovered: bool | None
    """Whether all was well in the end, without intervention; None where nothing had gone wrong."""
    interventions: int
    misses: int
    slips: int
    drops: int
    double_picks: int
    wrong_parts: int
    jams: int | None
    """None where neither contact forces nor torques were recorded."""
    takt_s: tuple[NonNegative, ...]
    """Time for each part that came into its bin, from the start or the part before it [s]."""

    @property
    def sorted_share(self) -> float | None:
        """Share of the parts to sort that were sorted; None where there were none."""
        return self.sorted / self.to_sort if self.to_sort else None


def task_measures(items: Sequence[ItemEnd], events: Sequence[Event], *, jams_known: bool) -> TaskMeasures:
    """Measure what an episode achieved.

    Args:
        items: Where its items are.
        events: Its events, in order of time.
        jams_known: Whether forces or torques were recorded, of which jams are read.
    """

    def count(*kinds: EventKind) -> int:
        return sum(event.kind in kinds for event in events)

    to_sort = [item for item in items if item.to_sort]
    mishaps, interventions = count(*MISHAPS), count(EventKind.INTERVENTION)
    return TaskMeasures(
        to_sort=len(to_sort),
        sorted=sum(item.placed for item in to_sort),
        missorted=sum(item.intrudes for item in items),
        mishaps=mishaps,
        recovered=(succeeds(items) and not interventions) if mishaps else None,
        interventions=interventions,
        misses=count(EventKind.MISS),
        slips=count(EventKind.SLIP),
        drops=count(*LOST),
        double_picks=count(EventKind.DOUBLE_PICK),
        wrong_parts=count(EventKind.WRONG_PART),
        jams=count(EventKind.JAM) if jams_known else None,
        takt_s=takts(items, events),
    )


def takts(items: Iterable[ItemEnd], events: Iterable[Event]) -> tuple[float, ...]:
    """Return the time for each part that is in its bin at the end [s]: since the one before, or the start.

    A part counts when it came to rest there for the last time.
    """
    ends = {item.name for item in items if item.placed and item.role is Role.TARGET}
    last: dict[str, Real] = {}
    for event in events:
        if event.kind is EventKind.PLACED and event.items[0] in ends:
            last[event.items[0]] = event.time_s
    times = sorted(last.values())
    return tuple(after - before for before, after in zip([0.0, *times], times, strict=False))
