"""The colour difference CIEDE2000."""

from __future__ import annotations

from math import pi
from typing import Any

from scenegen.imaging.gbuffer import Vector

_CHROMA = 25.0**7


def ciede2000(lab_1: Vector, lab_2: Vector, *, xp: Any) -> Any:
    """Return CIEDE2000 differences with kL = kC = kH = 1.

    As Sharma, Wu and Dalal 2005 (Color Research and Application 30, 21-30) write it; equation numbers are theirs. About
    1 is just seen by a trained eye.

    Args:
        lab_1: L*, a*, b* of some colours, each of any one shape.
        lab_2: The colours to compare with.
        xp: The array library.
    """
    (light_1, _, _), (light_2, _, _) = lab_1, lab_2
    (chroma_1, hue_1), (chroma_2, hue_2) = _polar(lab_1, lab_2, xp)
    grey = chroma_1 * chroma_2 == 0
    turn = hue_2 - hue_1
    turn = xp.where(turn > pi, turn - 2 * pi, xp.where(turn < -pi, turn + 2 * pi, turn))
    d_hue = 2 * xp.sqrt(chroma_1 * chroma_2) * xp.sin(xp.where(grey, 0.0 * turn, turn) / 2)  # 10, 11
    both = hue_1 + hue_2
    far = xp.abs(hue_1 - hue_2) > pi
    wrapped = xp.where(far, xp.where(both < 2 * pi, both + 2 * pi, both - 2 * pi), both)
    hue = xp.where(grey, both, wrapped / 2)  # 14
    light, chroma = (light_1 + light_2) / 2, (chroma_1 + chroma_2) / 2
    lean = 1 - 0.17 * xp.cos(hue - pi / 6) + 0.24 * xp.cos(2 * hue)  # 15
    lean = lean + 0.32 * xp.cos(3 * hue + pi / 30) - 0.20 * xp.cos(4 * hue - 63 * pi / 180)
    above = (light - 50) ** 2
    d_light = (light_2 - light_1) / (1 + 0.015 * above / xp.sqrt(20 + above))  # 18
    d_chroma = (chroma_2 - chroma_1) / (1 + 0.045 * chroma)  # 19
    d_hue = d_hue / (1 + 0.015 * chroma * lean)  # 20
    rotation = (pi / 3) * xp.exp(-(((hue * 180 / pi - 275) / 25) ** 2))  # twice 16
    twist = -xp.sin(rotation) * 2 * xp.sqrt(chroma**7 / (chroma**7 + _CHROMA))  # 17, 21
    squared = d_light**2 + d_chroma**2 + d_hue**2 + twist * d_chroma * d_hue  # 22
    return xp.sqrt(xp.clip(squared, 0.0, None))


def _polar(lab_1: Vector, lab_2: Vector, xp: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Chroma and hue in [0, 2 pi) of both colours, red-green stretched near grey (equations 2 to 7)."""
    (_, a_1, b_1), (_, a_2, b_2) = lab_1, lab_2
    mean7 = ((xp.sqrt(a_1**2 + b_1**2) + xp.sqrt(a_2**2 + b_2**2)) / 2) ** 7
    stretch = 1.5 - 0.5 * xp.sqrt(mean7 / (mean7 + _CHROMA))

    def polar(a: Any, b: Any) -> tuple[Any, Any]:
        angle = xp.atan2(b, a)
        return xp.sqrt(a**2 + b**2), xp.where(angle < 0, angle + 2 * pi, angle)

    return polar(stretch * a_1, b_1), polar(stretch * a_2, b_2)
