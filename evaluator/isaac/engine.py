"""How verdicts name MuJoCo-Warp; without loading it, so that plans can be compared anywhere."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from scenegen.errors import MissingExtra


def warp_engine(device: str) -> str:
    """Name the simulators behind settle checks on a device.

    Args:
        device: As Warp names it; which one of several like it does not matter.

    Raises:
        MissingExtra: MuJoCo-Warp is not installed.
    """
    kind = device.partition(":")[0]
    try:
        warp = version("mujoco-warp")
    except PackageNotFoundError as error:
        raise MissingExtra("Settling on a device", "isaac") from error
    return f"mujoco-warp {warp} on {kind}, mujoco {version('mujoco')} where contacts overflow"
