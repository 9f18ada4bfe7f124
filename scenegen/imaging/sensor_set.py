"""What exposing and developing takes: the sensors of a batch as arrays, made once for any number of frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scenegen.imaging.blur import Shifts
from scenegen.imaging.gbuffer import Vector
from scenegen.imaging.veil import Veil


@dataclass(frozen=True, eq=False)
class SensorSet:
    """Settings of the sensors of b images, or of one for all; each array of shape [b, 1, 1]."""

    blurs: tuple[Shifts, ...]
    """Blur of motion, then of the lens; none where nothing is blurred."""
    corner: Any
    """Square of the tangent of the angle at which the corners are seen (`photo`); None: no vignetting."""
    veil: Veil | None
    """Veiling glare; None: there is none."""
    gain: Vector
    """Exposure and white balance by linear colour [m²/cd]."""
    snr_db: Any
    """Signal-to-noise ratio at mid grey [dB]."""
