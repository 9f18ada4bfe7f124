"""A robot's USD file: converted once from the URDF of `example-robot-data`, or a person's own; and its gripper."""

from __future__ import annotations

import importlib.metadata
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from urdf_usd_converter import Converter

from scenegen import __version__
from scenegen.cell import Robot
from scenegen.errors import UnknownName, UnreadableStage
from scenegen.geometry import Pose
from scenegen.record import content_hash
from scenegen.usd.gripper import write_gripper
from scenegen.usd.robot_joints import RobotJoints, robot_joints
from scenegen.usd.robot_mount import RobotMount, robot_mount

CACHE = "SCENEGEN_CACHE"
"""Environment variable that names the folder of converted robots; by default `~/.cache/scenegen`."""
PACKAGE = "example-robot-data"
ROBOTS = {
    "Franka Emika Panda": "panda_description/urdf/panda.urdf",
    "Universal Robots UR5": "ur_description/urdf/ur5_robot.urdf",
}
"""Models that are known, and where their URDF lies among the robots of `example-robot-data`."""


@dataclass(frozen=True)
class RobotAsset:
    """A robot as USD, and how it fits to a cell's robot."""

    usd: Path
    joints: RobotJoints
    pose_root_to_world: Pose
    """Where the file's default prim stands: its frames need not be those of the cell's robot."""


def robot_asset(robot: Robot, own: Path | None = None) -> RobotAsset:
    """Return a cell's robot as USD: its own file or a known model, with a gripper made for it if the file has none.

    Models are converted, and grippers made, when they are first asked for.

    Args:
        robot: The cell's robot.
        own: The file that it names: the name alone is relative to where the cell's file lies.

    Raises:
        UnknownName: No such model is known, and there is no file of its own.
        UnreadableStage: The file is missing or no robot, or its joints turn otherwise than the cell's robot.
        InvalidOption: There is no room for the fingers between flange and tool centre.
    """
    if own is None and robot.usd is not None:
        raise UnreadableStage(robot.usd, "/", "it was not said where the robot's file lies")
    if own is None and robot.model not in ROBOTS:
        raise UnknownName("robot", robot.model, ROBOTS)
    file = own.resolve() if own is not None else _converted(ROBOTS[robot.model])
    joints, mount = robot_joints(file), robot_mount(file, robot)
    if not joints.fingers:
        file = _with_gripper(file, robot, mount)
        joints = robot_joints(file)
    return RobotAsset(file, joints, mount.pose_root_to_world)


def _with_gripper(file: Path, robot: Robot, mount: RobotMount) -> Path:
    """Return a layer that adds a gripper to a robot's file."""
    facts = (file.read_bytes(), str(file).encode(), robot.canonical_json().encode(), __version__.encode())
    target = _cache() / f"{file.stem}-gripper-{content_hash(*facts)}" / f"{file.stem}.usdc"
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=_cache()) as scratch:
            write_gripper(file, robot, mount, Path(scratch) / target.name)
            _publish(Path(scratch), target.parent)
    return target


def _cache() -> Path:
    cache = Path(os.environ.get(CACHE) or Path.home() / ".cache" / "scenegen") / "robots"
    cache.mkdir(parents=True, exist_ok=True)
    return cache


def _converted(urdf: str) -> Path:
    share = _share()
    source = share / PACKAGE / "robots" / urdf
    versions = "".join(importlib.metadata.version(name) for name in (PACKAGE, "urdf-usd-converter", "usd-exchange"))
    name = f"{source.stem}-{content_hash(source.read_bytes(), versions.encode())}"
    target = _cache() / name / f"{source.stem}.usdc"
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=_cache()) as scratch, _quiet():
            packages = [{"name": PACKAGE, "path": str(share / PACKAGE)}]
            converter = Converter(layer_structure=False, scene=False, ros_packages=packages)
            made = Path(converter.convert(str(source), scratch).path)
            made.rename(Path(scratch) / target.name)
            _publish(Path(scratch), target.parent)
    return target


def _publish(scratch: Path, folder: Path) -> None:
    """Copy a converted robot to its place; another process may be quicker with the same one."""
    staged = Path(tempfile.mkdtemp(dir=folder.parent))
    for file in scratch.iterdir():
        shutil.copy2(file, staged / file.name) if file.is_file() else shutil.copytree(file, staged / file.name)
    try:
        staged.rename(folder)
    except OSError:
        shutil.rmtree(staged)


def _share() -> Path:
    """Return the folder in which the package keeps its robots."""
    files = importlib.metadata.files(PACKAGE) or []
    urdf = next(file for file in files if file.name == "panda.urdf")
    return Path(str(urdf.locate())).resolve().parents[4]


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the converter's lines, which it writes past Python, off the terminal."""
    sys.stdout.flush()
    kept = [os.dup(number) for number in (1, 2)]
    before = logging.root.manager.disable
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        try:
            logging.disable(logging.WARNING)
            for number in (1, 2):
                os.dup2(nowhere.fileno(), number)
            yield
        finally:
            logging.disable(before)
            for number, copy in zip((1, 2), kept, strict=True):
                os.dup2(copy, number)
                os.close(copy)
