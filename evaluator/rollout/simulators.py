"""From the name of a simulator to what opens its worlds; a simulator is loaded only when it is asked for."""

from __future__ import annotations

import importlib
import importlib.metadata
from contextlib import nullcontext
from enum import StrEnum
from functools import partial
from pathlib import Path

from evaluator.rollout.kinematic import KinematicLine
from evaluator.rollout.roomy import Lines
from scenegen import __version__
from scenegen.cell import Cell
from scenegen.errors import MissingExtra
from scenegen.parts.catalogue import Catalogue

PACKAGES = ("isaaclab", "newton", "mujoco-warp", "warp-lang")
"""Packages whose versions decide what happens in a world of Isaac Lab."""


class Simulator(StrEnum):
    """What moves robots and parts."""

    NEWTON = "newton"
    """Isaac Lab with Newton's physics."""
    KINEMATIC = "kinematic"
    """No physics: a dry run in seconds."""
    PHYSX = "physx"
    """Isaac Lab with PhysX, of a full Isaac Sim."""
    OVPHYSX = "ovphysx"
    """Isaac Lab with the PhysX that comes alone."""

    @property
    def versions(self) -> dict[str, str]:
        """What decides its results.

        Raises:
            MissingExtra: It is not installed.
        """
        if self is Simulator.KINEMATIC:
            return {"kinematic": __version__}
        try:
            return {name: importlib.metadata.version(name) for name in PACKAGES}
        except importlib.metadata.PackageNotFoundError as error:
            raise MissingExtra("Rolling out", "isaac") from error

    @property
    def opening(self) -> str | None:
        """What a person should know while its worlds open."""
        if self is Simulator.KINEMATIC:
            return None
        return "opening worlds in Isaac Lab; the first time, its kernels compile for some minutes"

    def lines(self, cell: Cell, parts: Catalogue, *, device: str, robot: Path | None = None) -> Lines:
        """Return what opens worlds of a cell.

        Args:
            cell: The cell.
            parts: Its parts.
            device: `cpu` or `cuda:0`.
            robot: The robot's own USD file, if the cell names one.

        Raises:
            MissingExtra: Isaac Lab is not installed.
            InvalidOption: This back end of it is not installed, or cannot be used.
        """
        if self is Simulator.KINEMATIC:
            return lambda count, cameras=(): nullcontext(KinematicLine(cell, parts, count=count))
        try:
            importlib.import_module("evaluator.isaac.quiet").quieten()
            isaac = importlib.import_module("evaluator.isaac.line")
        except ModuleNotFoundError as error:
            raise MissingExtra("Rolling out", "isaac") from error
        isaac.require_backend(self.value)
        opened = partial(isaac.open_line, cell, parts, device=device, backend=self.value, robot=robot)
        return lambda count, cameras=(): opened(count=count, cameras=cameras)
