"""Takes the photos of many Isaac Lab worlds: their cameras' G-buffers, shaded under each world's own lights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from isaaclab.scene import InteractiveScene

from evaluator.isaac.cameras import WorldCamera
from evaluator.isaac.flange import placed as placed_poses
from evaluator.isaac.instances import instance_names
from evaluator.isaac.pixels import Frames, WorldMeshes
from evaluator.isaac.robot_shadow import with_robot
from evaluator.isaac.world_looks import WorldLooks
from evaluator.isaac.world_sensors import WorldSensors
from scenegen.cell import Cell
from scenegen.imaging.batch import Batch, BatchCamera, compiled
from scenegen.imaging.blockers import Blockers, Placed, blockers_of, placed
from scenegen.imaging.exposure import nominal_gain
from scenegen.imaging.gbuffer import GBuffer
from scenegen.imaging.light_set import LightSet
from scenegen.imaging.micropolygons import fixture_trays, micropolygons
from scenegen.imaging.shadow_map import ShadowMap, map_size_px
from scenegen.imaging.stacked import moved
from scenegen.nominal import nominal_fixtures
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Scenario
from scenegen.usd.robot_links import robot_body

TILE = {"cpu": 4, "cuda": 256}
"""Worlds that are shaded at once: on a processor more would not stay in its cache, on a GPU memory is the limit."""


class Moving(NamedTuple):
    """Where what moves is now, in all worlds; poses are position [m] and quaternion xyzw, world frame."""

    joints_rad: torch.Tensor
    """Angles of the arms' joints, shape [worlds, joints]."""
    slot_pose: torch.Tensor
    """Poses of the slots' parts, shape [worlds, slots, 7]."""
    link_pose: torch.Tensor
    """Poses of the robots' links that can be seen, shape [worlds, links, 7]."""


