"""Isaac Lab worlds with robots, as the rollout uses them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch

from evaluator.isaac.backend import NEWTON, require_backend
from evaluator.isaac.robot_asset import RobotAsset, robot_asset
from evaluator.isaac.state_reader import Reading
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
        self._reader = worlds.reader(self.fixtures)
        self._state: LineState | None = None
        """What the worlds do now, if it was read."""
        self._sound = np.ones(self.count, bool)
        self._stepped = np.zeros(self.count, bool)
        """Worlds that were simulated since they were put: before, forces and contacts are those of what was there."""

    def put(self, scenarios: Mapping[int, Scenario]) -> None:
        """Put scenarios into some worlds."""
        self._worlds.put(scenarios)
        self._sound[list(scenarios)] = True
        self._stepped[list(scenarios)] = False
        self._state = None

    def command(self, joints_rad: Array, opening: Array) -> None:
        """Set the targets of all worlds."""
        self._arms.command(joints_rad, opening)

    def tick(self) -> None:
        """Simulate one tick; worlds that broke in it are emptied, so that they cost the others nothing."""
        self._worlds.advance(self._steps)
        self._stepped[:] = True
        found = self._reader.read()
        self._sound = ~(found.broken | found.lost)
        if found.broken.any():
            self._worlds.clear(np.flatnonzero(found.broken).tolist())
            self._stepped[found.broken] = False
            self._state = None
        else:
            self._state = self._shown(found)

    def images(self, worlds: Sequence[int], cameras: Sequence[str]) -> Mapping[str, torch.Tensor]:
        """Photograph some worlds as they are now, on the simulator's device."""
        return {f"{name}_rgb": photos for name, photos in self._worlds.photos(worlds, cameras).items()}

    def gbuffer(self, worlds: Sequence[int], camera: str) -> GBuffer:
        """Return what a camera sees of some worlds before any light falls on it; see `Studio.gbuffer`."""
        return self._worlds.gbuffer(worlds, camera)

    def state(self) -> LineState:
        """Return what all worlds do."""
        if self._state is None:
            self._state = self._shown(self._reader.read())
        return self._state

    def _shown(self, found: Reading) -> LineState:
        """Return what was read, without the forces of what was there before a world was put."""
        idle = np.flatnonzero(~self._stepped)
        if len(idle):
            for one in (found.joint_torque, found.finger_touch, found.body_touch, found.fixture_force):
                one[idle] = 0
            found.slot_fixture[idle] = -1
        return LineState(
            joint_pos=found.joint_pos,
            joint_vel=found.joint_vel,
            joint_torque=found.joint_torque,
            opening=found.opening,
            slot_pose=found.slot_pose,
            slot_vel=found.slot_vel,
            finger_touch=found.finger_touch,
            body_touch=found.body_touch,
            slot_fixture=found.slot_fixture,
            fixture_force=found.fixture_force,
            sound=self._sound.copy(),
        )
