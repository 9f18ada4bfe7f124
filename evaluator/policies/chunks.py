"""Chunks of actions in time: each world carries out its own, the world goes on while the policy thinks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluator.policies.actions import held
from evaluator.policy import PolicySpec

_NONE = -1
"""In place of a number of ticks: nothing is awaited."""
_TICK_SHARE = 1e-6
"""By which share of a tick a latency may exceed whole ticks without costing one more: 0.15 s at 20 Hz are three."""


class ChunkBuffer:
    """Holds the chunk that each world carries out, and the one that it waits for.

    Time goes in ticks of 1 / `rate_hz`. A chunk that is asked for at tick t with latency L takes over at the first tick
    at or after t + L and begins with its first action. Until then the rest of the old chunk goes on, beyond `execute`
    too; after that its last action is held: a joint or tool target stays the target, whereas for JOINT_VELOCITY and
    TCP_DELTA holding means zero motion with the gripper's last opening. Before its first chunk a world holds the action
    that it was reset with. All operations are on arrays over worlds.

    Args:
        worlds: How many worlds there are; they are numbered from zero.
        spec: The policy's action kind, rate, horizon and how many actions are carried out before it is asked again.
        numbers: How many numbers an action has.

    Example:
        >>> from evaluator.policy import ActionKind
        >>> spec = PolicySpec("mine", ActionKind.JOINT_POSITION, rate_hz=10, horizon=3, execute=2)
        >>> buffer = ChunkBuffer(1, spec, numbers=2)
        >>> buffer.reset([0], [[0, 0]])
        >>> buffer.due()
        array([ True])
        >>> buffer.put([0], [[[1, 1], [2, 1], [3, 1]]], latency_s=0.1)
        >>> [buffer.step()[0, 0].item() for _ in range(5)]
        [0.0, 1.0, 2.0, 3.0, 3.0]
    """

    def __init__(self, worlds: int, spec: PolicySpec, *, numbers: int) -> None:
        self._spec = spec
        shape = (worlds, spec.horizon, numbers)
        self._current = np.zeros(shape, np.float32)
        self._next = np.zeros(shape, np.float32)
        self._done = np.full(worlds, spec.horizon)
        """How many actions of the current chunk were carried out, shape [worlds]."""
        self._wait = np.full(worlds, _NONE)
        """Ticks until the next chunk takes over, shape [worlds]."""

    def reset(self, worlds: Sequence[int], rest: ArrayLike) -> None:
        """Forget the chunks of worlds that begin a new episode.

        Args:
            worlds: Their numbers, shape [n].
            rest: What each does until its first chunk takes over (see `rest_actions`), shape [n, numbers].
        """
        rows = np.asarray(worlds, int)
        self._current[rows] = np.asarray(rest, np.float32)[:, None]
        self._done[rows] = self._spec.horizon
        self._wait[rows] = _NONE

    def due(self) -> NDArray[np.bool_]:
        """Tell which worlds need a new chunk to be asked for at this tick, shape [worlds]."""
        return (self._wait == _NONE) & (self._done >= self._spec.execute)

    def put(self, worlds: Sequence[int], chunks: ArrayLike, *, latency_s: ArrayLike) -> None:
        """Keep chunks that were asked for at this tick.

        Args:
            worlds: Numbers of the worlds, shape [n].
            chunks: Shape [n, horizon, numbers].
            latency_s: How long the policy thought [s], one number or shape [n].
        """
        rows = np.asarray(worlds, int)
        ticks = np.ceil(np.asarray(latency_s, float) * self._spec.rate_hz - _TICK_SHARE).astype(int)
        self._next[rows] = np.asarray(chunks, np.float32)
        self._wait[rows] = np.maximum(ticks, 0)

    def step(self, worlds: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
        """Return what each world does in this tick, shape [worlds, numbers], and go on to the next tick.

        Args:
            worlds: In which worlds a tick begins, shape [worlds]; in all if not given. Rows of the others mean nothing.
        """
        on = np.ones(len(self._done), bool) if worlds is None else worlds
        arrived = (self._wait == 0) & on
        self._current[arrived] = self._next[arrived]
        self._done[arrived] = 0
        self._wait[arrived] = _NONE
        last = self._spec.horizon - 1
        actions = self._current[np.arange(len(self._done)), np.minimum(self._done, last)]
        over = self._done > last
        actions[over] = held(self._spec.action, actions[over])
        self._done[on] = np.minimum(self._done[on] + 1, self._spec.horizon)
        self._wait -= (self._wait > 0) & on
        return actions
