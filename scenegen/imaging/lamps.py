"""What arrives at a point from a scenario's lights: directions, distances, coloured illuminance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from scenegen.geometry import Array, Pose, Vec3, quat_to_matrix
from scenegen.record import once_per_value
from scenegen.scenario import DistantLight, DomeLight, Light, RectLight, SphereLight

Floats = NDArray[np.floating]
"""Numbers of 32 or 64 bits; rays are followed in 32 bits."""

FAR_M = 1e4
"""Distance that stands for a light from outside the scene [m]."""

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
"""Weights of linear sRGB in luminance (IEC 61966-2-1)."""

_XYZ_TO_RGB = np.array([[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415], [0.0557, -0.2040, 1.0570]])


@dataclass(frozen=True, eq=False)
class Arrival:
    """Light that would reach some points if nothing stood between."""

    directions: Floats
    """Unit vectors to the light, shape [n, 3]."""
    distances_m: Floats
    """Distance to the light [m], shape [n]."""
    illuminance: Floats
    """Illuminance on a plane facing the light [lx] by linear colour, shape [n, 3]."""


@lru_cache(maxsize=256)
def planckian_color(temperature_k: float) -> tuple[float, float, float]:
    """Linear sRGB of a black body, luminance 1: Kim et al. 2002 (US 7024034), cubic fit, 1667 to 25000 K."""
    t = 1e3 / min(max(temperature_k, 1667.0), 25000.0)
    if temperature_k <= 4000:
        x = -0.2661239 * t**3 - 0.2343589 * t**2 + 0.8776956 * t + 0.179910
    else:
        x = -3.0258469 * t**3 + 2.1070379 * t**2 + 0.2226347 * t + 0.240390
    if temperature_k <= 2222:
        y = -1.1063814 * x**3 - 1.34811020 * x**2 + 2.18555832 * x - 0.20219683
    elif temperature_k <= 4000:
        y = -0.9549476 * x**3 - 1.37418593 * x**2 + 2.09137015 * x - 0.16748867
    else:
        y = 3.0817580 * x**3 - 5.87338670 * x**2 + 3.75112997 * x - 0.37001483
    rgb = np.maximum(_XYZ_TO_RGB @ np.array([x / y, 1.0, (1 - x - y) / y]), 0.0)
    red, green, blue = rgb / (LUMINANCE @ rgb)
    return float(red), float(green), float(blue)


def arrive(light: Light, points_m: Floats, draws: Floats) -> Arrival:
    """Choose one spot on a light for each point and say what arrives from there.

    Args:
        light: Any light but a dome.
        points_m: Points [m], world frame, shape [n, 3].
        draws: Numbers in [0, 1) that choose the spot, shape [n, 2].
    """
    match light:
        case RectLight():
            pose = light.pose_to_world
            x_axis, y_axis, z_axis = pose.rotation.T.astype(np.float32)
            x, y = ((draws - 0.5) * np.array(light.size_m, np.float32)).T
            spots = pose.position.astype(np.float32) + x[:, None] * x_axis + y[:, None] * y_axis
            directions, distances = _toward(spots - points_m)
            area = light.size_m[0] * light.size_m[1]
            strength = light.luminance_nit * area * np.maximum(directions @ z_axis, 0) / distances**2
        case SphereLight():
            center = np.array(light.position_m, np.float32)
            directions, distances = _toward(center + light.radius_m * _disc(draws) - points_m)
            strength = light.luminance_nit * np.pi * light.radius_m**2 / distances**2
            distances = np.maximum(distances - 1.01 * light.radius_m, 1e-6)
        case DistantLight():
            turn = quat_to_matrix(light.quat_xyzw).astype(np.float32)
            directions, _ = _toward(turn[:, 2] + np.tan(light.angle_rad / 2) * _disc(draws) @ turn.T)
            distances = np.full(len(points_m), FAR_M, np.float32)
            strength = np.full(len(points_m), light.illuminance_lux, np.float32)
        case DomeLight():
            raise TypeError("a dome shines from everywhere: use `dome_luminance`")
    return Arrival(directions, distances, strength[:, None] * _color(light))


def dome_luminance(lights: tuple[Light, ...]) -> Floats:
    """Luminance of the surroundings by linear colour [cd/m²], shape [3]."""
    domes = [light for light in lights if isinstance(light, DomeLight)]
    return sum((light.luminance_nit * _color(light) for light in domes), np.zeros(3, np.float32))


def level_illuminance(lights: tuple[Light, ...], point_m: Array) -> Floats:
    """Illuminance of an unshaded level plane at a point by linear colour [lx], shape [3]."""
    total = np.pi * dome_luminance(lights)
    point = (float(point_m[0]), float(point_m[1]), float(point_m[2]))
    for light in lights:
        match light:
            case RectLight():
                share = _from_rect(light.pose_to_world, light.size_m, point)
                total = total + light.luminance_nit * share * _color(light)
            case SphereLight():
                share = _from_sphere(light.position_m, light.radius_m, point)
                total = total + light.luminance_nit * share * _color(light)
            case DistantLight():
                total = total + light.illuminance_lux * _from_afar(light.quat_xyzw, light.angle_rad) * _color(light)
            case DomeLight():
                pass
    return total.astype(np.float32)


_GRID = np.stack(np.meshgrid(np.arange(4), np.arange(4)), axis=-1).reshape(-1, 2).astype(np.float32) / 4 + 0.125
"""Middles of 4 x 4 equal parts of a light."""


@once_per_value
def _from_rect(pose_to_world: Pose, size_m: tuple[float, float], point: Vec3) -> float:
    light = RectLight(name="unit", luminance_nit=1.0, size_m=size_m, pose_to_world=pose_to_world)
    return _level_share(light, point)


@once_per_value
def _from_sphere(position_m: Vec3, radius_m: float, point: Vec3) -> float:
    return _level_share(SphereLight(name="unit", luminance_nit=1.0, radius_m=radius_m, position_m=position_m), point)


@once_per_value
def _from_afar(quat_xyzw: tuple[float, float, float, float], angle_rad: float) -> float:
    light = DistantLight(name="unit", illuminance_lux=1.0, quat_xyzw=quat_xyzw, angle_rad=angle_rad)
    return _level_share(light, (0.0, 0.0, 0.0))


def _level_share(light: Light, point: Vec3) -> float:
    """Illuminance of a level plane by a light of unit strength: the mean over spots of the light."""
    found = arrive(light, np.repeat(np.array([point], np.float32), len(_GRID), axis=0), _GRID)
    luminance = found.illuminance @ LUMINANCE.astype(np.float32)
    return float((luminance * np.maximum(found.directions[:, 2], 0.0)).mean())


def _color(light: Light) -> Floats:
    return np.array(planckian_color(light.temperature_k), np.float32)


def _toward(vectors: Floats) -> tuple[Floats, Floats]:
    distances = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return vectors / distances[:, None], distances


def _disc(draws: Floats) -> Floats:
    """Points of the unit disc in the XY plane, uniform, shape [n, 3]."""
    radius, angle = np.sqrt(draws[:, 0]), np.float32(2 * np.pi) * draws[:, 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros_like(radius)], axis=1)
