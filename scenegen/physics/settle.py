"""Let a layout come to rest, and say how far it moved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np

from scenegen.cell import Cell
from scenegen.geometry import Array, Pose, angle_between
from scenegen.parts.catalogue import Catalogue
from scenegen.physics.balance import Balance
from scenegen.physics.creep import HELD_M, Creep
from scenegen.physics.model import SceneModel
from scenegen.scenario import Layout, Matter

STEPS_AT_ONCE = 5
"""Steps between two looks at who is awake; a scene sleeps after 10 quiet steps, so more would be wasted."""


NUDGE_M_S = 0.015
"""Speed of the nudge that a resting scene must withstand [m/s]: as if dropped by 11 µm.

Without it a part that is balanced on an edge counts as resting while it is still too slow to see.
"""
NUDGE_DIRECTIONS_RAD = (0.0, math.pi, math.pi / 2, -math.pi / 2)
"""From where it comes, one after the other; items that plainly rest are left alone."""
LARGEST = 1e10
"""Positions [m] and velocities [m/s, rad/s] beyond this have diverged, by MuJoCo's own bound."""
GOLDEN_ANGLE_RAD = 2.399963
"""Turns the nudge's direction from slot to slot, so that neighbours are not pushed alike."""


@dataclass(frozen=True)
class Settled:
    """How a layout came to rest."""

    start: Layout
    """Where the items started."""
    rests: tuple[tuple[float, ...], ...]
    """Rest pose of each item, in layout order: position [m] and quaternion xyzw; where it started if that diverged."""
    drift_m: dict[str, float]
    """Distance of each item's origin from where it started [m]."""
    rotation_rad: dict[str, float]
    """Rotation of each item from where it started [rad]."""
    speed_m_s: float
    """Largest speed of any item at the end [m/s]; an angular speed counts at the part's radius."""
    penetration_m: float
    """Deepest contact penetration at the end [m]."""
    finite: bool
    """False if any state became NaN, infinite or huge; the layout is then the one that was given."""
    seconds: float
    """Simulated time until rest or the time limit [s]."""

    @cached_property
    def layout(self) -> Layout:
        """The same items at their rest poses."""
        poses = [Pose(position_m=(x, y, z), quat_xyzw=(i, j, k, w)) for x, y, z, i, j, k, w in self.rests]
        pairs = zip(self.start.items, poses, strict=True)
        return self.start.replaced(items=tuple(item.replaced(pose_to_world=pose) for item, pose in pairs))

    @classmethod
    def at(cls, layout: Layout, rests: Array, *, speed_m_s: float, penetration_m: float, seconds: float) -> Settled:
        """Compare where items started with where they came to rest.

        Args:
            layout: Where they started.
            rests: Where they rest, in layout order: position [m] and quaternion xyzw, shape [items, 7].
            speed_m_s: Largest speed at the end [m/s].
            penetration_m: Deepest contact at the end [m].
            seconds: Simulated time [s].
        """
        return cls.all_at([layout], [rests], [speed_m_s], [penetration_m], [seconds])[0]

    @classmethod
    def all_at(
        cls,
        layouts: Sequence[Layout],
        rests: Sequence[Array],
        speeds_m_s: Sequence[float],
        penetrations_m: Sequence[float],
        seconds: Sequence[float],
    ) -> list[Settled]:
        """Do for many layouts what `at` does for one; each argument has one entry a layout."""
        if not layouts:
            return []
        starts, ends = np.concatenate([_places(layout) for layout in layouts]), np.concatenate(rests)
        moved = np.linalg.norm(ends[:, :3] - starts[:, :3], axis=1).tolist()
        turned, places = angle_between(starts[:, 3:], ends[:, 3:]).tolist(), list(map(tuple, ends.tolist()))
        found, first = [], 0
        for i, layout in enumerate(layouts):
            names, rows = [item.name for item in layout.items], slice(first, first + len(layout.items))
            first = rows.stop
            found.append(
                cls(
                    start=layout,
                    rests=tuple(places[rows]),
                    drift_m=dict(zip(names, moved[rows], strict=True)),
                    rotation_rad=dict(zip(names, turned[rows], strict=True)),
                    speed_m_s=speeds_m_s[i],
                    penetration_m=penetrations_m[i],
                    finite=True,
                    seconds=seconds[i],
                )
            )
        return found

    @classmethod
    def diverged(cls, layout: Layout, seconds: float) -> Settled:
        """Say that a layout's simulation diverged after some time [s]."""
        infinite = {item.name: float("inf") for item in layout.items}
        return cls(
            start=layout,
            rests=tuple(map(tuple, _places(layout).tolist())),
            drift_m=infinite,
            rotation_rad=dict(infinite),
            speed_m_s=float("inf"),
            penetration_m=float("inf"),
            finite=False,
            seconds=seconds,
        )


