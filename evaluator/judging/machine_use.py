"""What a run asked of its machine: memory, and how busy the device was."""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from scenegen.record import NonNegative, Record, Share


class MachineUse(Record):
    """Memory and utilisation over a run. None is unknown: it was not sampled."""

    host_peak_bytes: Annotated[int, Field(ge=0)] | None = None
    """Most memory that the processes held."""
    device_peak_bytes: Annotated[int, Field(ge=0)] | None = None
    """Most memory that was taken on the device."""
    utilisation: Share | None = None
    """Mean share of the time that the device computed."""
    utilisation_low: Share | None = None
    """Its tenth percentile: a device that waits often has a low one though its mean is high."""
    worlds: Annotated[int, Field(ge=1)] | None = None
    """Worlds that were simulated side by side."""
    real_time_factor: NonNegative | None = None
    """Simulated seconds of all worlds together by the second of wall time."""

    @classmethod
    def of(
        cls,
        *,
        host_bytes: ArrayLike = (),
        device_bytes: ArrayLike = (),
        utilisation: ArrayLike = (),
        worlds: int | None = None,
        simulated_s: float | None = None,
        wall_s: float | None = None,
    ) -> Self:
        """Sum up what was sampled during a run.

        Args:
            host_bytes: Memory held by the processes, sampled, shape [k].
            device_bytes: Memory taken on the device, sampled, shape [k].
            utilisation: Share of the time that the device computed, sampled, 0 to 1, shape [k].
            worlds: Worlds side by side.
            simulated_s: Simulated time of all worlds together [s].
            wall_s: Wall time of the run [s].
        """
        host, device, busy = (np.asarray(samples, float) for samples in (host_bytes, device_bytes, utilisation))
        return cls(
            host_peak_bytes=int(host.max()) if host.size else None,
            device_peak_bytes=int(device.max()) if device.size else None,
            utilisation=float(busy.mean()) if busy.size else None,
            utilisation_low=float(np.quantile(busy, 0.1)) if busy.size else None,
            worlds=worlds,
            real_time_factor=simulated_s / wall_s if simulated_s is not None and wall_s else None,
        )
