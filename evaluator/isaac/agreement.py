"""Where the settle check and Isaac Lab say that parts rest, side by side; disagreements are listed, not averaged."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from scenegen.geometry import Pose, angle_between
from scenegen.record import Name, NonNegative, Positive, Record
from scenegen.scenario import Layout


class PartAgreement(Record):
    """One part of one scene."""

    world: int
    item: Name
    distance_m: NonNegative
    """Between the two rest poses [m]."""
    rotation_rad: NonNegative
    """Between the two rest poses [rad]."""
    moved_m: NonNegative
    """How far from its start Isaac Lab left it [m]."""


class Agreement(Record):
    """All parts of all scenes."""

    scenarios: tuple[str, ...]
    """Scenario ids, one a world."""
    seconds: Positive
    """Simulated time in Isaac Lab [s]."""
    simulator: str
    """Package versions."""
    matter_error: NonNegative
    """How far masses and friction in the simulator are from the scenarios' (see `IsaacWorlds.matter_error`)."""
    parts: tuple[PartAgreement, ...]

    def disagreements(self, *, distance_m: float, rotation_rad: float) -> tuple[PartAgreement, ...]:
        """Return the parts that end farther apart than allowed, worst first.

        Args:
            distance_m: Largest accepted distance [m].
            rotation_rad: Largest accepted rotation [rad].
        """
        apart = [p for p in self.parts if p.distance_m > distance_m or p.rotation_rad > rotation_rad]
        return tuple(sorted(apart, key=lambda p: -max(p.distance_m / distance_m, p.rotation_rad / rotation_rad)))


def compare(world: int, start: Layout, rest: Layout, found: Mapping[str, Pose]) -> list[PartAgreement]:
    """Compare one scene, part by part.

    Args:
        world: Number of the world.
        start: Where the parts started.
        rest: Where the settle check says that they rest.
        found: Where Isaac Lab left them, by name.

    Raises:
        KeyError: Isaac Lab has no pose of a part.
    """
    compared = []
    for before, after in zip(start.items, rest.items, strict=True):
        wanted, pose = after.pose_to_world, found[after.name]
        compared.append(
            PartAgreement(
                world=world,
                item=after.name,
                distance_m=float(np.linalg.norm(pose.position - wanted.position)),
                rotation_rad=float(angle_between(wanted.quat, pose.quat)),
                moved_m=float(np.linalg.norm(pose.position - before.pose_to_world.position)),
            )
        )
    return compared
