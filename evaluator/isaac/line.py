"""Isaac Lab worlds with robots, as the rollout uses them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from evaluator.isaac.backend import NEWTON, require_backend
from evaluator.isaac.robot_asset import RobotAsset, robot_asset
from evaluator.isaac.touches import TouchReader
from evaluator.isaac.worlds import IsaacWorlds, open_worlds
from evaluator.rollout.line import LineState
from scenegen.cell import Cell
from scenegen.geometry import Array
from scenegen.imaging.gbuffer import GBuffer
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Scenario

TICK_HZ = 50.0
"""Control rate: robot targets and records, this often a second."""


@contextmanager
def open_line(
    cell: Cell,
    parts: Catalogue,
    *,
    count: int,
    device: str = "cpu",
    backend: str = NEWTON,
    cameras: Sequence[str] = (),
    robot: Path | None = None,
) -> Iterator[IsaacLine]:
    """Start Isaac Lab and build worlds of a cell, each with its robot.

    Args:
        cell: The cell.
        parts: Its parts.
        count: Number of worlds.
        device: `cpu` or `cuda:0`.
        backend: Isaac Lab's physics: `newton`.
        cameras: Names of the cell's cameras whose images will be asked for.
        robot: The robot's own USD file, if the cell names one.

    Raises:
        UnknownName: The cell's robot is not known, and it names no USD file of its own; or the back end is not known.
        UnreadableStage: The robot's file is none, or moves otherwise than the cell's robot.
        InvalidOption: The back end cannot be used here.
    """
    require_backend(backend)
    asset = robot_of(cell, robot)
    with open_worlds(cell, parts, count=count, device=device, robot=asset, cameras=cameras) as worlds:
        yield IsaacLine(cell, worlds)


def robot_of(cell: Cell, own: Path | None = None) -> RobotAsset:
    """Return the USD of a cell's robot; `own` is the file that it names."""
    return robot_asset(cell.robot, own)


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
        self._sound = np.ones(self.count, bool)
        self._stepped = np.zeros(self.count, bool)
        """Worlds that were simulated since they were put: before, forces and contacts are those of what was there."""

    def put(self, scenarios: Mapping[int, Scenario]) -> None:
        """Put scenarios into some worlds."""
        self._worlds.put(scenarios)
        self._sound[list(scenarios)] = True
        self._stepped[list(scenarios)] = False

    def command(self, joints_rad: Array, opening: Array) -> None:
        """Set the targets of all worlds."""
        self._arms.command(
            torch.as_tensor(np.asarray(joints_rad, np.float32)), torch.as_tensor(np.asarray(opening, np.float32))
        )

    def tick(self) -> None:
        """Simulate one tick; worlds that broke in it are emptied, so that they cost the others nothing."""
        self._worlds.advance(self._steps)
        self._stepped[:] = True
        broken = self._worlds.broken().cpu().numpy()
        self._sound = ~(broken | self._worlds.overflowed().cpu().numpy())
        if broken.any():
            self._worlds.clear(np.flatnonzero(broken).tolist())
            self._stepped[broken] = False

    def images(self, worlds: Sequence[int], cameras: Sequence[str]) -> Mapping[str, torch.Tensor]:
        """Photograph some worlds as they are now, on the simulator's device."""
        return {f"{name}_rgb": photos for name, photos in self._worlds.photos(worlds, cameras).items()}

    def gbuffer(self, worlds: Sequence[int], camera: str) -> GBuffer:
        """Return what a camera sees of some worlds before any light falls on it; see `Studio.gbuffer`."""
        return self._worlds.gbuffer(worlds, camera)

    def state(self) -> LineState:
        """Return what all worlds do."""
        pose, velocity = self._worlds.slot_states()
        touches = self._touches.read()
        joint_pos, joint_vel = (_array(one) for one in (self._arms.joint_pos(), self._arms.joint_vel()))
        stepped = self._stepped.copy()
        return LineState(
            joint_pos=joint_pos,
            joint_vel=joint_vel,
            joint_torque=np.where(stepped[:, None], _array(self._arms.torque()), 0.0),
            opening=_array(self._arms.opening()),
            slot_pose=pose,
            slot_vel=velocity,
            finger_touch=_array(touches.finger).astype(bool) & stepped[:, None],
            body_touch=_array(touches.body).astype(bool) & stepped[:, None],
            slot_fixture=np.where(stepped[:, None], _array(touches.fixture), -1),
            fixture_force=np.where(stepped, _array(touches.fixture_force_n), 0.0),
            sound=self._sound.copy(),
        )


def _array(tensor: torch.Tensor) -> Any:
    return tensor.detach().cpu().numpy()
