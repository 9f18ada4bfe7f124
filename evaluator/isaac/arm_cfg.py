"""The robot of a cell as an Isaac Lab articulation: gains, joint limits, gripper."""

from __future__ import annotations

from isaaclab.actuators import ActuatorBaseCfg, ImplicitActuatorCfg
from isaaclab.assets import ArticulationCfg
from isaaclab.sim import UsdFileCfg
from isaaclab_newton.sim.schemas import MujocoCollisionCfg, MujocoRigidBodyCfg

from evaluator.isaac.robot_asset import RobotAsset
from scenegen.cell import Robot

ARM_STIFFNESS, ARM_DAMPING, ARM_ARMATURE = 2000.0, 120.0, 0.05
"""Position servo of the arm's joints [N m/rad, N m s/rad] and rotor inertia [kg m²]: with softer ones the tool lags."""
FINGER_STIFFNESS, FINGER_DAMPING, FINGER_ARMATURE = 2000.0, 100.0, 0.1
"""The same for fingers [N/m, N s/m, kg]: without the armature light fingers are pushed into thin parts."""
CONTACT_IMPEDANCE = (0.99, 0.999, 0.001, 0.5, 2.0)
CONTACT_WEIGHT = 1e4
"""MuJoCo's `solimp` of the robot's shapes, and a weight with which it holds against everything (`solmix`).

A soft contact gives way by F (1 - d) / (d m k): pressed by 20 N from both sides, with MuJoCo's usual impedance d of
0.95, rings of 1.3 g would let the fingers through by 2 cm; with these, by less than half a millimetre.
"""
FINGER_FORCE_N = 20.0
"""Largest force of a finger [N]: holds every part of the built-in cells, and does not crush through contacts."""


def arm_cfg(robot: Robot, asset: RobotAsset) -> ArticulationCfg:
    """Describe a robot; gravity is compensated, as its own controller does.

    Args:
        robot: The cell's robot.
        asset: Its USD file and names.
    """
    pose = asset.pose_root_to_world
    joints = dict(zip(asset.joints.arm, robot.start_joints_rad, strict=True))
    efforts = {name: joint.torque_n_m for name, joint in zip(asset.joints.arm, robot.joints, strict=True)}
    fingers = dict.fromkeys(asset.joints.fingers, robot.gripper.opening_m / 2)
    actuators: dict[str, ActuatorBaseCfg] = {
        "arm": ImplicitActuatorCfg(
            joint_names_expr=list(asset.joints.arm),
            stiffness=ARM_STIFFNESS,
            damping=ARM_DAMPING,
            armature=ARM_ARMATURE,
            joint_effort_limit=efforts,
        ),
        "fingers": ImplicitActuatorCfg(
            joint_names_expr=list(asset.joints.fingers),
            stiffness=FINGER_STIFFNESS,
            damping=FINGER_DAMPING,
            armature=FINGER_ARMATURE,
            joint_effort_limit=FINGER_FORCE_N,
        ),
    }
    return ArticulationCfg(
        prim_path="{ENV_REGEX_NS}/Robot",
        spawn=UsdFileCfg(
            usd_path=str(asset.usd),
            rigid_props=[MujocoRigidBodyCfg(gravcomp=1.0)],
            collision_props=[MujocoCollisionCfg(solimp=CONTACT_IMPEDANCE, solmix=CONTACT_WEIGHT)],
            semantic_tags=[("class", "robot")],
        ),
        init_state=ArticulationCfg.InitialStateCfg(
            pos=pose.position_m, rot=pose.quat_xyzw, joint_pos={**joints, **fingers}
        ),
        actuators=actuators,
    )
