"""What people decided about scenarios: the newest decision of a kind counts, and none is ever lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from library.row import sealed


class Action(StrEnum):
    """What can be decided."""

    DROP = "drop"
    """Leave a scenario out of the set; `value` is `dropped` or `restored`."""
    QUARANTINE = "quarantine"
    """Keep a scenario from use until it was looked at; `value` is `quarantined` or `released`."""
    REVIEW = "review"
    """A person's judgement; `value` is `accepted`, `rejected` or a label."""
    SPLIT = "split"
    """Which split a base and all its descendants belong to; `value` is the split's name."""


DROPPED, RESTORED = "dropped", "restored"
QUARANTINED, RELEASED = "quarantined", "released"
ACCEPTED, REJECTED = "accepted", "rejected"


def decision(action: Action, subject: str, value: str, *, note: str, author: str, time: str) -> dict[str, Any]:
    """Return the row of the table `curation` for one decision.

    Args:
        action: What is decided.
        subject: A scenario's id; for splits a base's.
        value: See `Action`.
        note: Why.
        author: Who.
        time: When, ISO 8601.
    """
    return sealed(
        {"subject": subject, "action": action.value, "value": value, "note": note, "author": author, "time": time}
    )


@dataclass(frozen=True)
class Curated:
    """The decisions in force."""

    latest: Mapping[Action, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    """Action -> subject -> the newest decision's row."""

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Self:
        """Read decisions in the order in which they were kept."""
        latest: dict[Action, dict[str, Mapping[str, Any]]] = {action: {} for action in Action}
        for row in rows:
            latest[Action(row["action"])][row["subject"]] = row
        return cls(latest)

    def value(self, action: Action, subject: str) -> str | None:
        """Return the newest decision of a kind about a subject."""
        row = self.latest.get(action, {}).get(subject)
        return row["value"] if row else None

    def subjects(self, action: Action, value: str) -> frozenset[str]:
        """Return the subjects whose newest decision of a kind is `value`."""
        return frozenset(s for s, row in self.latest.get(action, {}).items() if row["value"] == value)

    @property
    def hidden(self) -> frozenset[str]:
        """Scenarios that are not part of the set: dropped, in quarantine, or rejected by a reviewer."""
        return (
            self.subjects(Action.DROP, DROPPED)
            | self.subjects(Action.QUARANTINE, QUARANTINED)
            | self.subjects(Action.REVIEW, REJECTED)
        )

    @property
    def splits(self) -> dict[str, str]:
        """Base -> split."""
        return {subject: row["value"] for subject, row in self.latest.get(Action.SPLIT, {}).items()}