def _places(layout: Layout) -> Array:
    """Position [m] and quaternion xyzw of each item, shape [items, 7]."""
    poses = [item.pose_to_world for item in layout.items]
    return np.array([(*pose.position_m, *pose.quat_xyzw) for pose in poses]).reshape(-1, 7)


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
        self._balance = Balance(self._scene)
        self._creep = Creep(self._scene)
        self._radius_m = np.array([parts[part].radius_m for part in self._scene.slots.values()])

    @property
    def engine(self) -> str:
        """The simulator and its version."""
        return f"mujoco {mujoco.__version__}"

    def settle(self, layout: Layout, matter: Matter, *, limit_s: float = 2.0, nudge: bool = True) -> Settled:
        """Simulate until everything rests.

        Args:
            layout: Where the items start, with zero velocity.
            matter: Mass properties and friction of every item.
            limit_s: Longest simulated time until rest [s]; nudges may take as long again.
            nudge: Push what may only be balanced, to see whether it stays; without it a rest may be a precarious one.

        Raises:
            UnknownName: An item is no slot of the cell, or a fixture or an item's matter is missing.
            InvalidRecord: An item holds another part than its slot, or its matter is not a positive finite number.
        """
        scene = self._scene
        scene.load(layout, matter)
        finite, seconds = self._run(scene.rows(layout), limit_s, nudge=nudge)
        if not finite:
            return Settled.diverged(layout, seconds)
        return Settled.at(
            layout,
            scene.places(layout),
            speed_m_s=self._speed(scene.rows(layout)),
            penetration_m=self._balance.penetration(),
            seconds=seconds,
        )

    def _run(self, rows: np.ndarray, limit_s: float, *, nudge: bool) -> tuple[bool, float]:
        """Step until all items sleep where they withstand nudges.

        Returns:
            Whether the state stayed finite, and the time at which the final rest began [s].
        """
        data = self._scene.data
        finite, left = self._rest(round(limit_s / self._scene.model.opt.timestep))
        rested_s, budget = data.time, round(limit_s / self._scene.model.opt.timestep)
        while nudge and finite and left > 0 and budget > 0:
            rest, doubtful = data.qpos.copy(), self._balance.doubtful(rows)
            finite, budget = self._nudge(doubtful, budget)
            if finite and budget > 0 and self._moved(rest, rows) < HELD_M:
                # The nudges were a question; the answer leaves no mark.
                data.qpos[:] = rest
                if not (len(doubtful) and self._slides_on(rest, rows)):
                    break
                finite, budget = self._rest(budget)
            rested_s = data.time
        return finite, rested_s

    def _slides_on(self, rest: Array, rows: np.ndarray) -> bool:
        """Tell whether a rest only looks like one; then go on from where its items have slid to."""
        if self._creep.holds(rest, lambda qpos: self._movement_between(rest, qpos, rows)):
            return False
        self._creep.copy_to(self._scene.data, rows)
        return True

    def _nudge(self, doubtful: np.ndarray, steps: int) -> tuple[bool, int]:
        """Push what may only be balanced from four sides; return whether all stayed finite, and the steps left."""
        finite = True
        for direction in NUDGE_DIRECTIONS_RAD if len(doubtful) else ():
            if not finite or steps == 0:
                break
            # By slot, so that a slot is always pushed alike.
            angle = GOLDEN_ANGLE_RAD * doubtful + direction
            push = NUDGE_M_S * np.column_stack([np.cos(angle), np.sin(angle)])
            self._scene.data.qvel.reshape(-1, 6)[doubtful, :2] = push
            finite, steps = self._rest(steps)
        return finite, steps

    def _moved(self, rest: Array, rows: np.ndarray) -> float:
        """Greatest movement since a state of rest [m]; a rotation counts at the part's radius."""
        return self._movement_between(rest, self._scene.data.qpos, rows)

    def _movement_between(self, rest: Array, then: Array, rows: np.ndarray) -> float:
        before, after = rest.reshape(-1, 7)[rows], then.reshape(-1, 7)[rows]
        shift = np.linalg.norm(after[:, :3] - before[:, :3], axis=1)
        turn = angle_between(before[:, [4, 5, 6, 3]], after[:, [4, 5, 6, 3]]) * self._radius_m[rows]
        return float(np.maximum(shift, turn).max(initial=0.0))

    def _rest(self, steps: int) -> tuple[bool, int]:
        """Step until all items sleep; return whether the state stayed finite, and how many steps are left."""
        model, data = self._scene.model, self._scene.data
        while steps > 0:
            count = min(STEPS_AT_ONCE, steps)
            mujoco.mj_step(model, data, nstep=count)
            steps -= count
            # Also false where one of them is not a number.
            if not (np.abs(data.qpos).max() < LARGEST and np.abs(data.qvel).max() < LARGEST):
                return False, steps
            if data.ntree_awake == 0:
                break
        return True, steps

    def _speed(self, rows: np.ndarray) -> float:
        qvel = self._scene.data.qvel.reshape(-1, 6)[rows]
        linear = np.linalg.norm(qvel[:, :3], axis=1)
        angular = np.linalg.norm(qvel[:, 3:], axis=1) * self._radius_m[rows]
        return float(np.maximum(linear, angular).max(initial=0.0))
