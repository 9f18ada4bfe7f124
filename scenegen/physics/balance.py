"""Tell which resting items plainly rest, and which may only be balanced."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from scenegen.geometry import Array, quat_to_matrix
from scenegen.physics.model import SceneModel

LEAN_RAD = 0.01
"""Largest lean from a stable pose at which an item plainly rests."""


class Balance:
    """Sorts the resting items of a scene.

    An item plainly rests if it lies in one of its part's stable poses and touches nothing but floors. Any other one may
    be balanced on an edge or on a neighbour.
    """

    def __init__(self, scene: SceneModel) -> None:
        self._scene = scene
        # Of its own, since looking at sleeping things in the simulated state would wake them.
        self._probe = mujoco.MjData(scene.model)
        self._row = {int(body): row for row, body in enumerate(scene.model.jnt_bodyid)}
        self._floor = floor_geoms(scene.model)
        self._stable = [stable_directions(scene, slot) for slot in scene.slots]

    def doubtful(self, rows: np.ndarray) -> np.ndarray:
        """Return which of the items may only be balanced.

        Args:
            rows: The items' rows in the model's arrays of free bodies, shape [n].

        Returns:
            The doubtful ones among them, in the same order.
        """
        touching = self._touching()
        quats = self._scene.data.qpos.reshape(-1, 7)[rows][:, [4, 5, 6, 3]]
        ups = quat_to_matrix(quats)[:, 2]
        leaning = [(self._stable[row] @ up).max() < np.cos(LEAN_RAD) for row, up in zip(rows, ups, strict=True)]
        held = [row in touching or lean for row, lean in zip(rows.tolist(), leaning, strict=True)]
        return rows[np.array(held, bool)]

    def penetration(self) -> float:
        """Depth of the deepest contact [m], also between sleeping things."""
        return float(max(0.0, -self._contacts().dist.min(initial=0.0)))

    def _contacts(self) -> Any:
        model, probe = self._scene.model, self._probe
        sleep = model.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        model.opt.enableflags &= ~sleep
        probe.qpos[:] = self._scene.data.qpos
        mujoco.mj_kinematics(model, probe)
        mujoco.mj_collision(model, probe)
        model.opt.enableflags |= sleep
        return probe.contact

    def _touching(self) -> set[int]:
        """Rows of the items that touch another item or a wall."""
        found: set[int] = set()
        bodies = self._scene.model.geom_bodyid
        for first, second in self._contacts().geom.tolist():
            if not (self._floor[first] or self._floor[second]):
                found |= {self._row[int(bodies[geom])] for geom in (first, second) if int(bodies[geom]) in self._row}
        return found


def floor_geoms(model: mujoco.MjModel) -> list[bool]:
    """Tell of each geom of a cell's model whether it is a floor: a fixture's first box; the others are walls."""
    loose = {int(body) for body in model.jnt_bodyid}
    first = {int(body): geom for geom, body in reversed(list(enumerate(model.geom_bodyid)))}
    return [int(b) not in loose and first[int(b)] == geom for geom, b in enumerate(model.geom_bodyid)]


def stable_directions(scene: SceneModel, slot: str) -> Array:
    """Return the vertical in the part's frame for each stable pose of a slot's part, shape [k, 3]."""
    part = scene.parts[scene.slots[slot]]
    return quat_to_matrix(np.array([pose.quat_xyzw for pose in part.stable_poses]).reshape(-1, 4))[:, 2]
