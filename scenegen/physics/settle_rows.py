"""Scenes of a cell as rows of numbers, for simulators that hold many of them at once."""

from __future__ import annotations

import mujoco
import numpy as np

from scenegen.cell import Cell
from scenegen.geometry import Array
from scenegen.parts.catalogue import Catalogue
from scenegen.physics.balance import floor_geoms, stable_directions
from scenegen.physics.model import SceneModel
from scenegen.scenario import Layout, Matter

SLOT_NUMBERS = 22
"""Numbers a slot: qpos 7, mass 1, principal moments 3, centre of mass 3, its axes 4, inverse weights 2, friction 1,
present 1; lengths in m, quaternions wxyz."""
POSE, MATTER, PRESENT = slice(0, 7), slice(7, 21), 21
"""Where of a slot's numbers they stand."""
FIXTURE_NUMBERS = 7
"""Numbers a fixture: position 3 [m], quaternion wxyz 4."""


class SettleRows:
    """Writes a layout and its matter as one row: what `SceneModel.load` would change in the model and its state.

    The model itself is the one that every row is relative to. A row holds `SLOT_NUMBERS` for each slot, in the order of
    the inventory, then `FIXTURE_NUMBERS` for each of `fixture_bodies`, then the mean inertia of what is present.

    Example:
        >>> rows = SettleRows(cell, parts)  # doctest: +SKIP
        >>> rows.of(layout, matter).shape == (rows.width,)  # doctest: +SKIP
        True
    """

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self._scene = SceneModel(cell, parts, sleep=False)
        model = self._scene.model
        # What only MuJoCo itself does: resetting what diverged, and sleeping.
        model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        model.tree_sleep_policy[:] = mujoco.mjtSleepPolicy.mjSLEEP_AUTO_NEVER
        bodies = {owner: body for body, owner in enumerate(self._scene.owners)}
        self.slot_bodies = np.array([bodies[slot] for slot in self._scene.slots], np.int32)
        """Body of each slot, shape [slots]."""
        self.fixture_bodies = np.array([bodies[name] for name in self._scene.fixtures], np.int32)
        """Body of each fixture, shape [fixtures]."""
        self.origin_m = np.array(cell.feed.pose_to_world.position_m)
        """What rows and model have as their origin [m], world frame: near it, single precision is finest."""
        model.body_pos[1:] -= self.origin_m
        self.floors = np.array(floor_geoms(model))
        """Whether each geom is a floor, shape [geoms]."""
        self.radius_m = np.array([parts[part].radius_m for part in self._scene.slots.values()])
        """Radius of each slot's part [m], shape [slots]."""
        self.stable_ups = _padded([stable_directions(self._scene, slot) for slot in self._scene.slots])
        """Verticals in the part's frame of each slot's stable poses, shape [slots, poses, 3]; the last one repeats."""
        self._parked = model.qpos0.reshape(-1, 7).copy()
        self._first_geoms = model.body_geomadr[self.slot_bodies]
        self._slots, self._matters = np.zeros((len(self.slot_bodies), SLOT_NUMBERS)), -1
        """What was written last of the slots, and of which state of the model's matter."""

    @property
    def model(self) -> mujoco.MjModel:
        """The compiled model; nothing in it sleeps."""
        return self._scene.model

    @property
    def width(self) -> int:
        """Numbers a row."""
        return SLOT_NUMBERS * len(self.slot_bodies) + FIXTURE_NUMBERS * len(self.fixture_bodies) + 1

    def slots_of(self, layout: Layout) -> np.ndarray:
        """Return the slots of a layout's items, in layout order, shape [items]."""
        return self._scene.rows(layout)

    def of(self, layout: Layout, matter: Matter) -> Array:
        """Write one scene, everything at rest.

        Args:
            layout: Poses; every fixture of the cell must be among them.
            matter: Mass properties and friction of every item.

        Returns:
            The row, shape [width].

        Raises:
            UnknownName: An item is no slot of the cell, or a fixture or an item's matter is missing.
            InvalidRecord: An item holds another part than its slot, or its matter is not a positive finite number.
        """
        items = self._scene.write(layout, matter)
        model, slots = self.model, self._slots
        if self._scene.matters != self._matters:
            self._write_matter()
        places = [(*item.pose_to_world.position_m, *item.pose_to_world.quat_xyzw) for item in layout.items]
        slots[:, POSE] = self._parked
        slots[items, POSE] = np.array(places).reshape(-1, 7)[:, [0, 1, 2, 6, 3, 4, 5]]
        slots[:, :3] -= self.origin_m
        slots[:, PRESENT] = 0.0
        slots[items, PRESENT] = 1.0
        fixtures = np.empty((len(self.fixture_bodies), FIXTURE_NUMBERS))
        fixtures[:, :3] = model.body_pos[self.fixture_bodies] - self.origin_m
        fixtures[:, 3:] = model.body_quat[self.fixture_bodies]
        return np.concatenate([slots.ravel(), fixtures.ravel(), [model.stat.meaninertia]])

    def _write_matter(self) -> None:
        """Write what the model holds of the slots besides their poses."""
        model, bodies = self.model, self.slot_bodies
        self._slots[:, MATTER] = np.column_stack(
            [
                model.body_mass[bodies],
                model.body_inertia[bodies],
                model.body_ipos[bodies],
                model.body_iquat[bodies],
                model.body_invweight0[bodies],
                model.geom_friction[self._first_geoms, 0],
            ]
        )
        self._matters = self._scene.matters


def _padded(directions: list[Array]) -> Array:
    """Stack lists of directions of different lengths, the last of each repeated."""
    longest = max(map(len, directions))
    return np.stack([np.concatenate([some, np.repeat(some[-1:], longest - len(some), axis=0)]) for some in directions])
