"""Many Isaac Lab worlds of one cell, compiled once; each takes any scenario of the cell."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from isaaclab.app import add_launcher_args, launch_simulation
from isaaclab.scene import InteractiveScene
from isaaclab.sim import SimulationCfg, SimulationContext
from isaaclab_newton.physics import NewtonManager
from newton import ModelFlags

from evaluator.isaac.arms import Arms
from evaluator.isaac.robot_asset import RobotAsset
from evaluator.isaac.stage import CONTACTS_PER_WORLD, SLOT, fixed_boxes, parking_pose, physics_cfg, scene_cfg, slot_prim
from evaluator.isaac.studio import Studio
from scenegen.cell import Cell
from scenegen.errors import ContactOverflow, InvalidOption
from scenegen.geometry import Array, Pose, quat_to_matrix
from scenegen.nominal import matter_of
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import ItemMatter, Scenario

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
        cameras: Names of the cell's cameras that are built; those that nobody asks for cost memory.
    """
    parser = argparse.ArgumentParser()
    add_launcher_args(parser)
    arguments = parser.parse_args(["--device", device])
    with tempfile.TemporaryDirectory() as folder:
        scene_description = scene_cfg(cell, parts, Path(folder), worlds=count, robot=robot, cameras=cameras)
        with launch_simulation(physics_cfg(cell.physics), arguments) as physics:
            simulation = SimulationContext(SimulationCfg(dt=cell.physics.timestep_s, device=device, physics=physics))
            scene = InteractiveScene(scene_description)
            simulation.reset()
            scene.reset()
            studio = Studio(cell, parts, cameras, scene) if cameras else None
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
        self._nominal = [matter_of(parts[item.part], name=slot) for slot, item in cell.slots.items()]
        self._simulation, self._scene = simulation, scene
        self._timestep_s = cell.physics.timestep_s
        self._model: Any = NewtonManager.get_model()
        self._boxes = _shapes_by_prim(self._model, fixed_boxes(cell))
        self._shapes = _shapes_by_prim(self._model, [slot_prim(index) for index in range(len(self.slots))])
        self._bodies = _slot_bodies(self._model)
        self._box_places = fixed_boxes(cell)
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
        self._scenarios |= scenarios
        self._write_matter(scenarios)
        self._write_shapes(scenarios)
        slots = self._scene["slots"]
        ids = torch.tensor(list(scenarios), dtype=torch.int32, device=slots.device)
        poses = np.array([self._start_poses(scenario) for scenario in scenarios.values()])
        slots.write_body_link_pose_to_sim_index(
            body_poses=torch.tensor(poses, dtype=torch.float32, device=slots.device), env_ids=ids
        )
        still = torch.zeros(len(ids), len(self.slots), 6, device=slots.device)
        slots.write_body_com_velocity_to_sim_index(body_velocities=still, env_ids=ids)
        if self.arms is not None:
            starts = [scenario.motion.robot_start_rad for scenario in scenarios.values()]
            self.arms.place(list(scenarios), torch.tensor(starts, dtype=torch.float32))
        self._scene.reset(env_ids=list(scenarios))
        if self.studio is not None:
            self.studio.put(scenarios)

    def advance(self, steps: int) -> None:
        """Simulate some physics steps of all worlds."""
        for _ in range(steps):
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
        assert self.studio is not None, "there are no cameras"
        assert self.arms is not None
        slot_pose = self._scene["slots"].data.body_link_pose_w.torch
        return self.studio.photos(worlds, cameras, joints_rad=self.arms.joint_pos(), slot_pose=slot_pose)

    def poses(self) -> list[Poses]:
        """Return the present poses of each world's items."""
        found, _ = self.slot_states()
        rows = {slot: index for index, slot in enumerate(self.slots)}
        return [
            {item.name: _pose(found[world, rows[item.name]]) for item in scenario.layout.items}
            for world, scenario in sorted(self._scenarios.items())
        ]

    def slot_states(self) -> tuple[Array, Array]:
        """Return what the slots' parts do in every world.

        Returns:
            Poses, position [m] and quaternion xyzw, shape [worlds, slots, 7], and velocities of their centres of mass
            [m/s] and angular velocities [rad/s], world axes, shape [worlds, slots, 6].
        """
        data = self._scene["slots"].data
        poses, velocities = data.body_link_pose_w.torch, data.body_com_vel_w.torch
        return poses.cpu().numpy().astype(float), velocities.cpu().numpy().astype(float)

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

    def _start_poses(self, scenario: Scenario) -> list[tuple[float, ...]]:
        present = {item.name: item.pose_to_world for item in scenario.layout.items}
        poses = [present.get(slot, parking_pose(index)) for index, slot in enumerate(self.slots)]
        return [(*pose.position_m, *pose.quat_xyzw) for pose in poses]

    def _write_matter(self, scenarios: Mapping[int, Scenario]) -> None:
        """Write masses, and let absent parts float."""
        slots = self._scene["slots"]
        ids = torch.tensor(list(scenarios), dtype=torch.int32, device=slots.device)
        matter = [self._matter_of(scenario) for scenario in scenarios.values()]
        masses = _tensor([[m.mass_kg for m in row] for row in matter], slots.device)
        slots.set_masses_index(masses=masses, env_ids=ids)
        coms = _tensor([[m.center_of_mass_m for m in row] for row in matter], slots.device)
        slots.set_coms_index(coms=coms, env_ids=ids)
        inertias = [[inertia_matrix(m).ravel().tolist() for m in row] for row in matter]
        slots.set_inertias_index(inertias=_tensor(inertias, slots.device), env_ids=ids)
        floating = self._model.mujoco.gravcomp.numpy()
        for world, scenario in scenarios.items():
            present = {item.name for item in scenario.layout.items}
            for index, slot in enumerate(self.slots):
                floating[self._bodies[index, world]] = 0.0 if slot in present else 1.0
        self._model.mujoco.gravcomp.assign(floating)
        NewtonManager.add_model_change(ModelFlags.BODY_INERTIAL_PROPERTIES)

    def _write_shapes(self, scenarios: Mapping[int, Scenario]) -> None:
        """Write friction and the fixtures' poses, shape by shape: Isaac Lab's own view mixes up compound shapes."""
        friction, places = self._model.shape_material_mu.numpy(), self._model.shape_transform.numpy()
        for world, scenario in scenarios.items():
            for index, matter in enumerate(self._matter_of(scenario)):
                friction[self._shapes[slot_prim(index), world]] = matter.friction
            fixtures = {fixture.name: fixture.pose_to_world for fixture in scenario.layout.fixtures}
            for prim, (fixture, center) in self._box_places.items():
                pose = fixtures[fixture].after(Pose.of(center))
                places[self._boxes[prim, world]] = (*pose.position_m, *pose.quat_xyzw)
        self._model.shape_material_mu.assign(friction)
        self._model.shape_transform.assign(places)
        NewtonManager.add_model_change(ModelFlags.SHAPE_PROPERTIES)

    def _matter_of(self, scenario: Scenario) -> list[ItemMatter]:
        given = {matter.name: matter for matter in scenario.matter.items}
        return [given.get(nominal.name, nominal) for nominal in self._nominal]

    def require_room(self) -> None:
        """Make sure that no contact was lost.

        Raises:
            ContactOverflow: More contacts arose than the buffers hold: what was simulated is wrong.
        """
        solver: Any = NewtonManager._solver
        data = solver.mjw_data
        contacts, rows = int(data.nacon.numpy()[0]), int(data.nefc.numpy().max())
        if contacts >= CONTACTS_PER_WORLD * self.count or rows >= 3 * CONTACTS_PER_WORLD:
            raise ContactOverflow(contacts, self.count, CONTACTS_PER_WORLD)


