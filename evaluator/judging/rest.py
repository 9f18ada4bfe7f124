"""When an item lies released and at rest: untouched by the fingers and slow, for long enough to mean it."""

from __future__ import annotations

import numpy as np

from evaluator.judging.job import Job
from evaluator.judging.trace import Flags, Trace
from scenegen.geometry import Array

SPEED_M_S = 0.01
"""Fastest that a part at rest moves, rotation counted at its radius [m/s].

Soft contacts leave a lying part some mm/s; one that falls, rolls or slides is ten times as fast within 10 ms.
"""
WINDOW_S = 0.2
"""How long it must be slow and untouched [s].

A bouncing part is slow at the top of each bounce, for 2 ms below `SPEED_M_S`; a rocking one turns within 0.1 s.
"""
DRIFT_M = 0.002
"""How far it may creep within the window [m]: as far as `SPEED_M_S` takes it."""


def lies_still(trace: Trace, job: Job) -> Flags:
    """Tell at which samples each item has lain released and at rest for `WINDOW_S`.

    On a shaking table a part may be as fast as the table, and move as far. What lies still when an episode begins has
    done so before: scenes start at rest.

    Args:
        trace: An episode, its items in the job's order.
        job: The scene.

    Returns:
        Flags, shape [t, n].
    """
    unsettled = trace.finger_touch | (speeds(trace, job) > SPEED_M_S + job.sway_m_s)
    samples = np.arange(trace.samples)
    last = np.maximum.accumulate(np.where(unsettled, samples[:, None], -1), axis=0)
    since = np.append(trace.time_s[0] - WINDOW_S, trace.time_s)[np.minimum(last + 2, trace.samples) * (last >= 0)]
    quiet = ~unsettled & (trace.time_s[:, None] - since >= WINDOW_S * (1 - 1e-9))
    positions = trace.item_pose[..., :3]
    before = positions[window_start(trace.time_s)]
    return quiet & (np.linalg.norm(positions - before, axis=2) <= DRIFT_M + 2 * job.sway_m)


def speeds(trace: Trace, job: Job) -> Array:
    """Speed of each item, its rotation counted at the part's radius [m/s], shape [t, n]."""
    linear, angular = np.linalg.norm(trace.item_vel.reshape(*trace.item_vel.shape[:2], 2, 3), axis=3).swapaxes(0, 2)
    return (linear + job.radii_m[:, None] * angular).T


def window_start(time_s: Array, window_s: float = WINDOW_S) -> np.ndarray:
    """Index of the first sample within a window that ends at each sample, shape [t]."""
    return np.searchsorted(time_s, time_s - window_s * (1 + 1e-9))
