"""Light of a rectangle on a surface: exact diffuse illuminance, and the highlight of a rough mirror.

Everything is in the frame of the surface, its normal along Z. The highlight integrates the GGX distribution over the
half vectors of the rectangle: times the cosine, the distribution is a cosine lobe that is stretched by alpha (as
linearly transformed cosines are, Heitz et al. 2016), so the integral is the form factor of the stretched polygon.
"""

from __future__ import annotations

from typing import Any

from scenegen.imaging.gbuffer import Vector
from scenegen.imaging.ggx import masking
from scenegen.imaging.vectors import cross, dot, minus, on_processor, plus, times, unit

_SMALL = 0.01
"""Square of a polygon's diagonal, in squared radians, below which the sum over its edges would cancel in 32 bits."""
_PI = 3.14159265358979

Quad = tuple[Vector, Vector, Vector, Vector]
"""Corners, clockwise as seen from where the light shines."""


def corners_of(center: Vector, half_u: Vector, half_v: Vector) -> Quad:
    """Return the corners of a rectangle that shines along u x v, seen from the origin."""
    low, high = minus(center, half_u), plus(center, half_u)
    return minus(low, half_v), plus(low, half_v), plus(high, half_v), minus(high, half_v)


def vector_form_factor(quad: Quad, xp: Any) -> Vector:
    """Return the vector whose product with a normal is the form factor of a polygon that lies wholly before the plane.

    The illuminance of a surface is pi times the form factor times the luminance (Lambert's formula; Baum et al. 1989).
    Small polygons are taken as their solid angle in their middle's direction.

    Args:
        quad: Unit directions to the corners, each an array.
        xp: Array namespace.
    """
    total = None
    for first, second in zip(quad, (*quad[1:], quad[0]), strict=True):
        edge = times(cross(first, second), _angle_over_sine(dot(first, second), xp))
        total = edge if total is None else plus(total, edge)
    assert total is not None
    across, along = minus(quad[2], quad[0]), minus(quad[3], quad[1])
    small = xp.maximum(dot(across, across), dot(along, along)) < _SMALL
    if on_processor(xp) and not small.any():
        return total
    tiny = _tiny(quad, dot(across, across) + dot(along, along), xp)
    return (
        xp.where(small, tiny[0], total[0]),
        xp.where(small, tiny[1], total[1]),
        xp.where(small, tiny[2], total[2]),
    )


def lambert(quad: Quad, xp: Any) -> Any:
    """Return the form factor of a rectangle as seen from a surface: illuminance over pi times luminance.

    Exact where all corners lie before the surface's plane; where the plane cuts the rectangle, the part before it is
    that of a disc of the same form factor (after Lagarde and de Rousiers 2014, 4.7.2). Nothing from its back.

    Args:
        quad: Unit directions to the corners.
        xp: Array namespace.
    """
    x, y, z = vector_form_factor(quad, xp)
    length = xp.sqrt(xp.clip(x * x + y * y + z * z, 1e-20, None))
    lowest = xp.minimum(xp.minimum(quad[0][2], quad[1][2]), xp.minimum(quad[2][2], quad[3][2]))
    cut = length * cut_cosine(z / length, xp.sqrt(xp.clip(length, 0.0, 1.0)), xp)
    # The vector points away from a rectangle that is seen from its back.
    facing = dot((x, y, z), plus(plus(quad[0], quad[1]), plus(quad[2], quad[3]))) > 0
    return xp.where(facing, xp.where(lowest >= 0, z, cut), xp.zeros_like(z))


def cut_cosine(cosine: Any, sine: Any, xp: Any) -> Any:
    """Return the mean cosine over a disc that a horizon may cut, its hidden part counted as 0.

    Args:
        cosine: Cosine between normal and the disc's middle.
        sine: Sine of the disc's angular radius.
        xp: Array namespace.
    """
    grown = xp.clip(cosine + sine, 0.0, None)
    return xp.where(cosine >= sine, cosine, grown * grown / (4 * xp.clip(sine, 1e-6, None)))


