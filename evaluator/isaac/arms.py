"""The robots of all worlds: joint targets in, joint states out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import warp as wp
from isaaclab.scene import InteractiveScene
from isaaclab_newton.physics import NewtonManager

from evaluator.isaac.robot_asset import RobotAsset
from scenegen.cell import Robot


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
        self._arm = [names.index(name) for name in asset.joints.arm]
        self._fingers = [names.index(name) for name in asset.joints.fingers]
        self._finger_m = robot.gripper.opening_m / 2
        self._count = scene.num_envs
        solver: Any = NewtonManager._solver
        model = solver.mj_model
        joints = {model.joint(index).name: index for index in range(model.njnt)}
        self._drives = [int(model.jnt_dofadr[_joint(joints, name)]) for name in asset.joints.arm]
        """Degree of freedom of each arm joint in the solver."""

    def place(self, ids: torch.Tensor, joints_rad: torch.Tensor) -> None:
        """Put the arms of some worlds at joint angles, at rest, the gripper open.

        Args:
            ids: Numbers of the worlds, shape [n].
            joints_rad: Joint angles, shape [n, joints].
        """
        joints = len(self._arm) + len(self._fingers)
        position = torch.full((len(ids), joints), self._finger_m, device=self._articulation.device)
        position[:, self._arm] = joints_rad
        self._articulation.write_joint_position_to_sim_index(position=position, env_ids=ids)
        self._articulation.write_joint_velocity_to_sim_index(velocity=torch.zeros_like(position), env_ids=ids)
        self._articulation.actuators.target_command.set_position_index(value=position, env_ids=ids)

    def command(self, joints_rad: torch.Tensor, opening: torch.Tensor) -> None:
        """Set the targets of all worlds.

        Args:
            joints_rad: Arm joints, shape [worlds, joints].
            opening: Gripper, 0 closed to 1 open, shape [worlds].
        """
        targets = torch.empty((self._count, len(self._arm) + len(self._fingers)), device=self._articulation.device)
        targets[:, self._arm] = joints_rad.to(targets.device)
        targets[:, self._fingers] = self._finger_m * opening.to(targets.device)[:, None].clip(0, 1)
        self._articulation.actuators.target_command.set_position_index(value=targets)

    def joint_pos(self) -> torch.Tensor:
        """Return the arm's joint angles [rad], shape [worlds, joints]."""
        return self._articulation.data.joint_pos.torch[:, self._arm]

    def joint_vel(self) -> torch.Tensor:
        """Return the arm's joint velocities [rad/s], shape [worlds, joints]."""
        return self._articulation.data.joint_vel.torch[:, self._arm]

    def link_poses(self, names: Sequence[str]) -> torch.Tensor:
        """Return the poses of some links, position [m] and quaternion xyzw, world frame, shape [worlds, n, 7]."""
        known = self._articulation.body_names
        return self._articulation.data.body_link_pose_w.torch[:, [known.index(name) for name in names]]

    def opening(self) -> torch.Tensor:
        """Return how far grippers are open, 0 to 1, shape [worlds]."""
        return self._articulation.data.joint_pos.torch[:, self._fingers].mean(dim=1) / self._finger_m

    def torque(self) -> torch.Tensor:
        """Return the torques that the arm's drives gave in the last step [N m], shape [worlds, joints]."""
        solver: Any = NewtonManager._solver
        return wp.to_torch(solver.mjw_data.qfrc_actuator)[:, self._drives]


def _joint(joints: Mapping[str, int], name: str) -> int:
    """Find a joint by the end of its name: the solver puts the path before it."""
    return next(index for known, index in joints.items() if re.search(rf"(^|[/_]){re.escape(name)}(_\d+)?$", known))
