"""How smooth a movement is: spectral arc length and log dimensionless jerk of its speed."""

from __future__ import annotations

import math

import numpy as np

from scenegen.geometry import Array

CUTOFF_HZ = 10.0
"""Highest frequency that is looked at [Hz]: arms do not move on purpose above it."""
AMPLITUDE = 0.05
"""Share of the largest amplitude below which the rest of the spectrum is noise."""
PAD = 4
"""The spectrum is as fine as if the movement were padded with zeros to 2^4 times its length."""
LEAST_SAMPLES = 8
"""Fewest samples of which a smoothness is told."""


def spectral_arc_length(speed: Array, rate_hz: float) -> float | None:
    """Return SPARC of one movement: the negative arc length of its speed's normalised spectrum; smoother is larger.

    A bell-shaped speed has about -1.4; every stop and every tremble makes it smaller. Balasubramanian,
    Melendez-Calderon, Roby-Brami and Burdet 2015, "On the analysis of movement smoothness", with the parameters that
    they recommend.

    Args:
        speed: Speed of one movement from rest to rest, in any unit, shape [k].
        rate_hz: Rate of the samples [Hz].

    Returns:
        SPARC; None where there are fewer than `LEAST_SAMPLES` samples or nothing moves.
    """
    if len(speed) < LEAST_SAMPLES or rate_hz <= 0 or not np.any(speed):
        return None
    size = 2 ** (math.ceil(math.log2(len(speed))) + PAD)
    spectrum = np.abs(np.fft.rfft(speed, size))
    frequency = np.arange(len(spectrum)) * rate_hz / size
    low = frequency <= CUTOFF_HZ
    frequency, spectrum = frequency[low], spectrum[low] / spectrum.max()
    loud = np.flatnonzero(spectrum >= AMPLITUDE)
    kept = slice(int(loud[0]), int(loud[-1]) + 1)
    frequency, spectrum = frequency[kept], spectrum[kept]
    if len(frequency) < 2:
        return None
    across = np.diff(frequency) / (frequency[-1] - frequency[0])
    return -float(np.hypot(across, np.diff(spectrum)).sum())


def log_dimensionless_jerk(velocity: Array, rate_hz: float) -> float | None:
    """Return LDLJ of one movement: minus the logarithm of its squared jerk, made dimensionless by time and peak speed.

    Same source as `spectral_arc_length`; smoother is larger. It takes noise for jerk, SPARC does not.

    Args:
        velocity: Velocity of one movement [m/s], shape [k, axes].
        rate_hz: Rate of the samples [Hz].

    Returns:
        LDLJ; None where there are fewer than `LEAST_SAMPLES` samples, nothing moves, or there is no jerk at all.
    """
    if len(velocity) < LEAST_SAMPLES or rate_hz <= 0:
        return None
    duration_s = len(velocity) / rate_hz
    peak = float(np.linalg.norm(velocity, axis=1).max())
    jerk = np.diff(velocity, n=2, axis=0) * rate_hz**2
    cost = float((jerk**2).sum()) / rate_hz
    return -math.log(duration_s**3 / peak**2 * cost) if peak > 0 and cost > 0 else None
