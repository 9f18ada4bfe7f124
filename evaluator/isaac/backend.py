"""Which of Isaac Lab's physics worlds run on."""

from __future__ import annotations

import importlib.util

from scenegen.errors import InvalidOption, UnknownName

NEWTON = "newton"
PACKAGES = {NEWTON: "isaaclab_newton", "physx": "isaacsim", "ovphysx": "ovphysx"}
"""Isaac Lab's back ends, and the package that each needs."""


def require_backend(name: str) -> None:
    """Make sure that worlds can run on a back end.

    Raises:
        UnknownName: Isaac Lab has no such back end.
        InvalidOption: It is not installed, or worlds cannot be built on it.
    """
    if name not in PACKAGES:
        raise UnknownName("simulator", name, PACKAGES)
    if importlib.util.find_spec(PACKAGES[name]) is None:
        raise InvalidOption("--simulator", name, f"{NEWTON}: {name} needs the package {PACKAGES[name]}")
    if name != NEWTON:
        reason = "what single worlds weigh and touch is written and read in MuJoCo-Warp's arrays, which PhysX lacks"
        raise InvalidOption("--simulator", name, f"{NEWTON}: {reason}")
