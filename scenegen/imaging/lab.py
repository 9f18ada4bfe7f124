"""CIE L*a*b* of linear sRGB."""

from __future__ import annotations

from typing import Any

from scenegen.imaging.gbuffer import Vector

_RGB_TO_XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
"""Linear sRGB to CIE 1931 XYZ; its row sums are the white of D65 (IEC 61966-2-1)."""
_EDGE = 6 / 29
"""Below the cube of this the cube root gives way to a line (CIE 15:2018, 8.2.1)."""


def lab(rgb: Vector, *, xp: Any) -> Vector:
    """Convert linear sRGB to L*, a* and b* against the white of D65 (IEC 61966-2-1, CIE 15:2018).

    Args:
        rgb: Linear colours of any shape; 1, 1, 1 is white.
        xp: The array library.
    """
    bent = []
    for row in _RGB_TO_XYZ:
        share = sum(weight * plane for weight, plane in zip(row, rgb, strict=True)) / sum(row)
        root = xp.clip(share, _EDGE**3, None) ** (1 / 3)
        bent.append(xp.where(share > _EDGE**3, root, share / (3 * _EDGE**2) + 4 / 29))
    x, y, z = bent
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)
