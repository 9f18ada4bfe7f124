"""The robots of all worlds: joint targets in, joint states out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
import warp as wp
from isaaclab.scene import InteractiveScene
from isaaclab_newton.physics import NewtonManager

from evaluator.isaac.robot_asset import RobotAsset
from scenegen.cell import Robot
from scenegen.geometry import Array


class Arms:
    """Commands and reads the robots of a scene.

    Args:
        robot: The cell's robot.
        asset: What its joints are called.
        scene: The scene, with an articulation `robot`.
    """

    def __init__(self, robot: Robot, asset: RobotAsset, scene: InteractiveScene) -> None:
        self._articulation: Any = scene["robot"]
        names = list(self._articulation.joint_names)
        self.arm = [names.index(name) for name in asset.joints.arm]
        """Columns of the arm's joints among the robot's."""
        self.fingers = [names.index(name) for name in asset.joints.fingers]
        """Columns of the fingers."""
        self.finger_m = robot.gripper.opening_m / 2
        """Way of a finger from closed to open [m]."""
        solver: Any = NewtonManager._solver
        model = solver.mj_model
        joints = {model.joint(index).name: index for index in range(model.njnt)}
        self.drives = [int(model.jnt_dofadr[_joint(joints, name)]) for name in asset.joints.arm]
        """Degree of freedom of each arm joint in the solver."""
        self._wanted: Any = self._articulation.actuators.target_command.position.warp
        self._host = wp.zeros(self._wanted.shape, dtype=wp.float32, device="cpu", pinned=self._wanted.device.is_cuda)
        """Targets on their way to the simulator's device; the copy is done before a tick's state is read."""
        self._targets = self._host.numpy()

    @property
    def joints(self) -> int:
        """Number of the arm's joints."""
        return len(self.arm)

    def place(self, ids: torch.Tensor, joints_rad: torch.Tensor) -> None:
        """Put the arms of some worlds at joint angles, at rest, the gripper open.

        Args:
            ids: Numbers of the worlds, shape [n].
            joints_rad: Joint angles, shape [n, joints].
        """
        joints = len(self.arm) + len(self.fingers)
        position = torch.full((len(ids), joints), self.finger_m, device=self._articulation.device)
        position[:, self.arm] = joints_rad
        self._articulation.write_joint_position_to_sim_index(position=position, env_ids=ids)
        self._articulation.write_joint_velocity_to_sim_index(velocity=torch.zeros_like(position), env_ids=ids)
        self._articulation.actuators.target_command.set_position_index(value=position, env_ids=ids)

    def command(self, joints_rad: Array, opening: Array) -> None:
        """Set the targets of all worlds.

        Args:
            joints_rad: Arm joints, shape [worlds, joints].
            opening: Gripper, 0 closed to 1 open, shape [worlds].
        """
        self._targets[:, self.arm] = joints_rad
        self._targets[:, self.fingers] = self.finger_m * np.asarray(opening, np.float32).clip(0, 1)[:, None]
        wp.copy(self._wanted, self._host)

    def states(self) -> list[Any]:
        """Return the simulator's own arrays of joint positions and velocities, shape [worlds, robot's joints]."""
        data = self._articulation.data
        return [data.joint_pos.warp, data.joint_vel.warp]

    def joint_pos(self) -> torch.Tensor:
        """Return the arm's joint angles [rad], shape [worlds, joints]."""
        return self._articulation.data.joint_pos.torch[:, self.arm]

    def link_poses(self, names: Sequence[str]) -> torch.Tensor:
        """Return the poses of some links, position [m] and quaternion xyzw, world frame, shape [worlds, n, 7]."""
        known = self._articulation.body_names
        return self._articulation.data.body_link_pose_w.torch[:, [known.index(name) for name in names]]


def _joint(joints: Mapping[str, int], name: str) -> int:
    """Find a joint by the end of its name: the solver puts the path before it."""
    return next(index for known, index in joints.items() if re.search(rf"(^|[/_]){re.escape(name)}(_\d+)?$", known))
