"""What all worlds did, tick by tick: written for all at once, cut out for one world when its episode ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator.rollout.line import LineState

BLOCK = 64
"""Ticks that are kept in one piece: few pieces a cut, and little is kept longer than it is needed."""
FIELDS = {
    "joint_pos": "joint_pos",
    "joint_vel": "joint_vel",
    "joint_torque": "joint_torque",
    "opening": "gripper_opening",
    "slot_pose": "item_pose",
    "slot_vel": "item_vel",
    "finger_touch": "finger_touch",
    "body_touch": "body_touch",
    "slot_fixture": "item_fixture",
    "fixture_force": "fixture_force",
}
"""From the names of a line's state to those of a trace."""
_KIND = {"f": np.float32, "i": np.int16, "b": np.bool_}
_SLOTS = ("slot_pose", "slot_vel", "finger_touch", "body_touch", "slot_fixture")


@dataclass(frozen=True, eq=False)
class _Block:
    """Ticks `start` to `start + BLOCK`; arrays of shape [BLOCK, w, ...]."""

    start: int
    arrays: dict[str, Any]


class Log:
    """Keeps the states of all worlds for as long as an episode may ask for them.

    New memory costs up to a hundred times what is written into it, when it is touched for the first time. So the arrays
    of forgotten blocks are used again, and while there are none, the next block's are touched by another thread.
    """

    def __init__(self) -> None:
        self._blocks: deque[_Block] = deque()
        self._free: list[dict[str, Any]] = []
        """Arrays of forgotten blocks."""
        self._maker = ThreadPoolExecutor(1, thread_name_prefix="memory for recordings")
        self._coming: Future[dict[str, Any]] | None = None

    def add(self, tick: int, state: LineState) -> None:
        """Record a tick; ticks come in order.

        Args:
            tick: Its number.
            state: What all worlds do.
        """
        if not self._blocks or tick >= self._blocks[-1].start + BLOCK:
            self._blocks.append(_Block(tick, self._arrays(state)))
        block = self._blocks[-1]
        for name, values in block.arrays.items():
            values[tick - block.start] = getattr(state, name)

    def _arrays(self, state: LineState) -> dict[str, Any]:
        """Return the arrays of a new block, and see to it that there are some for the next one."""
        if self._free:
            return self._free.pop()
        arrays = self._coming.result() if self._coming else _room(state)
        self._coming = self._maker.submit(_room, state)
        return arrays

    def replace(self, tick: int, worlds: Sequence[int], state: LineState) -> None:
        """Record the last tick anew for worlds that begin another episode with it.

        Args:
            tick: Its number.
            worlds: Their numbers.
            state: What all worlds do.
        """
        block = self._blocks[-1]
        for name, values in block.arrays.items():
            values[tick - block.start, worlds] = getattr(state, name)[worlds]

    def cut(self, world: int, slots: Any, first: int, last: int) -> dict[str, Any]:
        """Return what one world did, by the names of a trace.

        Args:
            world: Its number.
            slots: Which slots, in which order, shape [n].
            first: First tick.
            last: Last tick, which is part of it.
        """
        count = last + 1 - first
        found: dict[str, Any] = {}
        for name, values in self._blocks[-1].arrays.items():
            shape = (len(slots), *values.shape[3:]) if name in _SLOTS else values.shape[2:]
            found[name] = np.empty((count, *shape), values.dtype)
        for block in self._blocks:
            start, end = max(first - block.start, 0), min(last + 1 - block.start, BLOCK)
            if start >= end:
                continue
            at = slice(block.start + start - first, block.start + end - first)
            for name, values in block.arrays.items():
                mine = values[start:end, world]
                if name in _SLOTS:
                    np.take(mine, slots, axis=1, out=found[name][at], mode="clip")
                else:
                    found[name][at] = mine
        return {FIELDS[name]: values for name, values in found.items()}

    def forget(self, before: int) -> None:
        """Let go of blocks that hold nothing at or after a tick."""
        while self._blocks and self._blocks[0].start + BLOCK <= before:
            self._free.append(self._blocks.popleft().arrays)


def _room(state: LineState) -> dict[str, Any]:
    """Make the arrays of a block, and touch them: numbers take half as much as they do in the making."""
    states = {name: getattr(state, name) for name in FIELDS}
    return {name: np.full((BLOCK, *one.shape), 0, _KIND[one.dtype.kind]) for name, one in states.items()}
