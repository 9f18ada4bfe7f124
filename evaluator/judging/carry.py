"""When the gripper carries an item: lifted from where it lay, and moving with the tool."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evaluator.judging.job import Job
from evaluator.judging.spans import Span, bridged, spans
from evaluator.judging.stroke import STROKE, Stroke
from evaluator.judging.trace import Flags, Trace
from scenegen.geometry import Array, quat_to_matrix

LIFT_M = 0.01
"""How far an item must have risen from where it last lay to be lifted [m]: pushing and tilting raise it less."""
FOLLOW_M_S = 0.1
"""How fast an item may move in the tool's frame to be lifted, or carried without a finger that touches it [m/s]; one
that falls is faster after 10 ms.

Between the fingers it may be faster: a bolt that is held by one end swings at 0.2 m/s.
"""
FLICKER_S = 0.1
"""Longest gap in touching that is no loss of contact [s]."""
SHUT = STROKE
"""By how much the opening shrinks when fingers snap together behind what slips out of them, at least, as a share."""


class Carry(NamedTuple):
    """One item carried once: samples from `start` up to but not including `end`."""

    item: int
    start: int
    end: int
    released: bool
    """The gripper opened at its end; else the item came off by itself. False while it is still carried at the end."""


def carries(trace: Trace, job: Job, still: Flags, moves: list[Stroke]) -> list[Carry]:
    """Find what was carried, by touch and motion, in order of time.

    An item is lifted once it has risen by `LIFT_M` from where it last lay still and moves with the tool, while a finger
    touches it or another item: two parts in one grip and a part that hangs on another are both carried. It stays so
    while it moves with the tool and is touched or lifted, and while it is lifted and touched, however it swings.

    Args:
        trace: An episode, its items in the job's order.
        job: The scene.
        still: When items lie still, shape [t, n].
        moves: The gripper's strokes.
    """
    gripper = job.cell.robot.gripper
    local = in_tool(trace)
    touched = trace.finger_touch.copy()
    for item in range(len(trace.items)):
        touched[:, item] = bridged(touched[:, item], trace.time_s, gap_s=FLICKER_S)
    near = np.linalg.norm(local, axis=2) <= job.radii_m + gripper.finger_depth_m + gripper.opening_m
    lifted = trace.item_pose[..., 2] - _rest_height(trace, still) >= LIFT_M
    follows = _slow(local, trace.time_s) & np.any(touched, axis=1, keepdims=True)
    held = near & ((touched & lifted) | (follows & (touched | lifted)))
    found: list[Carry] = []
    for item in range(len(trace.items)):
        for span in spans(held[:, item]):
            begun = np.flatnonzero((lifted & follows)[span.start : span.end, item])
            if not begun.size:
                continue
            carry = Span(span.start + int(begun[0]), span.end)
            if _travels(trace.item_pose[carry.start : carry.end, item, :3]):
                released = carry.end < trace.samples and _lets_go(carry, moves, trace)
                found.append(Carry(item, *carry, released))
    return sorted(found, key=lambda carry: (carry.start, carry.item))


def in_tool(trace: Trace) -> Array:
    """Positions of the items' frames in the frame of the tool centre point [m], shape [t, n, 3]."""
    offset = trace.item_pose[..., :3] - trace.tcp_pose[:, None, :3]
    return np.einsum("tji,tnj->tni", quat_to_matrix(trace.tcp_pose[:, 3:]), offset)


def _slow(local: Array, time_s: Array) -> Flags:
    """Tell when items move with the tool, shape [t, n]; the first sample, of which nothing is known, counts."""
    steps = np.linalg.norm(np.diff(local, axis=0), axis=2) / np.diff(time_s)[:, None]
    return np.concatenate([np.ones((1, local.shape[1]), bool), steps <= FOLLOW_M_S])


def _rest_height(trace: Trace, still: Flags) -> Array:
    """Height at which each item last lay still, or began [m], shape [t, n]."""
    last = np.maximum.accumulate(np.where(still, np.arange(trace.samples)[:, None], 0), axis=0)
    return np.take_along_axis(trace.item_pose[..., 2], last, axis=0)


def _travels(positions: Array) -> bool:
    """Tell a part that is carried from one that was heaved aside and lies higher now."""
    return len(positions) > 0 and float(np.linalg.norm(positions - positions[0], axis=1).max()) >= LIFT_M


def _lets_go(carry: Span, moves: list[Stroke], trace: Trace) -> bool:
    """Tell whether the gripper opened during a carry or about its end, and did not close upon nothing after it."""
    after = trace.time_s[carry.end] + FLICKER_S
    begun = [move for move in moves if trace.time_s[move.start] <= after]
    if not begun or begun[-1].closes or begun[-1].end < carry.start:
        return False
    later = min(int(np.searchsorted(trace.time_s, after)), trace.samples - 1)
    return bool(trace.gripper_opening[later] > trace.gripper_opening[carry.end] - SHUT)
