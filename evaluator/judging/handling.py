"""What became of items: lifted, let go, lost, and where they came to rest."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from evaluator.judging.carry import Carry
from evaluator.judging.event import Event, EventKind
from evaluator.judging.observed import Observed, Rest
from evaluator.judging.spans import spans
from evaluator.judging.zone import Place
from scenegen.cell import Role


def handling_events(seen: Observed) -> Iterator[Event]:
    """Tell what became of every item, in no order."""
    for carry in seen.carries:
        yield from _carried(seen, carry)
    yield from _double_picks(seen)
    for item in range(len(seen.job.items)):
        for before, after in pairwise(seen.rests[item]):
            yield from _came_to_rest(seen, item, before, after)


def _carried(seen: Observed, carry: Carry) -> Iterator[Event]:
    names = (seen.job.items[carry.item],)
    yield Event(kind=EventKind.LIFT, time_s=seen.time(carry.start), items=names)
    if _is_wrong(seen, carry):
        yield Event(kind=EventKind.WRONG_PART, time_s=seen.time(carry.start), items=names)
    if carry.end < seen.trace.samples:
        kind = EventKind.RELEASE if carry.released else EventKind.SLIP
        yield Event(kind=kind, time_s=seen.time(carry.end), items=names)


def _is_wrong(seen: Observed, carry: Carry) -> bool:
    """Tell whether a carried item should have been left: a foreign part, or a target that lay in its own bin."""
    if seen.job.roles[carry.item] is not Role.TARGET:
        return seen.job.roles[carry.item] is Role.FOREIGN
    rest = seen.resting_at(carry.item, carry.start)
    return rest is not None and seen.finder.names[rest.zone] in seen.job.wanted[carry.item]


def _double_picks(seen: Observed) -> Iterator[Event]:
    aboard = np.zeros((seen.trace.samples, len(seen.job.items)), bool)
    for carry in seen.carries:
        aboard[carry.start : carry.end, carry.item] = True
    for both in spans(aboard.sum(axis=1) >= 2):
        rows = np.flatnonzero(aboard[both.start : both.end].any(axis=0))
        names = tuple(seen.job.items[row] for row in rows.tolist())
        yield Event(kind=EventKind.DOUBLE_PICK, time_s=seen.time(both.start), items=names)


def _came_to_rest(seen: Observed, item: int, before: Rest, after: Rest) -> Iterator[Event]:
    """Say how an item got from one rest to the next, if it went anywhere."""
    between = [carry for carry in seen.carried(item) if before.start <= carry.start < after.start]
    zone = seen.finder.names[after.zone]
    if not between and before.zone == after.zone:
        return
    if zone in seen.job.bins:
        kind = EventKind.PLACED if zone in seen.job.wanted[item] else EventKind.WRONG_BIN
    elif not between:
        kind = EventKind.DISPLACED
    elif _was_in_a_bin(seen, between[-1], after):
        kind = EventKind.BOUNCE_OUT
    else:
        kind = EventKind.PUT_BACK if between[-1].released and zone == Place.FEED else EventKind.DROP
    yield Event(kind=kind, time_s=seen.time(after.start), items=(seen.job.items[item],), zone=zone)


def _was_in_a_bin(seen: Observed, carry: Carry, after: Rest) -> bool:
    """Tell whether an item was between a bin's walls after it came off and before it came to rest."""
    poses = seen.trace.item_pose[carry.end : after.start, carry.item]
    return bool(np.isin(seen.finder.of(carry.item, poses), _bin_indices(seen)).any())


def _bin_indices(seen: Observed) -> list[int]:
    return [seen.finder.names.index(name) for name in seen.job.bins]
