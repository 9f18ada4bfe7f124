"""Many Isaac Lab worlds of one cell, compiled once; each takes any scenario of the cell."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
import warp as wp
from isaaclab.app import add_launcher_args, launch_simulation
from isaaclab.scene import InteractiveScene
from isaaclab.sim import SimulationCfg, SimulationContext
from isaaclab_newton.physics import NewtonManager

from evaluator.isaac.arms import Arms
from evaluator.isaac.base_contact import filter_base_contact
from evaluator.isaac.contact_depths import join_tilted_faces, mend_contacts
from evaluator.isaac.prims import slot_prim
from evaluator.isaac.robot_asset import RobotAsset
from evaluator.isaac.scene_rows import RowMaker, SceneRows
from evaluator.isaac.shaking import Shaking
from evaluator.isaac.slot_matter import SlotMatter
from evaluator.isaac.stage import CONTACTS_PER_WORLD, physics_cfg, scene_cfg
from evaluator.isaac.state_reader import LOST, StateReader
from evaluator.isaac.studio import Moving, Studio
from scenegen.cell import Cell
from scenegen.errors import ContactOverflow, InvalidOption
from scenegen.geometry import Array, Pose
from scenegen.imaging.gbuffer import GBuffer
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Scenario

Poses = dict[str, Pose]
"""Poses of a world's items, by name."""


@contextmanager
def open_worlds(
    cell: Cell,
    parts: Catalogue,
    *,
    count: int,
    device: str = "cpu",
    robot: RobotAsset | None = None,
    cameras: Sequence[str] = (),
) -> Iterator[IsaacWorlds]:
    """Start Isaac Lab without Kit and build `count` worlds of a cell.

    Args:
        cell: The cell; all worlds hold its whole inventory, absent parts float far below.
        parts: The cell's parts.
        count: Number of worlds.
        device: Where to simulate, `cpu` or `cuda:0`.
        robot: The cell's robot; none for worlds in which only parts move.
        cameras: Names of the cell's cameras that are built, where there is a robot; each takes memory.
    """
    parser = argparse.ArgumentParser()
    add_launcher_args(parser)
    arguments = parser.parse_args(["--device", device])
    with tempfile.TemporaryDirectory() as folder:
        scene_description = scene_cfg(cell, parts, Path(folder), worlds=count, robot=robot, cameras=cameras)
        with launch_simulation(physics_cfg(cell.physics), arguments) as physics:
            simulation = SimulationContext(SimulationCfg(dt=cell.physics.timestep_s, device=device, physics=physics))
            scene = InteractiveScene(scene_description)
            filter_base_contact(simulation)
            join_tilted_faces()
            simulation.reset()
            scene.reset()
            studio = Studio(cell, parts, cameras, scene, robot=robot.usd) if cameras and robot is not None else None
            yield IsaacWorlds(cell, parts, simulation=simulation, scene=scene, robot=robot, studio=studio)


