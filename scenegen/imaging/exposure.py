"""The exposure of a cell's cameras under the light that the cell was set up for."""

from __future__ import annotations

import numpy as np

from scenegen.cell import Cell
from scenegen.imaging.lamps import level_illuminance
from scenegen.record import once_per_content

GREY_CARD = 0.18
"""Reflectance of the grey card that exposures are told by (ISO 12232:2019)."""
MID_GREY = GREY_CARD / 2**0.5
"""What the grey card gives at nominal exposure; 1 saturates.

The saturation-based speed of ISO 12232:2019 leaves half a stop above a white sheet: only what shines 1.41 times as
bright saturates.
"""

Gain = tuple[float, float, float]
"""What a luminance of 1 cd/m² becomes in the linear image, by linear colour [m²/cd]; 1 saturates."""


@once_per_content
def nominal_gain(cell: Cell) -> Gain:
    """Return exposure and white balance of a cell's cameras under the cell's own, unvaried light.

    A grey card that lies in the feed, with nothing to shade it, comes out at `MID_GREY` in each colour. All cameras of
    a cell share this: what a pixel receives depends on the luminance of what it sees, not on the distance.

    Args:
        cell: The cell; its `lights` and the place of its feed count. A cell without any light gets the exposure of a
            card that receives 1e-6 lx.
    """
    light = level_illuminance(cell.lights, cell.feed.pose_to_world.position).astype(float)
    # A matt surface that receives E lx shines with reflectance * E / pi cd/m² (Lambert).
    red, green, blue = (MID_GREY / (GREY_CARD * np.maximum(light, 1e-6) / np.pi)).tolist()
    return red, green, blue