class Studio:
    """Photographs worlds; what does not change between resets is kept on the simulator's device.

    Args:
        cell: The cell.
        parts: Its parts.
        cameras: Names of the cameras that the scene holds.
        scene: The scene.
        robot: The robot's file.
    """

    def __init__(
        self, cell: Cell, parts: Catalogue, cameras: Sequence[str], scene: InteractiveScene, *, robot: Path
    ) -> None:
        self._device, count = str(scene.device), scene.num_envs
        self._like = torch.empty((1, 1), device=self._device)
        slots = [item.part for item in cell.slots.values()]
        links = [link for link in robot_body(robot).links if len(link.triangles)]
        self.links = tuple(link.name for link in links)
        """Names of the robot's links that can be seen."""
        self._meshes = WorldMeshes(parts, slots, links, device=self._device)
        chosen = [camera for camera in cell.cameras if camera.name in cameras]
        self._cameras = {camera.name: WorldCamera(camera, cell, scene, self._meshes) for camera in chosen}
        gain = nominal_gain(cell)
        self._sensors = {
            one.name: WorldSensors(one.name, (one.height_px, one.width_px), count, nominal=gain, device=self._device)
            for one in chosen
        }
        self._looks = WorldLooks(instance_names(cell), count, device=self._device)
        on_device = partial(torch.as_tensor, device=self._device)
        used = list(dict.fromkeys(slots))
        self._polygons = moved(micropolygons(parts, used), on_device)
        self._trays = moved(fixture_trays(cell), on_device)
        self._bodies = np.array([used.index(part) for part in slots])
        self._slots = list(cell.slots)
        self._present = np.zeros((count, len(slots)), bool)
        self._fixture_names = [fixture.name for fixture in nominal_fixtures(cell)]
        self._fixtures = torch.zeros((count, len(self._fixture_names), 7), device=self._device)
        self._table = torch.cat(placed_poses([cell.table.pose_top_to_world], like=self._like), dim=1)
        kind = torch.device(self._device).type
        self._compiled = kind == "cuda"
        self._tile = min(TILE[kind], count)
        self._shader = BatchCamera(xp=torch, fuse=compiled(torch) if self._compiled else None)
        self._blockers: tuple[tuple[int, ...], Blockers] | None = None

    def put(self, scenarios: Mapping[int, Scenario]) -> None:
        """Write what some worlds look like."""
        if not scenarios:
            return
        for camera in self._cameras.values():
            camera.put(scenarios)
        for sensors in self._sensors.values():
            sensors.put(scenarios)
        self._looks.put(scenarios)
        worlds, poses = list(scenarios), []
        for scenario in scenarios.values():
            there = {fixture.name: fixture.pose_to_world for fixture in scenario.layout.fixtures}
            poses += [there[name] for name in self._fixture_names]
        position, quat = placed_poses(poses, like=self._like)
        self._fixtures[torch.tensor(worlds, device=self._device)] = torch.cat([position, quat], dim=1).reshape(
            len(worlds), -1, 7
        )
        for world, scenario in scenarios.items():
            present = {item.name for item in scenario.layout.items}
            self._present[world] = [slot in present for slot in self._slots]
        self._blockers = None

    def photos(self, worlds: Sequence[int], cameras: Sequence[str], moving: Moving) -> dict[str, torch.Tensor]:
        """Take a photo of some worlds with each of some cameras.

        Args:
            worlds: Numbers of the worlds, n of them.
            cameras: Names of the cameras.
            moving: Where everything is.

        Returns:
            sRGB of 8 bits by the camera's name, shape [n, h, w, 3].
        """
        found = {}
        for name in cameras:
            frames = self._cameras[name].frames(moving.joints_rad)
            tiles = [worlds[start : start + self._tile] for start in range(0, len(worlds), self._tile)]
            found[name] = torch.cat([self._tile_photos(name, frames, moving, tile) for tile in tiles])
        return found

    def gbuffer(self, worlds: Sequence[int], camera: str, moving: Moving) -> GBuffer:
        """Return what a camera sees of some worlds; arguments as in `photos`."""
        rows = torch.tensor(list(worlds), device=self._device)
        frames, (_, coats) = self._cameras[camera].frames(moving.joints_rad), self._looks.surfaces(rows)
        return self._cameras[camera].gbuffer(frames, self._poses(moving, rows), coats, rows)

    def _tile_photos(self, camera: str, frames: Frames, moving: Moving, worlds: Sequence[int]) -> torch.Tensor:
        """Shade and develop a few worlds."""
        count = len(worlds)
        if self._compiled:
            # Always as many: steps are compiled for their number.
            worlds = [*worlds, *[worlds[-1]] * (self._tile - count)]
        rows = torch.tensor(worlds, device=self._device)
        surfaces, coats = self._looks.surfaces(rows)
        poses = self._poses(moving, rows)
        gbuffer = self._cameras[camera].gbuffer(frames, poses, coats, rows)
        lights = self._looks.lights(worlds, rows)
        batch = Batch(
            gbuffer,
            surfaces,
            lights,
            self._shadows(worlds, poses, lights, gbuffer),
            self._shader.open_shares(gbuffer),
        )
        sensors = self._sensors[camera]
        return self._shader.photos(batch, sensors.take(worlds, rows), sensors.words(rows))[:count]

    def _poses(self, moving: Moving, rows: torch.Tensor) -> torch.Tensor:
        """Return where everything is: slots, fixtures, table, then the robot's links, shape [b, m - 1 + links, 7]."""
        table = self._table.expand(len(rows), 1, 7)
        return torch.cat([moving.slot_pose[rows], self._fixtures[rows], table, moving.link_pose[rows]], dim=1)

    def _shadows(
        self, worlds: Sequence[int], poses: torch.Tensor, lights: LightSet, gbuffer: GBuffer
    ) -> tuple[ShadowMap, ...]:
        blockers, slots = self._blockers_of(tuple(worlds)), len(self._slots)
        items, fixtures = _placed(poses[:, :slots]), _placed(poses[:, slots : slots + len(self._fixture_names)])
        size_px = map_size_px(gbuffer.height_px * gbuffer.width_px)
        maps = (
            self._shader.shadow_map(blockers, items, fixtures, light, gbuffer, size_px=size_px)
            for light in lights.areas
        )
        return tuple(with_robot(shadow, self._meshes, poses) for shadow in maps)

    def _blockers_of(self, worlds: tuple[int, ...]) -> Blockers:
        """List what casts shadows; the last list is kept as long as nothing comes or goes."""
        if self._blockers is None or self._blockers[0] != worlds:
            present: Any = self._present[list(worlds)]
            made = blockers_of(self._polygons, self._trays, self._bodies, present, like=self._like, xp=torch)
            self._blockers = (worlds, made)
        return self._blockers[1]


def _placed(poses: torch.Tensor) -> Placed:
    return placed(poses[..., :3], poses[..., 3:])
