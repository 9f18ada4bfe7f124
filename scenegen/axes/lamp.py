"""Geometry and photometry of one lamp, as the lighting axis turns it, dims it and shades it."""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenegen.geometry import Array, Pose, quat_between, quat_multiply, quat_to_matrix
from scenegen.record import once_per_value
from scenegen.scenario import DistantLight, DomeLight, Light, RectLight, ShadowCaster

FAR_M = 1e3
"""How far away a distant light is taken to be where a point of it is needed [m]."""

GOLDEN = 0.6180339887498949
"""The golden section: its multiples, cut to [0, 1), spread most evenly."""
SPOTS = 512
"""Points on a lamp where a share of it is counted: a card's edge is found to a five-hundredth of the lamp's side."""


def center_of(light: Light, aim: Array) -> Array:
    """Return the centre of a lamp [m], world frame, shape [3]; a distant light's lies far away as seen from `aim`."""
    if isinstance(light, DistantLight):
        return aim + FAR_M * quat_to_matrix(light.quat_xyzw)[:, 2]
    if isinstance(light, RectLight):
        return light.pose_to_world.position
    assert not isinstance(light, DomeLight)
    return np.array(light.position_m)


def direction_to(light: Light, aim: Array) -> Array:
    """Return the unit direction from a point toward a lamp, shape [3]."""
    toward = center_of(light, aim) - aim
    return toward / math.sqrt(toward @ toward)


def illuminance_lux(light: Light, aim: Array) -> float:
    """Return the illuminance at `aim` of a plane that faces the lamp [lx]: L A cos / d², for a small source."""
    if isinstance(light, DomeLight):
        return float(np.pi * light.luminance_nit)
    if isinstance(light, DistantLight):
        return light.illuminance_lux
    toward = center_of(light, aim) - aim
    distance = math.sqrt(toward @ toward)
    if isinstance(light, RectLight):
        area = light.size_m[0] * light.size_m[1] * abs(float(light.pose_to_world.rotation[:, 2] @ toward)) / distance
    else:
        area = float(np.pi) * light.radius_m**2
    return light.luminance_nit * area / distance**2


class Beam(NamedTuple):
    """How a lamp meets a point."""

    lux: float
    """Illuminance of a plane that faces the lamp [lx]."""
    toward: Array | None
    """Unit direction toward the lamp, shape [3], read-only; none for a dome."""


@once_per_value
def beam_on(light: Light, place: Pose) -> Beam:
    """Return how a lamp meets the origin of a frame; remembered, since scenes share most of their lamps."""
    if isinstance(light, DomeLight):
        return Beam(illuminance_lux(light, place.position), None)
    toward = direction_to(light, place.position)
    toward.flags.writeable = False
    return Beam(illuminance_lux(light, place.position), toward)


def angle_deg(before: Beam, after: Beam) -> float:
    """Return the angle between the directions toward two lamps [deg]; 0 where either is a dome."""
    if before.toward is None or after.toward is None:
        return 0.0
    return math.degrees(math.acos(min(1.0, max(-1.0, float(before.toward @ after.toward)))))


def dimmed(light: Light, factor: float) -> Light:
    """Return the lamp with its light times a factor."""
    if isinstance(light, DistantLight):
        return light.replaced(illuminance_lux=light.illuminance_lux * factor)
    return light.replaced(luminance_nit=light.luminance_nit * factor)


def warmed(light: Light, shift_k: float) -> Light:
    """Return the lamp with its colour temperature shifted [K]."""
    return light.replaced(temperature_k=light.temperature_k + shift_k)


def swung(light: Light, aim: Array, direction: Array) -> Light:
    """Return the lamp swung about `aim` so that it lies in a direction, at its distance and turned with it."""
    turn = quat_between(direction_to(light, aim), direction)
    if isinstance(light, DistantLight):
        quat = Pose.of((0, 0, 0), quat_multiply(turn, light.quat_xyzw)).quat_xyzw
        return light.replaced(quat_xyzw=quat)
    position = aim + quat_to_matrix(turn) @ (center_of(light, aim) - aim)
    if isinstance(light, RectLight):
        pose = Pose.of(position, quat_multiply(turn, light.pose_to_world.quat))
        return light.replaced(pose_to_world=pose)
    return light.replaced(position_m=tuple(position.tolist()))


def panel_of(light: Light, aim: Array) -> tuple[Pose, tuple[float, float]]:
    """Return a rectangle that a lamp fills as seen from `aim`: its pose (facing along Z) and its size [m].

    A panel is itself; a sphere, and the sun's disc of a distant light, are squares about them.
    """
    if isinstance(light, RectLight):
        return light.pose_to_world, light.size_m
    center = center_of(light, aim)
    side = 2 * FAR_M * np.tan(light.angle_rad / 2) if isinstance(light, DistantLight) else 2 * _radius(light)
    return Pose.of(center, quat_between((0, 0, 1), aim - center)), (float(side), float(side))


def _radius(light: Light) -> float:
    assert not isinstance(light, DistantLight | RectLight | DomeLight)
    return light.radius_m


def corners_of(pose: Pose, size_m: tuple[float, float]) -> Array:
    """Return the corners of a rectangle in a pose's XY plane [m], world frame, shape [4, 3]."""
    signs = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) / 2
    return pose.apply(signs * np.array([*size_m, 0.0]))


def shaded_share(light: Light, cards: tuple[ShadowCaster, ...], points: Array) -> Array:
    """Return which share of a lamp cards hide from some points, shape [n].

    Args:
        light: The lamp, no dome.
        cards: Thin rectangles.
        points: Seen from where [m], shape [n, 3].
    """
    lit = _lit(light, points[:1]) if isinstance(light, RectLight) else _lit(light, points)
    hidden = np.zeros((len(points), lit.shape[1]), bool)
    for card in cards:
        hidden |= crosses(card, points[:, None], lit)
    return hidden.mean(axis=1)


def _lit(light: Light, points: Array) -> Array:
    """Points spread over a lamp as it is seen from other points [m], shape [n, m, 3]."""
    spread = _spread(round=not isinstance(light, RectLight))
    panels = [panel_of(light, point) for point in points]
    return np.array([pose.apply(spread * (*size, 0.0)) for pose, size in panels])


@cache
def _spread(*, round: bool) -> Array:
    """Points spread over a square of edge length one, or over the disc in it, shape [m, 3]: a golden lattice."""
    steps = np.arange(SPOTS, dtype=np.float64) + 0.5
    x, y = steps / SPOTS - 0.5, steps * GOLDEN % 1.0 - 0.5
    inside = x**2 + y**2 <= 0.25 if round else np.ones(len(x), bool)
    return np.stack([x, y, np.zeros(len(x))], axis=-1)[inside]


def crosses(card: ShadowCaster, starts: Array, ends: Array) -> NDArray[np.bool_]:
    """Tell which segments a card cuts; starts and ends [m], world frame, shape [..., 3], broadcast."""
    to_card = card.pose_to_world.inverse()
    ax, ay, az = np.moveaxis(to_card.apply(starts), -1, 0)
    bx, by, bz = np.moveaxis(to_card.apply(ends), -1, 0)
    width, height = card.size_m
    drop = az - bz
    along = np.divide(az, drop, out=np.full(drop.shape, -1.0), where=np.abs(drop) > 1e-12)
    within = (np.abs(ax + along * (bx - ax)) <= width / 2) & (np.abs(ay + along * (by - ay)) <= height / 2)
    return (along > 0) & (along < 1) & within
