"""Isaac Lab worlds with robots, as the rollout uses them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch

from evaluator.isaac.robot_asset import RobotAsset, robot_asset
from evaluator.isaac.touches import TouchReader
from evaluator.isaac.worlds import IsaacWorlds, open_worlds
from evaluator.rollout.line import LineState
from scenegen.cell import Cell
from scenegen.errors import ContactOverflow
from scenegen.geometry import Array
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Scenario

TICK_HZ = 50.0
"""Control rate: robot targets and records, this often a second."""
FASTEST_M_S = 20.0
"""Parts that fly faster than this were flung by physics that broke [m/s]."""


@contextmanager
def open_line(
    cell: Cell, parts: Catalogue, *, count: int, device: str = "cpu", cameras: Sequence[str] = ()
) -> Iterator[IsaacLine]:
    """Start Isaac Lab and build worlds of a cell, each with its robot.

    Args:
        cell: The cell.
        parts: Its parts.
        count: Number of worlds.
        device: `cpu` or `cuda:0`.
        cameras: Names of the cell's cameras whose images will be asked for.

    Raises:
        UnknownName: The cell's robot is not known, and it names no USD file of its own.
    """
    asset = robot_of(cell)
    with open_worlds(cell, parts, count=count, device=device, robot=asset, cameras=cameras) as worlds:
        yield IsaacLine(cell, worlds)


def robot_of(cell: Cell) -> RobotAsset:
    """Return the USD of a cell's robot."""
    return RobotAsset.at(Path(cell.robot.usd)) if cell.robot.usd else robot_asset(cell.robot.model)


class IsaacLine:
    """Worlds with robots; see `evaluator.rollout.line.Line`."""

    def __init__(self, cell: Cell, worlds: IsaacWorlds) -> None:
        assert worlds.arms is not None
        self._cell, self._worlds, self._arms = cell, worlds, worlds.arms
        self.count = worlds.count
        self.slots = tuple(worlds.slots)
        self.fixtures = ("table", *cell.containers)
        self.rate_hz = TICK_HZ
        self._steps = round(1 / (TICK_HZ * cell.physics.timestep_s))
        self._touches = TouchReader(slots=len(self.slots), fixtures=self.fixtures, worlds=self.count)
        self._room = True

    def put(self, scenarios: Mapping[int, Scenario]) -> None:
        """Put scenarios into some worlds."""
        self._worlds.put(scenarios)

    def command(self, joints_rad: Array, opening: Array) -> None:
        """Set the targets of all worlds."""
        self._arms.command(
            torch.as_tensor(np.asarray(joints_rad, np.float32)), torch.as_tensor(np.asarray(opening, np.float32))
        )

    def tick(self) -> None:
        """Simulate one tick."""
        self._worlds.advance(self._steps)
        try:
            self._worlds.require_room()
            self._room = True
        except ContactOverflow:
            self._room = False

    def images(self, worlds: Sequence[int], cameras: Sequence[str]) -> Mapping[str, torch.Tensor]:
        """Photograph some worlds as they are now, on the simulator's device."""
        return self._worlds.photos(worlds, cameras)

    def state(self) -> LineState:
        """Return what all worlds do."""
        pose, velocity = self._worlds.slot_states()
        touches = self._touches.read()
        joint_pos, joint_vel = (_array(one) for one in (self._arms.joint_pos(), self._arms.joint_vel()))
        finite = np.isfinite(joint_pos).all(axis=1) & np.isfinite(pose).all(axis=(1, 2))
        with np.errstate(invalid="ignore"):
            calm = (np.abs(velocity[:, :, :3]) < FASTEST_M_S).all(axis=(1, 2))
        return LineState(
            joint_pos=joint_pos,
            joint_vel=joint_vel,
            joint_torque=_array(self._arms.torque()),
            opening=_array(self._arms.opening()),
            slot_pose=pose,
            slot_vel=velocity,
            finger_touch=_array(touches.finger).astype(bool),
            body_touch=_array(touches.body).astype(bool),
            slot_fixture=_array(touches.fixture).astype(int),
            fixture_force=_array(touches.fixture_force_n),
            sound=np.asarray(finite & calm & self._room),
        )


def _array(tensor: torch.Tensor) -> Array:
    return tensor.detach().cpu().numpy().astype(float)
