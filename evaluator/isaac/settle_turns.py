"""What happens next in each of many worlds: the settle check's course as a table of phases, one row a world."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from evaluator.isaac.settle_kernels import (
    DEPTH,
    DOUBTFUL,
    HUGE,
    KEEP,
    MOVED,
    PUSH,
    PUSH_SHIFT,
    QUIET,
    RECOUNT,
    RESTORE,
    SPEED,
)
from scenegen.geometry import Array
from scenegen.physics.creep import GLANCE_M, GLANCE_S, HELD_M, WATCH_S
from scenegen.physics.settle import NUDGE_DIRECTIONS_RAD, STEPS_AT_ONCE

QUIET_STEPS = 10
"""Quiet steps in a row after which a world rests: those after which MuJoCo lets a body sleep."""


class Phase(IntEnum):
    """What a world is doing."""

    EMPTY = 0
    """It holds no scene."""
    REST = 1
    """It comes to its first rest."""
    NUDGE = 2
    """It comes to rest after a push."""
    GLANCE = 3
    """It is looked at shortly, from rest."""
    WATCH = 4
    """It moved while it was glanced at, and is looked at longer."""
    AGAIN = 5
    """It slid, and comes to rest again."""


@dataclass(frozen=True)
class Ends:
    """Worlds whose scenes are done, one entry a world in each array."""

    worlds: np.ndarray
    """Their numbers."""
    finite: np.ndarray
    """False where something diverged."""
    kept: np.ndarray
    """Whether its rest is the one that was remembered; else it is where things are now."""
    seconds: Array
    """Simulated time until the final rest or the limit [s], looks not counted."""
    speed_m_s: Array
    """Largest speed at the end [m/s]."""
    penetration_m: Array
    """Deepest contact at the end [m]."""


class SettleTurns:
    """Follows `Settler.settle` in many worlds at once: rest, nudges of what may only be balanced, a look at creep.

    Example:
        >>> turns = SettleTurns(2, timestep_s=0.0025)  # doctest: +SKIP
        >>> turns.begin(np.array([0, 1]), limit_s=np.array([2.0, 2.0]), nudge=np.array([True, False]))  # doctest: +SKIP
        >>> actions, ends = turns.decide(facts)  # doctest: +SKIP
    """

    def __init__(self, count: int, *, timestep_s: float) -> None:
        self._timestep_s = timestep_s
        self._glance, self._watch = round(GLANCE_S / timestep_s), round(WATCH_S / timestep_s)
        self._phase, self._left, self._limit = (np.zeros(count, int) for _ in range(3))
        self._passed, self._rested, self._looked, self._direction = (np.zeros(count, int) for _ in range(4))
        self._nudge = np.zeros(count, bool)
        self._speed, self._depth = np.zeros(count), np.zeros(count)

    @property
    def empty(self) -> np.ndarray:
        """Numbers of the worlds that hold no scene."""
        return np.flatnonzero(self._phase == Phase.EMPTY)

    def begin(self, worlds: np.ndarray, *, limit_s: Array, nudge: np.ndarray) -> None:
        """Start scenes in worlds that are empty.

        Args:
            worlds: Numbers of the worlds, shape [n].
            limit_s: Longest time until rest of each [s]; nudges may take as long again.
            nudge: Whether to push what may only be balanced in each.
        """
        self._phase[worlds] = Phase.REST
        self._limit[worlds] = self._left[worlds] = np.rint(limit_s / self._timestep_s).astype(int)
        self._nudge[worlds] = nudge
        for array in (self._passed, self._rested, self._looked, self._direction):
            array[worlds] = 0

    def drop(self, worlds: np.ndarray) -> None:
        """Empty some worlds, whatever they do."""
        self._phase[worlds] = Phase.EMPTY

    def decide(self, facts: Array) -> tuple[np.ndarray, Ends]:
        """Decide what happens next, `STEPS_AT_ONCE` steps after the last decision.

        Args:
            facts: What the worlds measured, shape [worlds, FACTS].

        Returns:
            An action for each world, shape [worlds], and which scenes are done; their worlds are empty then.
        """
        phase = self._phase.copy()
        actions = np.zeros(len(phase), np.int32)
        stepping = (phase == Phase.REST) | (phase == Phase.NUDGE) | (phase == Phase.AGAIN)
        self._left[stepping] -= STEPS_AT_ONCE
        self._passed[stepping] += STEPS_AT_ONCE
        self._looked[(phase == Phase.GLANCE) | (phase == Phase.WATCH)] += STEPS_AT_ONCE
        huge = (phase != Phase.EMPTY) & (facts[:, HUGE] > 0)
        spent = stepping & ~huge & (self._left <= 0)
        rests = stepping & ~huge & ~spent & (facts[:, QUIET] >= QUIET_STEPS)
        first = rests & (phase == Phase.REST)
        self._left[first] = self._limit[first]
        fell = self._after_push(rests & (phase == Phase.NUDGE), facts, actions)
        kept = self._looks(phase, facts, huge, actions)
        kept |= self._first_push((rests & (phase != Phase.NUDGE)) | fell, facts, actions)
        self._rested[huge | spent] = self._passed[huge | spent]
        self._speed[spent], self._depth[spent] = facts[spent, SPEED], facts[spent, DEPTH]
        return actions, self._end(huge | spent | kept, huge=huge, kept=kept)

    def _after_push(self, rests: np.ndarray, facts: Array, actions: np.ndarray) -> np.ndarray:
        """Push from the next side, or look whether the nudges moved anything; tell where they did."""
        more = rests & (self._direction < len(NUDGE_DIRECTIONS_RAD) - 1)
        self._direction[more] += 1
        actions[more] = PUSH | (self._direction[more] << PUSH_SHIFT)
        stayed = rests & ~more & (facts[:, MOVED] < HELD_M)
        # The nudges were a question; the answer leaves no mark.
        actions[stayed] = RESTORE
        self._phase[stayed], self._looked[stayed] = Phase.GLANCE, 0
        return rests & ~more & ~stayed

    def _looks(self, phase: np.ndarray, facts: Array, huge: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """End looks whose time is over; tell where everything stayed."""
        glanced = (phase == Phase.GLANCE) & ~huge & (self._looked >= self._glance)
        watched = (phase == Phase.WATCH) & ~huge & (self._looked >= self._watch)
        calm = glanced & (facts[:, MOVED] < GLANCE_M)
        held = watched & (facts[:, MOVED] < HELD_M)
        slid = watched & ~held
        self._phase[glanced & ~calm] = Phase.WATCH
        self._phase[slid] = Phase.AGAIN
        actions[slid] = RECOUNT
        return calm | held

    def _first_push(self, rests: np.ndarray, facts: Array, actions: np.ndarray) -> np.ndarray:
        """Remember rests and push what may only be balanced; tell where there is nothing to push."""
        self._rested[rests] = self._passed[rests]
        self._speed[rests], self._depth[rests] = facts[rests, SPEED], facts[rests, DEPTH]
        plain = rests & (~self._nudge | (facts[:, DOUBTFUL] == 0))
        pushed = rests & ~plain
        self._phase[pushed], self._direction[pushed] = Phase.NUDGE, 0
        actions[rests] = KEEP
        actions[pushed] |= PUSH
        return plain

    def _end(self, done: np.ndarray, *, huge: np.ndarray, kept: np.ndarray) -> Ends:
        worlds = np.flatnonzero(done)
        self._phase[worlds] = Phase.EMPTY
        return Ends(
            worlds=worlds,
            finite=~huge[worlds],
            kept=kept[worlds],
            seconds=self._rested[worlds] * self._timestep_s,
            speed_m_s=self._speed[worlds].copy(),
            penetration_m=self._depth[worlds].copy(),
        )
