"""The oracle: a scripted policy that knows where everything is. What it cannot sort is no fair test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.policies.context import PolicyContext
from evaluator.policies.form import PolicyForm
from evaluator.policies.picker import Picker
from evaluator.policies.stopwatch import Stopwatch
from evaluator.policies.tool_paths import ToolPaths
from evaluator.policies.truth_sight import TruthSight
from evaluator.policy import ActionKind, Observation, PolicySpec, as_numpy
from scenegen.cell import Cell
from scenegen.errors import PolicyError
from scenegen.parts.catalogue import Catalogue
from scenegen.robot import Arm

RATE_HZ = 50.0
CHUNK = 10
"""Actions in a chunk: it looks at the scene five times a second."""


class Oracle:
    """Picks and places with the true poses, by inverse kinematics; privileged.

    Args:
        cell: The cell.
        parts: Its parts.
    """

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self.spec = PolicySpec(
            "oracle", ActionKind.JOINT_POSITION, truth=True, rate_hz=RATE_HZ, horizon=CHUNK, execute=CHUNK
        )
        self._cell, self._parts = cell, parts
        self._paths = ToolPaths(Arm(cell.robot))
        self._pickers: dict[int, Picker] = {}
        self.answered_in_s = np.zeros(0)

    def reset(self, worlds: Sequence[int], instructions: Sequence[str]) -> None:
        """Forget what was planned in some worlds."""
        self._paths.forget(worlds)

    def act(self, observation: Observation) -> NDArray[np.float32]:
        """Return the next joint positions of each world, shape [n, CHUNK, joints + 1]."""
        if observation.truth is None:
            raise PolicyError("oracle", "it was shown no truth", "observations with the poses of all items")
        worlds, joints = observation.worlds, as_numpy(observation.policy["joint_pos"])
        watch = Stopwatch(len(worlds))
        new = self._paths.unknown(worlds)
        for row, start in zip(new.tolist(), self._paths.begin([worlds[row] for row in new], joints[new]), strict=True):
            self._pickers[worlds[row]] = Picker(self._cell, start, rate_hz=RATE_HZ)
        for row in self._paths.ended(worlds).tolist():
            with watch.only([row]):
                sight = TruthSight(self._cell, self._parts, observation.truth[row])
                self._paths.put(worlds[row], self._pickers[worlds[row]].next_points(sight))
        chunks = self._paths.chunk(worlds, CHUNK)
        self.answered_in_s = watch.answered_in_s()
        return chunks

    def close(self) -> None:
        """Nothing is held open."""


def build(form: PolicyForm, context: PolicyContext) -> Oracle:
    """Build it from `oracle`."""
    form.no_target()
    form.options.end()
    return Oracle(context.cell, context.parts)
