"""Where a robot's USD file must stand, and where its flange is, so that its joints turn as the cell's robot says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pxr import Gf, Usd, UsdGeom, UsdPhysics

from scenegen.cell import Robot
from scenegen.errors import UnreadableStage
from scenegen.geometry import Array, Pose, quat_about, quat_from_matrix
from scenegen.robot import Arm

AGREES_M = 0.001
"""How far the axes of a file's joints may be from those of the cell's robot [m]."""
AGREES_RAD = 0.002
"""Angle by which they may differ [rad]: a millimetre at half a metre."""
TURNS_RAD = 0.3
"""How far the joints are turned from the start to see that they turn alike [rad]."""


@dataclass(frozen=True)
class RobotMount:
    """How a robot's file and a cell's robot fit together."""

    pose_root_to_world: Pose
    """Where the file's default prim stands."""
    link: str
    """Path of the last joint's link."""
    pose_flange_to_link: Pose


def robot_mount(file: Path, robot: Robot) -> RobotMount:
    """Find how a robot's file and a cell's robot fit together.

    The axes of a file's joints and those of the Denavit-Hartenberg rows are the same lines in two frames: their
    directions give the rotation between them (Kabsch 1976), the lines then the translation (least squares). No
    convention of frames needs to be known, and a file whose joints turn otherwise shows.

    Args:
        file: The robot's USD file.
        robot: The cell's robot.

    Raises:
        UnreadableStage: The file has other joints than the cell's robot, or they turn about other axes.
    """
    chain = _Chain.of(file, joints=len(robot.joints))
    arm, start = Arm(robot), np.array(robot.start_joints_rad)
    pose = _fitted(*chain.axes(start), *(one[0] for one in arm.axes(start[None])))
    for turn in (0.0, TURNS_RAD, -TURNS_RAD):
        joints = start + turn * np.cos(np.arange(len(start)))
        points, along = chain.axes(joints)
        wanted, directions = (one[0] for one in arm.axes(joints[None]))
        away = np.cross(directions, pose.apply(points) - wanted)
        lean = np.linalg.norm(along @ pose.rotation.T - directions, axis=1)
        worst = int(np.argmax(np.linalg.norm(away, axis=1) + lean))
        if np.linalg.norm(away[worst]) > AGREES_M or lean[worst] > AGREES_RAD:
            away_mm, lean_rad = float(np.linalg.norm(away[worst])) / 1e-3, float(lean[worst])
            reason = f"it turns {away_mm:.1f} mm and {lean_rad:.3f} rad beside joint {worst + 1} of the cell's robot"
            raise UnreadableStage(str(file), chain.names[worst], reason)
    flange = pose.after(chain.last(start)).inverse().after(arm.pose_flange_to_world(start))
    return RobotMount(_rounded(pose), chain.link, _rounded(flange))


@dataclass(frozen=True, eq=False)
class _Step:
    """One joint of a chain."""

    path: str
    before: Pose
    """Its frame in the link that carries it."""
    after: Pose
    """The next link in its frame."""
    axis: Array | None
    """Direction about which it turns; None for a fixed joint."""


class _Chain:
    """The joints from a file's base to its last revolute one."""

    def __init__(self, base: Pose, steps: list[_Step], link: str) -> None:
        self._base, self._steps, self.link = base, steps, link
        self.names = [step.path for step in steps if step.axis is not None]

    @classmethod
    def of(cls, file: Path, *, joints: int) -> _Chain:
        """Read a file.

        Raises:
            UnreadableStage: It has another number of revolute joints, or they are no chain.
        """
        stage = Usd.Stage.Open(str(file))
        root = stage.GetDefaultPrim()
        carried = {
            str(joint.GetBody1Rel().GetTargets()[0]): joint
            for joint in (UsdPhysics.Joint(prim) for prim in stage.Traverse() if prim.IsA(UsdPhysics.Joint))
        }
        links = [link for link, joint in carried.items() if joint.GetPrim().IsA(UsdPhysics.RevoluteJoint)]
        if len(links) != joints:
            raise UnreadableStage(str(file), "/", f"it has {len(links)} revolute joints, the cell's robot {joints}")
        link, steps = links[-1], []
        while link in carried and link != str(root.GetPath()):
            steps.append(_step(carried[link]))
            link = str(carried[link].GetBody0Rel().GetTargets()[0])
        if sum(step.axis is not None for step in steps) != joints:
            raise UnreadableStage(str(file), links[-1], "its revolute joints are no chain")
        base = UsdGeom.XformCache().ComputeRelativeTransform(stage.GetPrimAtPath(link), root)[0]
        return cls(_of_matrix(base), steps[::-1], links[-1])

    def axes(self, joints_rad: Array) -> tuple[Array, Array]:
        """Return a point on each axis and its direction in the default prim's frame, shapes [joints, 3]."""
        poses, _ = self._poses(joints_rad)
        along = [step.axis for step in self._steps if step.axis is not None]
        directions = np.stack([pose.rotation @ axis for pose, axis in zip(poses, along, strict=True)])
        return np.stack([pose.position for pose in poses]), directions

    def last(self, joints_rad: Array) -> Pose:
        """Return where the last link is in the default prim's frame."""
        return self._poses(joints_rad)[1]

    def _poses(self, joints_rad: Array) -> tuple[list[Pose], Pose]:
        """Frames of the revolute joints, turned, and of the last link."""
        poses, pose, angles = [], self._base, iter(joints_rad.tolist())
        for step in self._steps:
            pose = pose.after(step.before)
            if step.axis is not None:
                pose = pose.after(Pose.of((0, 0, 0), quat_about(step.axis, next(angles))))
                poses.append(pose)
            pose = pose.after(step.after)
        return poses, pose


def _step(joint: UsdPhysics.Joint) -> _Step:
    turn = UsdPhysics.RevoluteJoint(joint.GetPrim())
    axis = np.eye(3)["XYZ".index(str(turn.GetAxisAttr().Get()))] if turn else None
    before = _pose(joint.GetLocalPos0Attr().Get(), joint.GetLocalRot0Attr().Get())
    after = _pose(joint.GetLocalPos1Attr().Get(), joint.GetLocalRot1Attr().Get())
    return _Step(str(joint.GetPath()), before, after.inverse(), axis)


def _fitted(points: Array, along: Array, wanted: Array, directions: Array) -> Pose:
    """Find the pose that brings lines (points, along) onto lines (wanted, directions), all of shape [n, 3]."""
    u, _, vt = np.linalg.svd(directions.T @ along)
    rotation = u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
    across = np.eye(3) - directions[:, :, None] * directions[:, None, :]
    rows = across.reshape(-1, 3)
    right = np.einsum("nij,nj->ni", across, wanted - points @ rotation.T).ravel()
    return Pose.of(np.linalg.lstsq(rows, right, rcond=None)[0], quat_from_matrix(rotation))


def _of_matrix(matrix: Gf.Matrix4d) -> Pose:
    return _pose(matrix.ExtractTranslation(), matrix.ExtractRotationQuat())


def _pose(position: Gf.Vec3f | Gf.Vec3d, turn: Gf.Quatf | Gf.Quatd) -> Pose:
    return Pose.of(tuple(position), (*turn.GetImaginary(), turn.GetReal()))


def _rounded(pose: Pose) -> Pose:
    """Cut off what rounding left: a file keeps single precision."""
    return Pose.of(np.round(pose.position, 6), np.round(pose.quat, 6))
