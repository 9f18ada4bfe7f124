"""A robot's USD file: converted once from the URDF of `example-robot-data`, or a person's own."""

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

from scenegen.errors import UnknownName
from scenegen.record import content_hash
from scenegen.usd.robot_joints import RobotJoints, robot_joints

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
    """A robot as USD, and what its joints are called."""

    usd: Path
    joints: RobotJoints

    @classmethod
    def at(cls, usd: Path) -> RobotAsset:
        """Describe a robot's USD file.

        Raises:
            UnreadableStage: The file is no robot.
        """
        return cls(usd, robot_joints(usd))


def robot_asset(model: str) -> RobotAsset:
    """Return a known robot as USD; it is converted when it is first asked for.

    Raises:
        UnknownName: No such model is known.
    """
    if model not in ROBOTS:
        raise UnknownName("robot", model, ROBOTS)
    return RobotAsset.at(_converted(ROBOTS[model]))


def _converted(urdf: str) -> Path:
    share = _share()
    source = share / PACKAGE / "robots" / urdf
    versions = "".join(importlib.metadata.version(name) for name in (PACKAGE, "urdf-usd-converter", "usd-exchange"))
    name = f"{source.stem}-{content_hash(source.read_bytes(), versions.encode())}"
    cache = Path(os.environ.get(CACHE) or Path.home() / ".cache" / "scenegen") / "robots"
    target = cache / name / f"{source.stem}.usdc"
    if not target.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as scratch, _quiet():
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
