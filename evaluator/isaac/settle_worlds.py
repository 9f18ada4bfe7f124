"""Many scenes of a cell in MuJoCo-Warp: each world takes any scene, and the host says what happens next in each."""

from __future__ import annotations

from typing import Any

import mujoco_warp as mjw
import numpy as np
import warp as wp
from mujoco_warp._src.types import OverflowType

from evaluator.isaac import settle_kernels as kernels
from evaluator.isaac.contact_depths import join_tilted_faces, mend_contacts
from scenegen.geometry import Array
from scenegen.physics.balance import LEAN_RAD
from scenegen.physics.settle import GOLDEN_ANGLE_RAD, LARGEST, NUDGE_DIRECTIONS_RAD, NUDGE_M_S, STEPS_AT_ONCE
from scenegen.physics.settle_rows import FIXTURE_NUMBERS, SLOT_NUMBERS, SettleRows

CONTACTS_PER_SLOT = 24
"""Room for contacts in all worlds together, for each slot of each world; fasteners, some of them stacked, take 20."""
ROWS_PER_SLOT = 120
"""Room in each world for rows of the constraint solver, of which a contact takes three, for each slot."""

LOST = (
    OverflowType.NEFC
    | OverflowType.NJMAX_NNZ
    | OverflowType.BROADPHASE
    | OverflowType.NARROWPHASE
    | OverflowType.CCD
    | OverflowType.EPA_HORIZON
)
"""What an overflow must not be: contacts or constraints were lost. That a solver stops at its limit is no loss."""

PER_WORLD = (
    "body_pos",
    "body_quat",
    "body_ipos",
    "body_iquat",
    "body_mass",
    "body_subtreemass",
    "body_inertia",
    "body_invweight0",
    "body_gravcomp",
    "geom_friction",
)
"""Fields of the model that every world has for itself."""


