"""The events of an episode, read from its trace and put in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evaluator.judging.event import MISHAPS, Event, EventKind
from evaluator.judging.grasping import grasping_events
from evaluator.judging.handling import handling_events
from evaluator.judging.observed import Observed
from evaluator.judging.strain import strain_events


def timeline(seen: Observed) -> tuple[Event, ...]:
    """Tell what happened in an episode, in order of time."""
    found = [*handling_events(seen), *grasping_events(seen), *strain_events(seen), *_interventions(seen)]
    found.sort(key=lambda event: event.order)
    return tuple(sorted((*found, *_recoveries(found)), key=lambda event: event.order))


def mishaps_of(events: Iterable[Event], item: str) -> tuple[Event, ...]:
    """Return what went wrong with an item since it last came to rest in its bin, in order of time."""
    since: list[Event] = []
    for event in events:
        if item in event.items:
            if event.kind is EventKind.PLACED:
                since = []
            elif event.kind in MISHAPS:
                since.append(event)
    return tuple(since)


def _interventions(seen: Observed) -> Iterator[Event]:
    for time_s in seen.trace.interventions_s:
        yield Event(kind=EventKind.INTERVENTION, time_s=max(0.0, time_s - float(seen.trace.time_s[0])))


def _recoveries(events: list[Event]) -> Iterator[Event]:
    """Find where an item with which something had gone wrong came to rest in its bin."""
    for index, event in enumerate(events):
        if event.kind is EventKind.PLACED and mishaps_of(events[:index], event.items[0]):
            yield Event(kind=EventKind.RECOVERY, time_s=event.time_s, items=event.items)
