"""Tell a rest from a slow slide that ends in a fall."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from scenegen.geometry import Array
from scenegen.physics.model import SceneModel

HELD_M = 0.0005
"""An item that moved less than this stayed where it was [m]; a rotation counts at the part's radius."""
GLANCE_S, GLANCE_M = 0.05, 0.00005
"""How long every rest is looked at while all is awake [s], and movement in that time which asks for a longer look [m].

Measured on 24 layouts with three touching pairs each: 23 move by less than 0.05 mm and stay for a second; the one that
moves more slides on by a millimetre a second until it falls off its edge half a second later.
"""
WATCH_S = 1.0
"""How long the longer look lasts [s]."""


class Creep:
    """Looks at resting items with nothing asleep.

    Sleep stops whatever is slow. An item that slides slowly toward an edge would rest there for good.
    """

    def __init__(self, scene: SceneModel) -> None:
        self._scene = scene
        # Of its own, since looking must neither wake nor move what rests.
        self._data = mujoco.MjData(scene.model)

    def holds(self, rest: Array, movement: Callable[[Array], float]) -> bool:
        """Tell whether everything stays where it rests.

        Args:
            rest: Positions of all bodies, as MuJoCo has them.
            movement: From positions to the greatest movement since the rest [m].
        """
        data: Any = self._data
        mujoco.mj_resetData(self._scene.model, data)
        data.qpos[:] = rest
        self._step(GLANCE_S)
        if movement(data.qpos) < GLANCE_M:
            return True
        self._step(WATCH_S - GLANCE_S)
        return movement(data.qpos) < HELD_M

    def copy_to(self, data: Any, rows: np.ndarray) -> None:
        """Give some bodies of another state the positions and velocities that they reached; absent ones just fell."""
        data.qpos.reshape(-1, 7)[rows] = self._data.qpos.reshape(-1, 7)[rows]
        data.qvel.reshape(-1, 6)[rows] = self._data.qvel.reshape(-1, 6)[rows]

    def _step(self, seconds: float) -> None:
        model = self._scene.model
        sleep = model.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        model.opt.enableflags &= ~sleep
        mujoco.mj_step(model, self._data, nstep=round(seconds / model.opt.timestep))
        model.opt.enableflags |= sleep