def inertia_matrix(matter: ItemMatter) -> Array:
    """Return the inertia about the centre of mass in the part's axes [kg m²], shape [3, 3]."""
    rotation = quat_to_matrix(np.array(matter.principal_axes_xyzw))
    return rotation @ np.diag(matter.diagonal_inertia_kg_m2) @ rotation.T


def _tensor(values: object, device: str) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float32, device=device)


def _pose(row: Array) -> Pose:
    return Pose.of(row[:3], row[3:])


def _slot_bodies(model: Any) -> dict[tuple[int, int], int]:
    """Find the body of each slot in each world: (slot, world) -> body index."""
    found: dict[tuple[int, int], int] = {}
    for body, (label, world) in enumerate(zip(model.body_label, model.body_world.numpy().tolist(), strict=True)):
        name = label.rpartition("/")[2]
        if name.startswith(SLOT):
            found[int(name.removeprefix(SLOT)), world] = body
    return found


def _shapes_by_prim(model: Any, prims: Iterable[str]) -> dict[tuple[str, int], list[int]]:
    """Find the shapes of the named prims in each world: (prim, world) -> shape indices."""
    wanted = set(prims)
    found: dict[tuple[str, int], list[int]] = {}
    for shape, (label, world) in enumerate(zip(model.shape_label, model.shape_world.numpy().tolist(), strict=True)):
        for name in label.split("/"):
            if name in wanted:
                found.setdefault((name, world), []).append(shape)
    return found
