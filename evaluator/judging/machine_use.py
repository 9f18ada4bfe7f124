"""What a run asked of its machine: memory, how busy it was, how fast it went, how steadily the policy answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from evaluator.judging.batch_times import BatchTimes, merged
from scenegen.record import NonNegative, Record, Share

Bytes = Annotated[int, Field(ge=0)]


class MachineUse(Record):
    """Memory, utilisation and speed of one command's part of a run. None is unknown: it could not be measured."""

    host_peak_bytes: Bytes | None = None
    """Most memory that the process held."""
    device_peak_bytes: Bytes | None = None
    """Most memory that torch and Warp took on the device."""
    processors: NonNegative | None = None
    """Processors that the process kept busy on average."""
    utilisation: Share | None = None
    """Mean share of the time that the device computed."""
    utilisation_low: Share | None = None
    """Its tenth percentile: a device that waits often has a low one though its mean is high."""
    worlds: Annotated[int, Field(ge=1)] | None = None
    """Worlds that were simulated side by side."""
    opening_s: NonNegative | None = None
    """Time until the worlds were there [s]."""
    wall_s: NonNegative | None = None
    """Time for which they ran [s]."""
    simulated_s: NonNegative | None = None
    """Simulated time of all worlds that played, together [s]."""
    physics_steps: Annotated[int, Field(ge=0)] | None = None
    """Physics steps of all worlds together; none without physics."""
    batches: tuple[BatchTimes, ...] = ()
    """How long the policy's calls took by how many worlds they asked about."""

    @property
    def real_time_factor(self) -> float | None:
        """Simulated seconds of all worlds together by the second of wall time."""
        return self.simulated_s / self.wall_s if self.simulated_s is not None and self.wall_s else None

    @property
    def physics_steps_per_s(self) -> float | None:
        """Physics steps of all worlds together by the second of wall time."""
        return self.physics_steps / self.wall_s if self.physics_steps is not None and self.wall_s else None


def together(uses: Sequence[MachineUse]) -> MachineUse:
    """Sum up the commands of a run: peaks and worlds are the greatest, shares weigh by time, the rest adds up."""
    return MachineUse(
        host_peak_bytes=max(_known(uses, "host_peak_bytes"), default=None),
        device_peak_bytes=max(_known(uses, "device_peak_bytes"), default=None),
        processors=_mean(uses, "processors"),
        utilisation=_mean(uses, "utilisation"),
        utilisation_low=min(_known(uses, "utilisation_low"), default=None),
        worlds=max(_known(uses, "worlds"), default=None),
        opening_s=_sum(uses, "opening_s"),
        wall_s=_sum(uses, "wall_s"),
        simulated_s=_sum(uses, "simulated_s"),
        physics_steps=_sum(uses, "physics_steps"),
        batches=merged(one for use in uses for one in use.batches),
    )


def _known(uses: Sequence[MachineUse], name: str) -> list[Any]:
    return [value for use in uses if (value := getattr(use, name)) is not None]


def _sum(uses: Sequence[MachineUse], name: str) -> Any:
    found = _known(uses, name)
    return sum(found) if found else None


def _mean(uses: Sequence[MachineUse], name: str) -> float | None:
    found = [(getattr(use, name), use.wall_s or 0.0) for use in uses if getattr(use, name) is not None]
    whole = sum(weight for _, weight in found)
    return sum(value * weight for value, weight in found) / whole if whole else None
