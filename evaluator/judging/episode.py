"""One rollout as it is kept: how it came out, why, what happened, what was measured."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Self

from evaluator.judging.category import FailureCategory
from evaluator.judging.event import Event
from evaluator.judging.measures_motion import MotionMeasures
from evaluator.judging.measures_task import TaskMeasures
from evaluator.judging.measures_timing import Latencies
from evaluator.judging.outcome import Outcome
from evaluator.judging.success import ItemEnd
from evaluator.judging.trace import EndReason
from library.row import sealed
from scenegen.record import NonNegative, Record, canonical_text


class EpisodeKey(Record):
    """Which rollout it was: the same key is never kept twice."""

    run_id: str
    scenario_id: str
    seed: int
    attempt: int = 0
    """Counts on where a rollout was repeated because the one before was lost."""


class Episode(Record):
    """One rollout, judged."""

    key: EpisodeKey
    outcome: Outcome
    end: EndReason
    reason: str | None = None
    """What was wrong, where the outcome is neither success nor failure: a `Flaw`, the error's text, or both."""
    category: FailureCategory | None = None
    """Of a failure alone."""
    began_s: NonNegative | None = None
    """When the failure began (see `failure_of`)."""
    duration_s: NonNegative = 0.0
    touched: bool = False
    """The robot touched an item or a fixture."""
    items: tuple[ItemEnd, ...] = ()
    events: tuple[Event, ...] = ()
    task: TaskMeasures | None = None
    motion: MotionMeasures | None = None
    latencies: Latencies = Latencies()
    """Calls of the policy; none where they were not timed."""

    @classmethod
    def lost(cls, key: EpisodeKey, reason: str) -> Self:
        """Return the episode of a rollout that gave no trace, for want of infrastructure."""
        return cls(key=key, outcome=Outcome.INFRA_ERROR, end=EndReason.INFRA_ERROR, reason=reason)

    @property
    def counts(self) -> bool | None:
        """What it counts for: success, failure, or nothing."""
        return self.outcome.counts(touched=self.touched)

    def columns(self) -> dict[str, Any]:
        """Return the row of the table `episodes`."""
        data = self.model_dump(mode="json")
        metrics = {name: data[name] for name in _METRICS if data[name] is not None}
        return sealed(
            {
                **data["key"],
                "outcome": data["outcome"],
                "category": data["category"],
                "metrics": canonical_text(metrics),
                "events": canonical_text(data["events"]),
            }
        )

    @classmethod
    def of(cls, columns: Mapping[str, Any]) -> Self:
        """Build the episode back from its row."""
        key = {name: columns[name] for name in EpisodeKey.model_fields}
        found = {"outcome": columns["outcome"], "category": columns.get("category")}
        events = json.loads(columns["events"])
        return cls.model_validate({"key": key, **found, "events": events, **json.loads(columns["metrics"])})


_METRICS = tuple(name for name in Episode.model_fields if name not in ("key", "outcome", "category", "events"))
"""Fields that the column `metrics` holds, as JSON."""
