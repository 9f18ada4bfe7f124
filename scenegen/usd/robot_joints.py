"""What the joints and links of a robot's USD file are called."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from pxr import Usd, UsdPhysics

from scenegen.errors import UnreadableStage


class RobotJoints(NamedTuple):
    """Names of prims, in the file's order: from the base on."""

    arm: tuple[str, ...]
    """Revolute joints."""
    fingers: tuple[str, ...]
    """Prismatic joints, all driven alike; none for an arm without gripper."""
    links: tuple[str, ...]
    """Rigid bodies."""


def robot_joints(file: Path) -> RobotJoints:
    """Read a robot's joints and links.

    Raises:
        UnreadableStage: The file cannot be opened, or has no revolute joint.
    """
    stage = Usd.Stage.Open(str(file)) if file.exists() else None
    if stage is None:
        raise UnreadableStage(str(file), "/", "it cannot be opened as USD")
    prims = list(stage.Traverse())
    found = RobotJoints(
        arm=tuple(prim.GetName() for prim in prims if prim.IsA(UsdPhysics.RevoluteJoint)),
        fingers=tuple(prim.GetName() for prim in prims if prim.IsA(UsdPhysics.PrismaticJoint)),
        links=tuple(prim.GetName() for prim in prims if prim.HasAPI(UsdPhysics.RigidBodyAPI)),
    )
    if not found.arm:
        raise UnreadableStage(str(file), "/", "it has no revolute joint, so it is no arm")
    return found
