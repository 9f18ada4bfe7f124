"""From what a simulator recorded of an episode to the episode as it is kept."""

from __future__ import annotations

import numpy as np

from evaluator.judging.category import failure_of
from evaluator.judging.episode import Episode, EpisodeKey
from evaluator.judging.job import Job
from evaluator.judging.measures_motion import motion_measures
from evaluator.judging.measures_task import task_measures
from evaluator.judging.measures_timing import Latencies
from evaluator.judging.observed import Observed
from evaluator.judging.outcome import Outcome
from evaluator.judging.strain import TOUCH_N, pushing
from evaluator.judging.success import item_ends, succeeds
from evaluator.judging.timeline import timeline
from evaluator.judging.trace import EndReason, Trace
from evaluator.judging.validity import Flaw, Found, first_flaw

_ENDED = {
    EndReason.POLICY_ERROR: Outcome.POLICY_ERROR,
    EndReason.PHYSICS_INVALID: Outcome.PHYSICS_INVALID,
    EndReason.INFRA_ERROR: Outcome.INFRA_ERROR,
}
"""Ends after which it is not asked whether the scene is sorted: what cannot be trusted is neither."""


def judge(trace: Trace, job: Job, key: EpisodeKey, *, reason: str | None = None) -> Episode:
    """Judge one episode.

    A trace with a flaw is judged up to it: its events and measures are those of the sound part. It is then no success,
    whatever lies where: physics that broke, or a reset that failed, which is no fault of the policy.

    Args:
        trace: What was recorded, its items in any order.
        job: The scene.
        key: Which rollout it was.
        reason: Text of the error that ended it, if one did.

    Raises:
        InvalidRecord: The trace's items are not those of the scenario.
    """
    trace = trace.ordered(job.items)
    flaw = first_flaw(trace, job)
    outcome = _broken(trace.end, flaw)
    if flaw is not None and flaw.sample == 0:
        return Episode(key=key, outcome=outcome or Outcome.INFRA_ERROR, end=trace.end, reason=_reason(flaw, reason))
    seen = Observed.of(trace.until(flaw.sample) if flaw is not None else trace, job)
    items, events = item_ends(seen), timeline(seen)
    outcome = outcome or (Outcome.SUCCESS if succeeds(items) else Outcome.FAILURE)
    failure = None
    if outcome is Outcome.FAILURE:
        failure = failure_of(items, events, trace.end, contact_force_n=job.cell.limits.contact_force_n)
    return Episode(
        key=key,
        outcome=outcome,
        end=trace.end,
        reason=_reason(flaw, reason),
        category=failure.category if failure else None,
        began_s=failure.began_s if failure else None,
        duration_s=seen.trace.duration_s,
        touched=_touched(seen.trace),
        items=items,
        events=events,
        task=task_measures(items, events, jams_known=pushing(seen) is not None),
        motion=motion_measures(seen, events),
        latencies=Latencies.of(trace.latency_s) if trace.latency_s is not None else Latencies(),
    )


def _broken(end: EndReason, flaw: Found | None) -> Outcome | None:
    """Return the outcome of what cannot be judged by what lies where; None where it can."""
    if flaw is None or end is EndReason.INFRA_ERROR:
        return _ENDED.get(end)
    return Outcome.INFRA_ERROR if flaw.flaw is Flaw.OTHER_START else Outcome.PHYSICS_INVALID


def _reason(flaw: Found | None, error: str | None) -> str | None:
    """Say what was wrong; an error's text is never lost, whatever the trace is like."""
    return "; ".join(text for text in (flaw.flaw.value if flaw else None, error) if text) or None


def _touched(trace: Trace) -> bool:
    """Tell whether the robot touched anything, as far as was recorded."""
    force, body = trace.fixture_force, trace.body_touch
    fixtures = force is not None and bool(np.any(force > TOUCH_N))
    return bool(trace.finger_touch.any()) or fixtures or (body is not None and bool(body.any()))
