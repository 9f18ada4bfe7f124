"""Colours of surfaces, as axes change them: how far apart two are, and colours that are a given difference apart.

A base colour is a reflectance: it is judged as a surface lit by the nominal white (linear RGB 1, 1, 1), on both sides
of a comparison. What lamps and cameras make of it is the meters' business.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scenegen.geometry import Array
from scenegen.imaging.ciede2000 import ciede2000
from scenegen.imaging.lab import lab
from scenegen.optical import Color
from scenegen.record import once_per_value
from scenegen.scenario import Surface

STEPS = 64
"""Into how many pieces a way between two colours is cut, twice over, to find a difference on it."""


NOWHERE = (0.0, 0.0, 0.0)


def differences(first: ArrayLike, second: ArrayLike) -> Array:
    """Return CIEDE2000 differences of colours under the nominal white.

    Args:
        first: Linear RGB, shape [..., 3].
        second: The colours to compare with; the shapes broadcast.
    """
    labs = [lab(tuple(np.moveaxis(np.asarray(color, float), -1, 0)), xp=np) for color in (first, second)]
    return ciede2000(*labs, xp=np)


@once_per_value
def color_difference(first: Color, second: Color) -> float:
    """Return the CIEDE2000 difference of two colours under the nominal white."""
    return float(differences(first, second)) if first != second else 0.0


def surface_difference(before: Surface, after: Surface) -> float:
    """Return by how much a surface's colour has changed: CIEDE2000 from its mean colour before, over its area.

    Clean and stained areas count by their shares: a stain of difference D that covers a share S counts S D.
    """
    if (before.look, before.stain, before.pattern) == (after.look, after.stain, after.pattern):
        return 0.0
    reference = before.mean_color
    clean = after.mean_color if after.stain is None else after.replaced(stain=None).mean_color
    apart = color_difference(reference, clean)
    if after.stain is None:
        return apart
    return apart + after.stain.share * (color_difference(reference, after.stain.color) - apart)


def along(start: Color, end: Color, share: float) -> Color:
    """Return the colour a share of the straight way (in linear light) from one colour to another."""
    red, green, blue = (min(1.0, max(0.0, a + share * (b - a))) for a, b in zip(start, end, strict=True))
    return red, green, blue


def share_at(start: ArrayLike, step: ArrayLike, *, counter: ArrayLike = NOWHERE, difference: float) -> float | None:
    """Find how far two colours must go from one point, in opposite senses, to be a difference apart.

    At share t the colours are `start + t step` and `start + t counter`.

    Args:
        start: Where both begin, linear RGB, shape [3].
        step: Where one is at share 1, relative to the start, shape [3].
        counter: The same of the other; by default it stays at the start.
        difference: CIEDE2000 that is asked for.

    Returns:
        The least such share; None where not even share 1 reaches it.
    """
    origin, one, other = (np.asarray(vector, float) for vector in (start, step, counter))
    low, high, near, far = 0.0, 1.0, 0.0, 0.0
    for _ in range(2):
        shares = np.linspace(low, high, STEPS + 1)
        ways = shares[:, None]
        apart = differences(np.clip(origin + ways * one, 0, 1), np.clip(origin + ways * other, 0, 1))
        beyond = np.flatnonzero(apart >= difference)
        if not len(beyond):
            return None
        index = int(beyond[0])
        if index == 0:
            return float(shares[0])
        low, high = float(shares[index - 1]), float(shares[index])
        near, far = float(apart[index - 1]), float(apart[index])
    return low + (high - low) * (difference - near) / (far - near)
