"""The shadow of a card that stands between a light and the scene."""

from __future__ import annotations

from typing import Any

from scenegen.imaging.gbuffer import Vector
from scenegen.imaging.light_set import AreaLight, Card
from scenegen.imaging.vectors import cross, dot, minus, unit


def card_lit_share(light: AreaLight, card: Card, position: Vector, *, xp: Any) -> Any:
    """Return the share of a light that a card leaves visible from points, shape [b, k].

    The light is projected from each point onto the card's plane; how far it overlaps the card is taken along the card's
    two sides apart. That is exact for a card whose sides are parallel to the light's.

    Args:
        light: The light.
        card: The card.
        position: Points [m], world frame, each of shape [b, k].
        xp: Array namespace.
    """
    normal = unit(cross(card.half_u, card.half_v), xp)
    to_card, to_light = dot(normal, minus(card.center, position)), dot(normal, minus(light.center, position))
    # The card hides only what lies beyond it: the fraction of the way at which a ray to the light's middle meets it.
    between = (to_card * to_light > 0) & (xp.abs(to_card) < xp.abs(to_light))
    along = to_card / xp.where(xp.abs(to_light) > 1e-9, to_light, xp.ones_like(to_light))
    hidden = 1.0
    for side in (card.half_u, card.half_v):
        length = xp.sqrt(dot(side, side))
        axis = (side[0] / length, side[1] / length, side[2] / length)
        middle = dot(axis, minus(position, card.center)) + along * dot(axis, minus(light.center, position))
        half = xp.clip(along * (xp.abs(dot(axis, light.half_u)) + xp.abs(dot(axis, light.half_v))), 1e-9, None)
        overlap = xp.minimum(middle + half, length) - xp.maximum(middle - half, -length)
        hidden = hidden * xp.clip(overlap / (2 * half), 0.0, 1.0)
    return 1 - xp.where(between, hidden, xp.zeros_like(along))
