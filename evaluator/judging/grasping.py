"""How the gripper went about it: approaches, contacts, grasps, misses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaluator.judging.carry import FLICKER_S, in_tool
from evaluator.judging.event import Event, EventKind
from evaluator.judging.observed import Observed
from evaluator.judging.spans import bridged, spans
from evaluator.judging.stroke import Stroke
from scenegen.geometry import Array

NEAR_M = 0.05
"""How near the tool centre must come to an item's frame to approach it [m]: as far as fingers reach below the palm."""
AWAY_M = 0.08
"""How far it must be from all items before it can approach again [m]."""
SETTLE_S = 0.5
"""How long after a grasp at the end of an episode the lift may still have been to come [s]: no miss before that."""


def grasping_events(seen: Observed) -> Iterator[Event]:
    """Tell how the gripper went about its work, in no order."""
    distance = np.where(seen.placed, np.inf, np.linalg.norm(in_tool(seen.trace), axis=2))
    yield from _approaches(seen, distance)
    for item, name in enumerate(seen.job.items):
        for touch in spans(bridged(seen.trace.finger_touch[:, item], seen.trace.time_s, gap_s=FLICKER_S)):
            yield Event(kind=EventKind.CONTACT, time_s=seen.time(touch.start), items=(name,))
    for index, stroke in enumerate(seen.moves):
        if stroke.closes:
            later = seen.moves[index + 1 :]
            yield from _closing(seen, stroke, later[0].start if later else None, distance)


def _approaches(seen: Observed, distance: Array) -> Iterator[Event]:
    """Find approaches to what is left: the tool comes, within `AWAY_M` of an item, to `NEAR_M`."""
    empty = np.ones(seen.trace.samples, bool)
    for carry in seen.carries:
        empty[carry.start : carry.end] = False
    nearest = distance.min(axis=1, initial=np.inf)
    for about in spans((nearest <= AWAY_M) & empty):
        close = np.flatnonzero(nearest[about.start : about.end] <= NEAR_M)
        if close.size and close[0] > 0:
            best = about.start + int(nearest[about.start : about.end].argmin())
            name = seen.job.items[int(distance[best].argmin())]
            yield Event(kind=EventKind.APPROACH, time_s=seen.time(about.start + int(close[0])), items=(name,))


def _closing(seen: Observed, stroke: Stroke, opens: int | None, distance: Array) -> Iterator[Event]:
    """Say what one closing of the gripper got hold of.

    Fingers creep on while a part turns between them: they had closed by the time at which they lifted something.
    """
    lifts = [carry.start for carry in seen.carries if stroke.start < carry.start <= stroke.end]
    shut = min([stroke.end, *lifts])
    closed = slice(shut, int(np.searchsorted(seen.trace.time_s, seen.trace.time_s[shut] + FLICKER_S)) + 1)
    touched = np.flatnonzero(np.any(seen.trace.finger_touch[closed], axis=0))
    names = tuple(seen.job.items[item] for item in touched.tolist())
    when = seen.time(shut)
    if names:
        yield Event(kind=EventKind.GRASP, time_s=when, items=names)
    last = seen.trace.samples if opens is None else opens + 1
    if any(carry.start <= last and carry.end > stroke.start for carry in seen.carries):
        return
    if opens is None and names and seen.time(last) - when < SETTLE_S:
        return
    if distance[stroke.end].min(initial=np.inf) <= NEAR_M:
        name = seen.job.items[int(distance[stroke.end].argmin())]
        yield Event(kind=EventKind.MISS, time_s=when, items=(name,))
