"""A cell's cameras in Isaac Lab: one sensor a camera, drawn only when somebody asks for its images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from isaaclab.scene import InteractiveScene

from evaluator.isaac.flange import Placement, after, flange_pose, placed
from evaluator.isaac.instances import instance_index, instance_names
from evaluator.isaac.pixels import Frames, PixelFiller, WorldMeshes
from evaluator.isaac.prims import CAMERA
from evaluator.isaac.shape_numbers import IDS
from scenegen.cell import Cell, CellCamera, Robot
from scenegen.errors import InvalidOption
from scenegen.imaging.coat_set import CoatSet
from scenegen.imaging.gbuffer import GBuffer
from scenegen.imaging.pinhole import camera_rays
from scenegen.robot import Arm
from scenegen.scenario import Camera, Scenario

INTRINSICS = ("width_px", "height_px", "focal_px", "principal_px", "distortion")
"""What all worlds share: rays are cast in the camera's frame once for all of them."""


class WorldCamera:
    """One camera of the cell in all worlds; it stands still, or moves with the flange as the joints say.

    Args:
        camera: The camera.
        cell: The cell.
        scene: The scene, which holds a sensor of that name; it is taken out, so that steps do not touch it.
        meshes: Meshes of slots and links.
    """

    def __init__(self, camera: CellCamera, cell: Cell, scene: InteractiveScene, meshes: WorldMeshes) -> None:
        self.camera = camera
        self._robot: Robot = cell.robot
        self._arm = Arm(cell.robot)
        self._sensor: Any = scene.sensors.pop(f"{CAMERA}{camera.name}")
        self._count, self._device = scene.num_envs, str(scene.device)
        self._mount = placed([camera.pose_to_mount] * self._count, like=torch.zeros(1, device=self._device))
        self._names = instance_names(cell)
        self._rays = camera_rays(
            camera.width_px, camera.height_px, camera.focal_px, camera.principal_px, camera.distortion
        )
        self._meshes = meshes
        self._filler: PixelFiller | None = None

    def put(self, scenarios: Mapping[int, Scenario]) -> None:
        """Write where the camera stands, or how it is mounted, in some worlds.

        Raises:
            InvalidOption: A scenario's camera has another lens or size than the cell's.
        """
        worlds = torch.tensor(list(scenarios), device=self._device)
        poses = []
        for scenario in scenarios.values():
            found = next(one for one in scenario.cameras.cameras if one.name == self.camera.name)
            _require_lens(self.camera, found)
            pose = found.pose_to_world
            if self.camera.mount == "flange":
                pose = self._arm.pose_flange_to_world(scenario.motion.robot_start_rad).inverse().after(pose)
            poses.append(pose)
        for kept, new in zip(self._mount, placed(poses, like=self._mount[0]), strict=True):
            kept[worlds] = new

    def frames(self, joints_rad: torch.Tensor) -> Frames:
        """Draw all worlds as they are now.

        Args:
            joints_rad: Angles of the arms' joints, shape [worlds, joints].
        """
        eye, quat = self._pose(joints_rad)
        self._sensor.set_world_poses(eye, quat, convention="opengl")
        self._sensor.update(0.0, force_recompute=True)
        data = self._sensor.data
        ids, depth, normals = (data.output[name].torch for name in (IDS, "depth", "normals"))
        size = self.camera.width_px * self.camera.height_px
        return Frames(
            ids=ids.reshape(self._count, size),
            depth=depth.reshape(self._count, size),
            normals=normals.reshape(self._count, size, 3),
            eye=eye,
            quat=quat,
        )

    def gbuffer(self, frames: Frames, poses: torch.Tensor, coats: CoatSet, worlds: torch.Tensor) -> GBuffer:
        """Return what was drawn of some worlds; see `PixelFiller.fill`."""
        if self._filler is None:
            labels = self._sensor.data.info[IDS]["idToLabels"]
            index = instance_index(labels, self._names)
            self._filler = PixelFiller(self._names, self._rays, index, self._meshes, device=self._device)
        return self._filler.fill(frames, poses, coats, worlds)

    def _pose(self, joints_rad: torch.Tensor) -> Placement:
        if self.camera.mount == "world":
            return self._mount
        return after(flange_pose(self._robot, joints_rad), self._mount)


def _require_lens(wanted: CellCamera, found: Camera) -> None:
    for name in INTRINSICS:
        if getattr(wanted, name) != getattr(found, name):
            said, accepted = getattr(found, name), f"the cell's, {getattr(wanted, name)}: all worlds share it"
            raise InvalidOption(f"{name} of camera {found.name}", said, accepted)