class SettleWorlds:
    """Worlds of one cell, all of which step together.

    Example:
        >>> worlds = SettleWorlds(SettleRows(cell, parts), count=64, device="cuda:0")  # doctest: +SKIP
        >>> worlds.load(np.array([0]), rows.of(layout, matter)[None])  # doctest: +SKIP
        >>> worlds.step()  # doctest: +SKIP
        >>> worlds.facts()[0, SPEED]  # doctest: +SKIP
        0.012
    """

    def __init__(self, rows: SettleRows, *, count: int, device: str) -> None:
        self.count = count
        self.device = wp.get_device(device)
        self._rows, self._slots = rows, len(rows.slot_bodies)
        self._graph: Any = None
        with wp.ScopedDevice(self.device):
            self._build(rows)

    def _build(self, rows: SettleRows) -> None:
        model, count, slots = rows.model, self.count, self._slots
        join_tilted_faces()
        self._m = mjw.put_model(model, batch_sizes=dict.fromkeys(PER_WORLD, count))
        self._m.opt.warn_overflow = False
        mend_contacts(self._m)
        self._m.stat.meaninertia = wp.ones(count, dtype=float)
        self._d = mjw.make_data(model, nworld=count, nconmax=CONTACTS_PER_SLOT * slots, njmax=ROWS_PER_SLOT * slots)
        self._slot_bodies = _ints(rows.slot_bodies)
        self._first_geoms = _ints(model.body_geomadr[rows.slot_bodies])
        self._geom_counts = _ints(model.body_geomnum[rows.slot_bodies])
        self._fixture_lists = [
            _ints(rows.fixture_bodies),
            _ints(model.body_geomadr[rows.fixture_bodies]),
            _ints(model.body_geomnum[rows.fixture_bodies]),
        ]
        slot_of = {int(body): slot for slot, body in enumerate(rows.slot_bodies)}
        self._geom_slots = _ints([slot_of.get(int(body), -1) for body in model.geom_bodyid])
        self._floors = _ints(rows.floors)
        self._ups = wp.array(rows.stable_ups, dtype=wp.vec3)
        self._radius = wp.array(rows.radius_m, dtype=float)
        self._pushes = wp.array(_pushes(slots), dtype=wp.vec2)
        self._rest = wp.zeros((count, 7 * slots), dtype=float)
        self._present, self._held, self._doubtful, self._touching = (
            wp.zeros((count, slots), dtype=int) for _ in range(4)
        )
        self._quiet = wp.zeros(count, dtype=int)
        self._facts = wp.zeros((count, kernels.FACTS), dtype=float)
        self._tolerance = float(model.opt.sleep_tolerance)
        # Until it takes a scene, a world holds nothing: all floats.
        gravcomp = np.zeros((count, model.nbody))
        gravcomp[:, rows.slot_bodies] = 1.0
        self._m.body_gravcomp.assign(gravcomp)

    def load(self, worlds: np.ndarray, rows: Array) -> None:
        """Put scenes into worlds, everything at rest; the other worlds go on as they are.

        Args:
            worlds: Numbers of the worlds, shape [scenes].
            rows: What `SettleRows` wrote, shape [scenes, width].
        """
        m, d, slots, scenes = self._m, self._d, self._slots, len(worlds)
        with wp.ScopedDevice(self.device):
            given, where = wp.array(rows, dtype=float), _ints(worlds)
            of_slots = [
                d.qpos, d.qvel, d.qacc_warmstart, self._rest, m.body_mass, m.body_subtreemass, m.body_inertia,
                m.body_ipos, m.body_iquat, m.body_invweight0, m.body_gravcomp, m.geom_friction, self._present,
            ]  # fmt: skip
            lists = [self._slot_bodies, self._first_geoms, self._geom_counts]
            wp.launch(kernels.load_slots, (scenes, slots), [given, where, *lists, SLOT_NUMBERS], of_slots)
            numbers = [SLOT_NUMBERS * slots, FIXTURE_NUMBERS, m.geom_pos]
            of_fixtures = [m.body_pos, m.body_quat, d.geom_xpos, d.geom_xmat]
            shape = (scenes, len(self._rows.fixture_bodies))
            wp.launch(kernels.load_fixtures, shape, [given, where, *self._fixture_lists, *numbers], of_fixtures)
            of_worlds = [m.stat.meaninertia, d.time, self._quiet, d.overflow]
            wp.launch(kernels.load_worlds, scenes, [given, where, rows.shape[1] - 1], of_worlds)

    def step(self) -> None:
        """Simulate `STEPS_AT_ONCE` steps of all worlds; on a GPU this returns at once."""
        with wp.ScopedDevice(self.device):
            if not self.device.is_cuda:
                self._step()
                return
            if self._graph is None:
                # The first run compiles and allocates, which cannot be recorded; worlds are empty, or step once more.
                self._step()
                with wp.ScopedCapture(self.device) as capture:
                    self._step()
                self._graph = capture.graph
                return
            wp.capture_launch(self._graph)

    def facts(self) -> Array:
        """Measure all worlds.

        Returns:
            What `kernels.FACTS` names, shape [worlds, FACTS].
        """
        d = self._d
        with wp.ScopedDevice(self.device):
            self._facts.zero_()
            self._touching.zero_()
            wp.launch(
                kernels.measure_contacts,
                d.naconmax,
                [d.nacon, d.contact.dist, d.contact.geom, d.contact.worldid, self._geom_slots, self._floors],
                [d.naconmax, self._touching, self._facts],
            )
            wp.launch(
                kernels.measure_slots,
                (self.count, self._slots),
                [d.qpos, d.qvel, self._rest, self._present, self._touching, self._ups, self._radius, self._quiet],
                [float(np.cos(LEAN_RAD)), LARGEST, self._doubtful, self._facts],
            )
            return self._facts.numpy().astype(float)

    def lost(self) -> np.ndarray:
        """Tell of each world whether contacts were lost since it took its scene, shape [worlds]."""
        return (self._d.overflow.numpy() & int(LOST)) != 0

    def act(self, actions: np.ndarray) -> None:
        """Do in each world what an action says: a sum of `kernels.KEEP`, `RESTORE` and `PUSH`, or 0.

        Args:
            actions: One for each world, shape [worlds]; doubtful is what it was when `facts` last measured.
        """
        d = self._d
        with wp.ScopedDevice(self.device):
            wp.launch(
                kernels.act,
                (self.count, self._slots),
                [_ints(actions), self._pushes, self._doubtful],
                [d.qpos, d.qvel, d.qacc_warmstart, self._rest, self._held, self._quiet],
            )

    def poses(self, worlds: np.ndarray, *, kept: np.ndarray) -> Array:
        """Return where the items of some worlds lie, or lay when that was last remembered.

        Args:
            worlds: Numbers of the worlds, shape [n].
            kept: Whether to return what was remembered of each.

        Returns:
            Position [m] and quaternion wxyz of each slot, shape [n, slots, 7].
        """
        shape = (len(worlds), 7 * self._slots)
        if not len(worlds):
            return np.zeros((0, self._slots, 7))
        with wp.ScopedDevice(self.device):
            found = wp.empty(shape, dtype=float)
            wp.launch(kernels.gather, shape, [self._d.qpos, self._rest, _ints(worlds), _ints(kept)], [found])
            poses = found.numpy().astype(float).reshape(len(worlds), self._slots, 7)
        poses[..., :3] += self._rows.origin_m
        return poses

    def _step(self) -> None:
        for _ in range(STEPS_AT_ONCE):
            mjw.step(self._m, self._d)
            wp.launch(
                kernels.count_quiet,
                self.count,
                [self._d.qvel, self._m.dof_length, self._present, self._tolerance],
                [self._quiet],
            )


def _ints(values: Any) -> Any:
    return wp.array(np.asarray(values, np.int32), dtype=int)


def _pushes(slots: int) -> Array:
    """Velocity of each direction's push of each slot [m/s], shape [directions, slots, 2]."""
    angles = GOLDEN_ANGLE_RAD * np.arange(slots) + np.array(NUDGE_DIRECTIONS_RAD)[:, None]
    return NUDGE_M_S * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