class IsaacWorlds:
    """Worlds that are ready to take scenarios; made by `open_worlds`.

    Example:
        >>> with open_worlds(cell, parts, count=2) as worlds:  # doctest: +SKIP
        ...     worlds.load([first, second])
        ...     worlds.run(1.0)
        ...     print(worlds.poses()[0])
    """

    def __init__(
        self,
        cell: Cell,
        parts: Catalogue,
        *,
        simulation: SimulationContext,
        scene: InteractiveScene,
        robot: RobotAsset | None = None,
        studio: Studio | None = None,
    ) -> None:
        self.cell, self.studio = cell, studio
        self.slots = list(cell.slots)
        """Names of the slots, in the order of the simulator's bodies."""
        self.arms = Arms(cell.robot, robot, scene) if robot is not None else None
        self._simulation, self._scene = simulation, scene
        self._timestep_s = cell.physics.timestep_s
        self._rows = RowMaker(cell, parts)
        self._matter = SlotMatter(cell, parts)
        solver: Any = NewtonManager._solver
        mend_contacts(solver.mjw_model)
        self._shaking = Shaking(solver, worlds=scene.num_envs, timestep_s=self._timestep_s)
        self._overflow = wp.to_torch(solver.mjw_data.overflow)
        self._scenarios: dict[int, Scenario] = {}

    @property
    def count(self) -> int:
        """Number of worlds."""
        return self._scene.num_envs

    def load(self, scenarios: Sequence[Scenario]) -> None:
        """Put one scenario into each world, everything at rest.

        Raises:
            InvalidOption: There are not as many scenarios as worlds.
        """
        if len(scenarios) != self.count:
            raise InvalidOption("scenarios", len(scenarios), f"one a world ({self.count})")
        self.put(dict(enumerate(scenarios)))

    def put(self, scenarios: Mapping[int, Scenario]) -> None:
        """Put scenarios into some worlds, everything at rest; the other worlds go on as they are.

        Args:
            scenarios: By the number of the world.
        """
        rows = self._rows.rows(list(scenarios.values()))
        self._scenarios |= scenarios
        self._write(list(scenarios), rows)

    def clear(self, worlds: Sequence[int]) -> None:
        """Take everything out of some worlds and put their robots to the start, at rest.

        Args:
            worlds: Numbers of the worlds.
        """
        for world in worlds:
            self._scenarios.pop(world, None)
        self._write(list(worlds), self._rows.empty(len(worlds)))

    def _write(self, worlds: list[int], rows: SceneRows) -> None:
        slots = self._scene["slots"]
        ids = torch.tensor(worlds, dtype=torch.int32, device=slots.device)
        self._matter.write(ids, rows)
        poses = torch.as_tensor(rows.poses.astype(np.float32), device=slots.device)
        slots.write_body_link_pose_to_sim_index(body_poses=poses, env_ids=ids)
        still = torch.zeros(len(worlds), len(self.slots), 6, device=slots.device)
        slots.write_body_com_velocity_to_sim_index(body_velocities=still, env_ids=ids)
        self._shaking.begin(worlds, ids.long(), torch.as_tensor(rows.shaking, device=slots.device))
        if self.arms is not None:
            self.arms.place(ids, torch.as_tensor(rows.joints.astype(np.float32), device=slots.device))
        self._scene.reset(env_ids=worlds)
        self._overflow[ids.long()] = 0
        if self.studio is not None:
            self.studio.put({world: self._scenarios[world] for world in worlds if world in self._scenarios})

    def advance(self, steps: int) -> None:
        """Simulate some physics steps of all worlds."""
        for _ in range(steps):
            self._shaking.apply()
            self._scene.write_data_to_sim()
            self._simulation.step(render=False)
            self._scene.update(self._timestep_s)

    def run(self, seconds: float, *, progress: Callable[[float], None] | None = None) -> None:
        """Simulate.

        Args:
            seconds: Simulated time [s].
            progress: Called every tenth of a second with the time so far [s].

        Raises:
            ContactOverflow: More contacts arose than the buffers hold: the result would be wrong.
        """
        steps, report = round(seconds / self._timestep_s), max(1, round(0.1 / self._timestep_s))
        for step in range(1, steps + 1):
            self.advance(1)
            self.require_room()
            if progress is not None and step % report == 0:
                progress(step * self._timestep_s)

    def photos(self, worlds: Sequence[int], cameras: Sequence[str]) -> dict[str, torch.Tensor]:
        """Photograph some worlds as they are now; see `Studio.photos`."""
        studio, moving = self._seen()
        return studio.photos(worlds, cameras, moving)

    def gbuffer(self, worlds: Sequence[int], camera: str) -> GBuffer:
        """Return what a camera sees of some worlds now; see `Studio.gbuffer`."""
        studio, moving = self._seen()
        return studio.gbuffer(worlds, camera, moving)

    def _seen(self) -> tuple[Studio, Moving]:
        assert self.studio is not None, "the worlds were opened without cameras"
        assert self.arms is not None, "the worlds were opened without robots"
        slot_pose = self._scene["slots"].data.body_link_pose_w.torch
        return self.studio, Moving(self.arms.joint_pos(), slot_pose, self.arms.link_poses(self.studio.links))

    def poses(self) -> list[Poses]:
        """Return the present poses of each world's items."""
        found, _ = self.slot_states()
        rows = {slot: index for index, slot in enumerate(self.slots)}
        return [
            {item.name: _pose(found[world, rows[item.name]]) for item in scenario.layout.items}
            for world, scenario in sorted(self._scenarios.items())
        ]

    def slot_states(self) -> tuple[Any, Any]:
        """Return what the slots' parts do in every world.

        Returns:
            Poses, position [m] and quaternion xyzw, shape [worlds, slots, 7], and velocities of their centres of mass
            [m/s] and angular velocities [rad/s], world axes, shape [worlds, slots, 6].
        """
        data = self._scene["slots"].data
        poses, velocities = data.body_link_pose_w.torch, data.body_com_vel_w.torch
        return poses.cpu().numpy(), velocities.cpu().numpy()

    def reader(self, fixtures: Sequence[str]) -> StateReader:
        """Return what reads all worlds at once; `fixtures` are the names of those whose contacts it tells apart."""
        return StateReader(self._scene["slots"], self.arms, fixtures)

    def matter_error(self) -> float:
        """Compare what the simulator holds with what the scenarios say, world by world.

        Returns:
            Greatest difference of any present item: relative for mass and principal moments, absolute for friction, in
            millimetres for the centre of mass.
        """
        solver: Any = NewtonManager._solver
        held, names = solver.mjw_model, [solver.mj_model.body(i).name for i in range(solver.mj_model.nbody)]
        mass, inertia, center = held.body_mass.numpy(), held.body_inertia.numpy(), held.body_ipos.numpy()
        friction, owners = held.geom_friction.numpy()[..., 0], solver.mj_model.geom_bodyid
        errors = [0.0]
        for world, scenario in self._scenarios.items():
            for matter in scenario.matter.items:
                prim = slot_prim(self.slots.index(matter.name))
                body = next(i for i, name in enumerate(names) if name.endswith(prim))
                wanted = [matter.mass_kg, *sorted(matter.diagonal_inertia_kg_m2)]
                found = [mass[world, body], *np.sort(inertia[world, body])]
                errors += [abs(float(f) / w - 1) for w, f in zip(wanted, found, strict=True)]
                errors.append(float(np.abs(friction[world, owners == body] - matter.friction).max()))
                errors.append(float(np.abs(center[world, body] - matter.center_of_mass_m).max()) / 1e-3)
        return max(errors)

    def overflowed(self) -> torch.Tensor:
        """Tell which worlds lost contacts since they were last asked or put, shape [worlds]; then forget it.

        Constraints have room in each world; contacts have room in all worlds together, so that when they have none no
        world can be trusted.
        """
        lost = (self._overflow & int(LOST)) != 0
        self._overflow.zero_()
        return lost

    def require_room(self) -> None:
        """Make sure that no contact was lost in any world.

        Raises:
            ContactOverflow: More contacts arose than the buffers hold: what was simulated is wrong.
        """
        if self.overflowed().any():
            solver: Any = NewtonManager._solver
            raise ContactOverflow(int(solver.mjw_data.nacon.numpy()[0]), self.count, CONTACTS_PER_WORLD)


def _pose(row: Array) -> Pose:
    return Pose.of(row[:3], row[3:])
