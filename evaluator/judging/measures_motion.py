"""How an episode kept the line's constraints: joint limits, torque, forces, collisions, smoothness, placement."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluator.judging.event import Event, EventKind
from evaluator.judging.observed import Observed
from evaluator.judging.smoothness import log_dimensionless_jerk, spectral_arc_length
from evaluator.judging.strain import torque_shares
from scenegen.geometry import Array
from scenegen.record import NonNegative, Real, Record, Share

LEAST_WAY_M = 0.05
"""Shortest straight way of a carry of which a path ratio is told [m]: a shorter one was no transport."""
LEAST_PLACEMENTS = 3
"""Fewest placements of which a drift is told."""


class MotionMeasures(Record):
    """How one episode kept the constraints. None is unknown: not recorded, or there was nothing to measure."""

    joint_margin_rad: Real
    """Least distance of any joint from its limits [rad]; negative beyond them."""
    within_limits: Share
    """Share of the samples with all joints within their limits."""
    torque_peak: NonNegative | None
    """Largest torque of any joint as a share of its limit."""
    smoothness: Real | None
    """Mean SPARC of the carries (see `spectral_arc_length`)."""
    jerk: Real | None
    """Mean log dimensionless jerk of the carries."""
    path_ratio: NonNegative | None
    """Mean length of the tool's path by the straight way, over the carries of `LEAST_WAY_M` at least."""
    lowest_m: Real
    """Least height of the tool centre above the table [m]."""
    force_peak_n: NonNegative | None
    """Largest contact force between robot and fixtures [N]."""
    collisions: int | None
    body_hits: int | None
    carried_hits: int | None
    placement_errors_m: tuple[NonNegative, ...]
    """Horizontal distance of each part from the middle of its bin when it came to rest there [m], in order of time."""
    placement_drift_m: Real | None
    """By how much that distance grows from one placement to the next [m], by least squares: errors that accumulate."""

    @property
    def placement_error_m(self) -> float | None:
        """Mean placement error [m]; None where nothing was placed."""
        return float(np.mean(self.placement_errors_m)) if self.placement_errors_m else None


def motion_measures(seen: Observed, events: Sequence[Event]) -> MotionMeasures:
    """Measure how an episode kept the constraints.

    Args:
        seen: The episode.
        events: Its events, in order of time.
    """
    trace, joints = seen.trace, seen.job.cell.robot.joints
    lower, upper = (np.array([getattr(joint, side) for joint in joints]) for side in ("lower_rad", "upper_rad"))
    margin = np.minimum(trace.joint_pos - lower, upper - trace.joint_pos).min(axis=1)
    torque, force = torque_shares(seen), trace.fixture_force
    above = (trace.tcp_pose[:, :3] - seen.job.cell.table.pose_top_to_world.position)[:, 2]
    errors = _placement_errors(seen, events)
    return MotionMeasures(
        joint_margin_rad=float(margin.min()),
        within_limits=float((margin >= 0).mean()),
        torque_peak=None if torque is None else float(torque.max(initial=0.0)),
        lowest_m=float(above.min()),
        force_peak_n=None if force is None else float(force.max()),
        collisions=None if force is None else _count(events, EventKind.COLLISION),
        body_hits=None if trace.body_touch is None else _count(events, EventKind.BODY_HIT),
        carried_hits=None if trace.item_fixture is None else _count(events, EventKind.CARRIED_HIT),
        placement_errors_m=errors,
        placement_drift_m=_slope(errors),
        **_transport(seen),
    )


def _count(events: Sequence[Event], kind: EventKind) -> int:
    return sum(event.kind is kind for event in events)


def _transport(seen: Observed) -> dict[str, float | None]:
    """Measure the tool's movement while it carries: each transport is one movement, and stops in it are unsmooth."""
    rate_hz, smooth, jerks, ratios = seen.trace.rate_hz, [], [], []
    for start, end in sorted({(carry.start, carry.end) for carry in seen.carries}):
        way = seen.trace.tcp_pose[start:end, :3]
        velocity = np.diff(way, axis=0) * rate_hz
        smooth.append(spectral_arc_length(np.linalg.norm(velocity, axis=1), rate_hz))
        jerks.append(log_dimensionless_jerk(velocity, rate_hz))
        if (straight := float(np.linalg.norm(way[-1] - way[0]))) >= LEAST_WAY_M:
            ratios.append(float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum()) / straight)
    return {"smoothness": _mean(smooth), "jerk": _mean(jerks), "path_ratio": _mean(ratios)}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _placement_errors(seen: Observed, events: Sequence[Event]) -> tuple[float, ...]:
    fixtures, found = seen.job.fixtures, []
    for event in events:
        if event.kind is EventKind.PLACED and event.zone is not None:
            item = seen.job.items.index(event.items[0])
            sample = int(np.searchsorted(seen.trace.time_s - seen.trace.time_s[0], event.time_s - 1e-6))
            pose = fixtures[event.zone]
            offset: Array = pose.inverse().apply(seen.trace.item_pose[min(sample, seen.trace.samples - 1), item, :3])
            found.append(float(np.hypot(offset[0], offset[1])))
    return tuple(found)


def _slope(errors: Sequence[float]) -> float | None:
    if len(errors) < LEAST_PLACEMENTS:
        return None
    order = np.arange(len(errors)) - (len(errors) - 1) / 2
    return float(order @ np.array(errors) / (order @ order))