def highlight(quad: Quad, view: Vector, alpha: Any, xp: Any) -> Any:
    """Return the share of a rectangle's luminance that the microfacets' normals would mirror to the viewer, in [0, 1].

    Args:
        quad: Unit directions to the corners.
        view: Unit direction to the viewer.
        alpha: Width of the distribution.
        xp: Array namespace.
    """
    stretched = []
    for corner in quad:
        x, y, z = plus(corner, view)
        stretched.append(unit((x, y, alpha * xp.clip(z, 1e-3, None)), xp))
    a, b, c, d = stretched
    return xp.clip(vector_form_factor((a, b, c, d), xp)[2], 0.0, 1.0)


def gloss(share: Any, view: Vector, light: Vector, alpha: Any, xp: Any) -> tuple[Any, Any]:
    """Turn a highlight's share into reflected luminance over the light's luminance, by masking at one direction.

    Args:
        share: What `highlight` returns.
        view: Unit direction to the viewer.
        light: Unit direction to what the mirror ray meets of the light, or nearly meets.
        alpha: Width of the distribution.
        xp: Array namespace.

    Returns:
        Two parts, to be multiplied by the reflectance at normal incidence and by one: (1 - fc) s and fc s (Schlick).
    """
    half = unit(plus(view, light), xp)
    n_view, n_light = xp.clip(view[2], 1e-3, None), xp.clip(light[2], 1e-3, None)
    v_half = xp.clip(dot(view, half), 0.0, 1.0)
    seen = masking(n_light, n_view, alpha, xp) * v_half / (n_view * xp.clip(half[2], 1e-3, None))
    strength = xp.clip(share * seen, 0.0, 1.0)
    rest = 1 - v_half
    square = rest * rest
    edge = strength * (square * square * rest)
    return strength - edge, edge


def mirror_point(center: Vector, half_u: Vector, half_v: Vector, view: Vector, xp: Any) -> Vector:
    """Return the unit direction to the point of a rectangle that lies nearest to the mirror ray (Karis 2013)."""
    mirror = (-view[0], -view[1], view[2])
    normal = cross(half_u, half_v)
    # Toward the light's plane the product is negative; a ray that leaves it goes far along it instead.
    along = xp.clip(-dot(mirror, normal) / xp.sqrt(dot(normal, normal)), 1e-3, None)
    reach = xp.clip(-dot(center, normal) / xp.sqrt(dot(normal, normal)), 0.0, None) / along
    offset = minus(times(mirror, reach), center)
    right = xp.clip(dot(offset, half_u) / dot(half_u, half_u), -1.0, 1.0)
    up = xp.clip(dot(offset, half_v) / dot(half_v, half_v), -1.0, 1.0)
    return unit(plus(plus(center, half_u, right), half_v, up), xp)


def _angle_over_sine(cosine: Any, xp: Any) -> Any:
    """Return angle / (2 pi sine) from the cosine, by the fit of Hill and Heitz (2016), Real-Time Area Lighting."""
    size = xp.abs(cosine)
    upper = 0.8543985 + (0.4965155 + 0.0145206 * size) * size
    lower = 3.4175940 + (4.1616724 + size) * size
    value = upper / lower
    obtuse = 0.5 / xp.sqrt(xp.clip(1 - cosine * cosine, 1e-7, None)) - value
    return xp.where(cosine > 0, value, obtuse)


def _tiny(quad: Quad, diagonals: Any, xp: Any) -> Vector:
    """Vector form factor of a small quadrangle: its solid angle (Van Oosterom and Strackee 1983) toward its middle.

    Computed from differences of directions, to second order in the size; `diagonals` is the sum of their squares.
    """
    first, diagonal = quad[0], minus(quad[2], quad[0])
    volumes = dot(first, cross(minus(quad[1], first), diagonal)) + dot(first, cross(diagonal, minus(quad[3], first)))
    middle = times(plus(plus(quad[0], quad[1]), plus(quad[2], quad[3])), 0.25)
    length = xp.sqrt(xp.clip(dot(middle, middle), 1e-20, None))
    # Mean over the area, whose points lie a third as far from the middle, squared, as the corners do.
    shorter = (2 + length) / (3 * length)
    return times(middle, 2 * volumes / (4 - 0.5 * diagonals) * shorter / _PI)
