"""ISO metric threads (ISO 261, ISO 724), drawn as rings of the true pitch and depth in place of a helix."""

from __future__ import annotations

import numpy as np
from manifold3d import Manifold

from scenegen.parts.solid import turned

ROD_SEGMENTS = 20
"""Chords around a thread: fewer than elsewhere, since its flanks cost a row of triangles each."""


def minor_radius(thread_mm: float, pitch_mm: float) -> float:
    """Radius of an internal thread's crests [mm]: (d - 1.0825 p) / 2 (ISO 724)."""
    return (thread_mm - 1.0825 * pitch_mm) / 2


def threaded_rod(thread_mm: float, pitch_mm: float, bottom_mm: float, top_mm: float) -> Manifold:
    """Draw a threaded rod about Z with a chamfered lower end.

    Args:
        thread_mm: Nominal diameter d [mm].
        pitch_mm: Pitch p [mm]; the flanks reach from d/2 to the external thread's root, d/2 - 0.6134 p.
        bottom_mm: Height of the lower end [mm].
        top_mm: Height of the upper end [mm].
    """
    crest, root = thread_mm / 2, thread_mm / 2 - 0.6134 * pitch_mm
    count = int(np.floor((top_mm - bottom_mm - 1.5 * pitch_mm) / pitch_mm))
    profile = [(0.0, bottom_mm), (root, bottom_mm)]
    for index in range(count):
        start = bottom_mm + (index + 0.25) * pitch_mm
        profile += [(crest, start + 0.5 * pitch_mm), (root, start + pitch_mm)]
    profile += [(crest, profile[-1][1] + 0.5 * pitch_mm), (crest, top_mm), (0.0, top_mm)]
    return turned(profile, segments=ROD_SEGMENTS)
