"""Let a layout come to rest, and say how far it moved."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from scenegen.cell import Cell
from scenegen.geometry import angle_between
from scenegen.parts.catalogue import Catalogue
from scenegen.physics.model import SceneModel
from scenegen.scenario import Layout, Matter

STEPS_AT_ONCE = 5
"""Steps between two looks at who is awake; a scene sleeps after 10 quiet steps, so more would be wasted."""


@dataclass(frozen=True)
class Settled:
    """How a layout came to rest."""

    layout: Layout
    """The same items at their rest poses."""
    drift_m: dict[str, float]
    """Distance of each item's origin from where it started [m]."""
    rotation_rad: dict[str, float]
    """Rotation of each item from where it started [rad]."""
    speed_m_s: float
    """Largest speed of any item at the end [m/s]; an angular speed counts at the part's radius."""
    penetration_m: float
    """Deepest contact penetration at the end [m]."""
    finite: bool
    """False if any state became NaN or infinite; the layout is then the one that was given."""
    seconds: float
    """Simulated time until rest or the time limit [s]."""


class Settler:
    """One compiled model of a cell's inventory, into which any layout of the cell can be loaded.

    The same layout and matter settle to the same bytes, whatever was settled before.

    Example:
        >>> settled = Settler(cell, parts).settle(layout, matter)  # doctest: +SKIP
        >>> max(settled.drift_m.values())  # doctest: +SKIP
        0.00003
    """

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self._scene = SceneModel(cell, parts, sleep=True)
        self._radius_m = np.array([parts[part].radius_m for part in self._scene.slots.values()])

    def settle(self, layout: Layout, matter: Matter, *, limit_s: float = 2.0) -> Settled:
        """Simulate until everything rests.

        Args:
            layout: Where the items start, with zero velocity.
            matter: Mass properties and friction of every item.
            limit_s: Longest simulated time [s].

        Raises:
            UnknownName: An item is no slot of the cell, or a fixture or an item's matter is missing.
            InvalidRecord: An item holds another part than its slot, or its matter is not a positive finite number.
        """
        scene = self._scene
        scene.load(layout, matter)
        if not self._run(limit_s):
            return _diverged(layout, scene.data.time)
        poses = scene.poses(layout)
        starts = [item.pose_to_world for item in layout.items]
        names = [item.name for item in layout.items]
        moved = [float(np.linalg.norm(end.position - start.position)) for start, end in zip(starts, poses, strict=True)]
        turned = [float(angle_between(start.quat, end.quat)) for start, end in zip(starts, poses, strict=True)]
        items = tuple(
            item.model_copy(update={"pose_to_world": pose}) for item, pose in zip(layout.items, poses, strict=True)
        )
        return Settled(
            layout=layout.model_copy(update={"items": items}),
            drift_m=dict(zip(names, moved, strict=True)),
            rotation_rad=dict(zip(names, turned, strict=True)),
            speed_m_s=self._speed(scene.rows(layout)),
            penetration_m=self._penetration(),
            finite=True,
            seconds=scene.data.time,
        )

    def _run(self, limit_s: float) -> bool:
        """Step until all items sleep or the limit is reached; tell whether the state stayed finite."""
        model, data = self._scene.model, self._scene.data
        left = round(limit_s / model.opt.timestep)
        while left > 0:
            steps = min(STEPS_AT_ONCE, left)
            mujoco.mj_step(model, data, nstep=steps)
            left -= steps
            if not (np.isfinite(data.qpos).all() and np.isfinite(data.qvel).all()):
                return False
            if data.ntree_awake == 0:
                break
        return True

    def _speed(self, rows: np.ndarray) -> float:
        qvel = self._scene.data.qvel.reshape(-1, 6)[rows]
        linear = np.linalg.norm(qvel[:, :3], axis=1)
        angular = np.linalg.norm(qvel[:, 3:], axis=1) * self._radius_m[rows]
        return float(np.maximum(linear, angular).max(initial=0.0))

    def _penetration(self) -> float:
        """Deepest contact of the present state, sleeping pairs included."""
        model, data = self._scene.model, self._scene.data
        sleep = int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        model.opt.enableflags &= ~sleep
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        model.opt.enableflags |= sleep
        return float(max(0.0, -data.contact.dist.min(initial=0.0)))


def _diverged(layout: Layout, seconds: float) -> Settled:
    infinite = {item.name: float("inf") for item in layout.items}
    return Settled(
        layout=layout,
        drift_m=infinite,
        rotation_rad=dict(infinite),
        speed_m_s=float("inf"),
        penetration_m=float("inf"),
        finite=False,
        seconds=seconds,
    )
