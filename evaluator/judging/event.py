"""One thing that happened in an episode."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from scenegen.record import NonNegative, Real, Record


class EventKind(StrEnum):
    """What happened; of events at the same time the earlier kind comes first."""

    APPROACH = "approach"
    """The tool came near an item with nothing in the grip."""
    CONTACT = "contact"
    """A finger touched an item."""
    GRASP = "grasp"
    """The gripper closed and touches the item."""
    MISS = "miss"
    """The gripper closed near an item and lifted none."""
    LIFT = "lift"
    """An item was lifted from where it lay."""
    WRONG_PART = "wrong_part"
    """What was lifted has no bin, or lay in its own already."""
    DOUBLE_PICK = "double_pick"
    """Two items or more were carried at once."""
    RELEASE = "release"
    """The gripper opened and let go of an item."""
    SLIP = "slip"
    """A carried item came off while the gripper did not open."""
    PLACED = "placed"
    """An item came to rest in its bin, however it got there."""
    WRONG_BIN = "wrong_bin"
    """An item came to rest in a bin that is not its own."""
    PUT_BACK = "put_back"
    """A carried item was let go and came to rest in the feed."""
    DROP = "drop"
    """A carried item came to rest outside every bin."""
    BOUNCE_OUT = "bounce_out"
    """A carried item was between a bin's walls after it came off, and came to rest outside."""
    DISPLACED = "displaced"
    """An item that was not carried came to rest in another zone, outside every bin."""
    COLLISION = "collision"
    """The robot struck the table, the feed or a bin; the value is the peak force [N]."""
    BODY_HIT = "body_hit"
    """A part of the robot other than the fingers struck an item."""
    CARRIED_HIT = "carried_hit"
    """A carried item struck a fixture other than the one it came from or belongs in."""
    JAM = "jam"
    """The robot pushed and did not move."""
    STAGNATION = "stagnation"
    """The robot stood still though there was something left to do; the value is how long [s]."""
    RECOVERY = "recovery"
    """An item with which something had gone wrong came to rest in its bin."""
    INTERVENTION = "intervention"
    """Someone other than the policy acted."""


MISHAPS = frozenset(
    {
        EventKind.MISS,
        EventKind.WRONG_PART,
        EventKind.DOUBLE_PICK,
        EventKind.SLIP,
        EventKind.WRONG_BIN,
        EventKind.DROP,
        EventKind.BOUNCE_OUT,
        EventKind.DISPLACED,
    }
)
"""Errors with an item, from which an episode may recover; each names its items."""

_RANK = {kind: rank for rank, kind in enumerate(EventKind)}


class Event(Record):
    """Something that happened at one time."""

    kind: EventKind
    time_s: NonNegative
    """Time since the reset [s]."""
    items: Annotated[tuple[str, ...], Field(max_length=32)] = ()
    """Names of the items concerned, in layout order."""
    zone: str | None = None
    """Where it happened: a bin's name or a `Place`; the fixture that was struck."""
    value: Real | None = None
    """How much, in the unit that the kind gives."""

    @property
    def order(self) -> tuple[float, int, tuple[str, ...]]:
        """Key by which events are sorted."""
        return self.time_s, _RANK[self.kind], self.items
