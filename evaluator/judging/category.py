"""One failure category an episode, and when it began: the first error from which the episode did not recover."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from evaluator.judging.event import Event, EventKind
from evaluator.judging.success import ItemEnd
from evaluator.judging.timeline import mishaps_of
from evaluator.judging.trace import EndReason
from evaluator.judging.zone import Place
from scenegen.cell import Role

LINK_S = 1.0
"""How long after a hard collision an error counts as its consequence [s]: a part that it shook loose has landed."""


class FailureCategory(StrEnum):
    """Why an episode failed; the first ten are Isaac Lab Arena's names."""

    GRASP_MISS = "grasp_miss"
    GRASP_SLIP = "grasp_slip"
    WRONG_OBJECT = "wrong_object"
    """A foreign part, or one that was sorted already, was picked or came into a bin."""
    WRONG_DESTINATION = "wrong_destination"
    COLLISION = "collision"
    TIMEOUT = "timeout"
    """Time ran out with targets left with which nothing had gone wrong."""
    APPROACH_FAILURE = "approach_failure"
    """The tool came near what was left and never touched it."""
    STAGNATION = "stagnation"
    """The robot stood still until the end."""
    RECOVERY_FAILED = "recovery_failed"
    """After its last error the item was grasped again, and it is not in its bin all the same."""
    UNKNOWN = "unknown"
    DROP = "drop"
    """Let go outside the bins and the feed."""
    BOUNCE_OUT = "bounce_out"
    DISPLACED = "displaced"
    """Pushed to where it does not belong, and left there."""
    DOUBLE_PICK = "double_pick"
    JAM = "jam"
    OVERLOOKED = "overlooked"
    """The policy was done, and had never come near what was left."""


class Failure(NamedTuple):
    """What an episode's failure is and when it began."""

    category: FailureCategory
    began_s: float | None
    """Time since the reset [s]; None where nothing happened that could be its beginning."""


_OF_KIND = {
    EventKind.MISS: FailureCategory.GRASP_MISS,
    EventKind.SLIP: FailureCategory.GRASP_SLIP,
    EventKind.WRONG_PART: FailureCategory.WRONG_OBJECT,
    EventKind.WRONG_BIN: FailureCategory.WRONG_DESTINATION,
    EventKind.DROP: FailureCategory.DROP,
    EventKind.BOUNCE_OUT: FailureCategory.BOUNCE_OUT,
    EventKind.DISPLACED: FailureCategory.DISPLACED,
    EventKind.DOUBLE_PICK: FailureCategory.DOUBLE_PICK,
}

_TOUCHES = (EventKind.CONTACT, EventKind.GRASP, EventKind.LIFT)


def failure_of(items: Sequence[ItemEnd], events: Sequence[Event], end: EndReason, *, contact_force_n: float) -> Failure:
    """Say why an episode failed.

    The items that keep it from success are looked at: targets that are not placed, and what intrudes into a bin. What
    went wrong with each since it was last lifted, or placed, is a chain of errors; it begins with its first error, or
    with a hard collision up to `LINK_S` before that. If the item was grasped once more after its last error, the chain
    is a `recovery_failed` that began with the first error since it was placed. A jam after which nothing more was
    placed is a chain too. The chain that began first gives category and time. Where nothing went wrong with any of the
    items, in this order: a hard collision, standing still until the end, time that ran out while an item was touched
    or moved, an approach that touched nothing, a policy that overlooked what was left, a timeout, or unknown.

    Args:
        items: Where the items of a failed episode are.
        events: Its events, in order of time.
        end: Why it ended.
        contact_force_n: Force from which a collision is a hard one [N].
    """
    failed = [item for item in items if (item.intrudes if item.role is not Role.TARGET else not item.placed)]
    crashes = [
        event.time_s for event in events if event.kind is EventKind.COLLISION and (event.value or 0.0) > contact_force_n
    ]
    chains = [found for item in failed if (found := _chain(item, events, crashes))]
    chains += [Failure(FailureCategory.JAM, time_s) for time_s in _jams(events)]
    if chains:
        return min(chains, key=lambda failure: (failure.began_s or 0.0, failure.category))
    if crashes:
        return Failure(FailureCategory.COLLISION, crashes[0])
    return _without_error(failed, events, end)


def _chain(item: ItemEnd, events: Sequence[Event], crashes: Iterable[float]) -> Failure | None:
    """Say how the chain of errors with one item began; None if there is none."""
    mishaps = mishaps_of(events, item.name)
    if not mishaps:
        return None
    lifted = max((e.time_s for e in events if e.kind is EventKind.LIFT and item.name in e.items), default=0.0)
    since = [mishap for mishap in mishaps if mishap.time_s >= lifted]
    retried = any(e.kind is EventKind.GRASP and item.name in e.items and e.time_s > mishaps[-1].time_s for e in events)
    if not since or retried:
        return Failure(FailureCategory.RECOVERY_FAILED, mishaps[0].time_s)
    first = since[0]
    linked = [time_s for time_s in crashes if first.time_s - LINK_S <= time_s <= first.time_s]
    if linked:
        return Failure(FailureCategory.COLLISION, linked[0])
    category = _OF_KIND[first.kind] if item.role is Role.TARGET else FailureCategory.WRONG_OBJECT
    return Failure(category, first.time_s)


def _jams(events: Sequence[Event]) -> Iterable[float]:
    """Times of jams after which nothing was placed."""
    placed = max((event.time_s for event in events if event.kind is EventKind.PLACED), default=-1.0)
    return [event.time_s for event in events if event.kind is EventKind.JAM and event.time_s > placed]


def _without_error(failed: Sequence[ItemEnd], events: Sequence[Event], end: EndReason) -> Failure:
    """Say why items were left with which nothing had gone wrong."""
    names = {item.name for item in failed}
    about = [event for event in events if names.intersection(event.items)]
    last = max((event.time_s for event in events if event.kind is not EventKind.STAGNATION), default=-1.0)
    pauses = [event for event in events if event.kind is EventKind.STAGNATION and event.time_s >= last]
    approaches = [event.time_s for event in about if event.kind is EventKind.APPROACH]
    if pauses:
        return Failure(FailureCategory.STAGNATION, pauses[-1].time_s)
    if end is EndReason.TIMEOUT and any(item.ended in (Place.HELD, Place.MOVING) for item in failed):
        return Failure(FailureCategory.TIMEOUT, None)
    if approaches and not any(event.kind in _TOUCHES for event in about):
        return Failure(FailureCategory.APPROACH_FAILURE, approaches[0])
    if end is EndReason.DONE and not about:
        return Failure(FailureCategory.OVERLOOKED, None)
    if end is EndReason.TIMEOUT:
        return Failure(FailureCategory.TIMEOUT, None)
    return Failure(FailureCategory.UNKNOWN, None)
