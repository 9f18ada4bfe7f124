"""Where the settle check runs: MuJoCo on the processor, or MuJoCo-Warp on a GPU, loaded only when it is asked for."""

from __future__ import annotations

import importlib
import re
from typing import Any

import typer

from evaluator.isaac.engine import warp_engine
from scenegen.cell import Cell
from scenegen.errors import InvalidOption, MissingExtra
from scenegen.parts.catalogue import Catalogue
from scenegen.physics.settle import Settler

PROCESSOR = "cpu"
"""The device on which MuJoCo itself settles scenes."""
DEVICE: str = typer.Option(
    PROCESSOR, help="Where scenes are checked to rest: cpu, cuda:0 (many at once), or cpu:warp (slow, for trials)."
)
WORLDS = {"cuda": 1024, "cpu": 8}
"""How many scenes settle side by side on each kind of device."""


def warp_device(device: str) -> str | None:
    """Translate the option's value to Warp's name of a device; None for the processor by MuJoCo itself.

    Raises:
        InvalidOption: It names no device.
    """
    if device == PROCESSOR:
        return None
    if device == "cpu:warp":
        return "cpu"
    if re.fullmatch(r"cuda:\d+", device) is None:
        raise InvalidOption("--device", device, "cpu, cpu:warp, or cuda:0 and the like")
    return device


def settle_engine(device: str) -> str | None:
    """Name the simulators behind settle checks on a device; None for MuJoCo itself.

    Raises:
        InvalidOption: The option names no device.
        MissingExtra: MuJoCo-Warp is not installed.
    """
    warp = warp_device(device)
    return None if warp is None else warp_engine(warp)


def warp_settler(device: str, cell: Cell, parts: Catalogue, *, settler: Settler) -> Any:
    """Build what settles many scenes of a cell at once on a device; None for the processor by MuJoCo itself.

    Args:
        device: The option's value.
        cell: The cell.
        parts: Its parts.
        settler: Answers where contacts overflow.

    Returns:
        A `WarpSettler`.

    Raises:
        InvalidOption: There is no such device.
        MissingExtra: MuJoCo-Warp is not installed.
    """
    warp = warp_device(device)
    if warp is None:
        return None
    try:
        importlib.import_module("evaluator.isaac.quiet").quieten()
        module = importlib.import_module("evaluator.isaac.warp_settler")
    except ModuleNotFoundError as error:
        raise MissingExtra("Settling on a device", "isaac") from error
    return module.WarpSettler(cell, parts, device=warp, worlds=WORLDS[warp.partition(":")[0]], settler=settler)
