"""The GGX microfacet model: masking, Fresnel's rise at grazing angles, and how much light a surface mirrors in all.

Roughness is perceptual, as in USD; the width of the distribution is its square, alpha (Burley 2012).
"""

from __future__ import annotations

from typing import Any

DIELECTRIC = 0.04
"""Mirror reflection of paint, plastic and oil at normal incidence: ((n - 1) / (n + 1))² for n = 1.5."""
LEAST_ROUGHNESS = 0.15
"""Smoother surfaces are shaded as if they were this rough: below it 32-bit polygons of lights lose their digits."""

_WHOLE = (
    (0.9947, -1.5067, 5.8624, -7.7198, 3.3343),
    (2.1002, -7.6972, -4.3205, 23.6196, -16.0709),
    (-10.4965, 71.4985, -129.0156, 78.2975, -5.8315),
    (15.7654, -123.8721, 278.2587, -239.8642, 65.3718),
    (-7.3663, 61.3362, -148.4882, 139.8508, -43.7258),
)
"""Powers of the cosine (rows) and of the roughness (columns); a fit to a quadrature of the model, see the tests."""
_GRAZING = (
    (2, (0.6524, -3.803, 6.52, -3.4092)),
    (3, (-2.2745, 13.5338, -22.5866, 11.4646)),
    (5, (4.5404, -19.6698, 27.3532, -12.2898)),
    (8, (-1.7572, 6.3583, -7.2158, 2.6192)),
)
"""Powers of one minus the cosine, and of the roughness; likewise a fit."""


def width(roughness: Any, xp: Any) -> Any:
    """Return alpha, the width of the distribution, from perceptual roughness."""
    bounded = xp.clip(roughness, LEAST_ROUGHNESS, 1.0)
    return bounded * bounded


def grazing(cosine: Any) -> Any:
    """Return (1 - cos)⁵: how far reflectance has risen from that at normal incidence toward one (Schlick 1994)."""
    square = (1 - cosine) * (1 - cosine)
    return square * square * (1 - cosine)


def masking(n_light: Any, n_view: Any, alpha: Any, xp: Any) -> Any:
    """Return the share of microfacets that both light and viewer see, in [0, 1] (Heitz 2014, height-correlated Smith).

    Args:
        n_light: Cosine between normal and light, above 0.
        n_view: Cosine between normal and viewer, above 0.
        alpha: Width of the distribution.
        xp: Array namespace.
    """
    square = alpha * alpha
    to_light = n_view * xp.sqrt(square + (1 - square) * (n_light * n_light))
    to_view = n_light * xp.sqrt(square + (1 - square) * (n_view * n_view))
    return 2 * n_light * n_view / (to_light + to_view)


def mirrored_shares(n_view: Any, roughness: Any, xp: Any) -> tuple[Any, Any]:
    """Split the share of even light from all around that a surface mirrors toward a viewer (Karis 2013).

    With reflectance F0 at normal incidence one bounce on the microfacets mirrors F0 (whole - grazing) + grazing.

    Args:
        n_view: Cosine between normal and viewer.
        roughness: Perceptual roughness.
        xp: Array namespace.

    Returns:
        The whole, that is the share for F0 = 1, and the grazing part, for F0 = 0; both within 0.04 of a quadrature.
    """
    rough = xp.clip(roughness, LEAST_ROUGHNESS, 1.0)
    cosine = xp.clip(n_view, 0.0, 1.0)
    whole = _polynomial(_WHOLE[-1], rough)
    for row in reversed(_WHOLE[:-1]):
        whole = whole * cosine + _polynomial(row, rough)
    whole = xp.clip(whole, 0.2, 1.0)
    slant = 1 - cosine
    two = slant * slant
    powers = {2: two, 3: two * slant, 5: two * two * slant, 8: two * two * two * two}
    edge = 0.0
    for power, row in _GRAZING:
        edge = edge + powers[power] * _polynomial(row, rough)
    return whole, xp.minimum(xp.clip(edge, 0.0, 1.0), whole)


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    value = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        value = value * x + coefficient
    return value
