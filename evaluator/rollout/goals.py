"""Which worlds may be sorted: a quick look at all of them, before one is judged exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.judging.job import Job
from evaluator.judging.rest import SPEED_M_S
from evaluator.rollout.line import LineState
from scenegen.cell import Role


class Goals:
    """Where the targets of each world belong, as circles around bins.

    What `near` refuses cannot be a success: each target must rest untouched with its frame within its own hull's reach
    of its bin.

    Args:
        worlds: How many worlds there are.
        slots: The line's slots.
    """

    def __init__(self, worlds: int, slots: Sequence[str]) -> None:
        shape = (worlds, len(slots))
        self._rows = {name: row for row, name in enumerate(slots)}
        self._counts = np.zeros(shape, bool)
        self._center = np.zeros((*shape, 2), np.float32)
        self._reach = np.zeros(shape, np.float32)
        self._speed = np.zeros((worlds, 1), np.float32)

    def set(self, world: int, job: Job) -> None:
        """Take up what is to be done in a world."""
        self._counts[world] = False
        self._speed[world] = SPEED_M_S + job.sway_m_s
        for item, name in enumerate(job.items):
            if job.roles[item] is not Role.TARGET:
                continue
            row = self._rows[name]
            self._counts[world, row] = True
            # Rules name one bin; where they should name more, or none, the exact look decides.
            bins = sorted(job.wanted[item])
            width, depth = job.cell.containers[bins[0]].size_m if len(bins) == 1 else (np.inf, np.inf)
            self._center[world, row] = job.fixtures[bins[0]].position[:2] if len(bins) == 1 else 0.0
            self._reach[world, row] = np.hypot(width, depth) / 2 + job.radii_m[item]

    def near(self, state: LineState, worlds: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tell which of some worlds may be sorted, shape [n].

        Args:
            state: What all worlds do.
            worlds: Their numbers, shape [n].
        """
        away = np.linalg.norm(state.slot_pose[worlds, :, :2] - self._center[worlds], axis=2)
        slow = np.linalg.norm(state.slot_vel[worlds, :, :3], axis=2) <= self._speed[worlds]
        fine = (away <= self._reach[worlds]) & slow & ~state.finger_touch[worlds]
        return np.asarray((fine | ~self._counts[worlds]).all(axis=1))
