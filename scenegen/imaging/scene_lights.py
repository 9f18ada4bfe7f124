"""From a scenario's lights to rectangles, surroundings and cards, for shading."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scenegen.geometry import Array, quat_between, quat_to_matrix
from scenegen.imaging.gbuffer import Vector
from scenegen.imaging.lamps import dome_luminance, level_illuminance, planckian_color
from scenegen.imaging.light_set import Ambient, AreaLight, Card, LightSet
from scenegen.scenario import DistantLight, DomeLight, RectLight, Scenario, ShadowCaster, SphereLight

FAR_M = 1e3
"""Distance of the rectangle that stands for a distant light [m]: across a cell its direction turns by 0.001 rad."""
LEAST_ANGLE_RAD = 2e-3
"""A distant light is at least this wide [rad]; the sun is 9.3e-3 wide."""


def scene_lights(scenario: Scenario) -> LightSet:
    """Turn a scenario's lights into arrays of one image, 32-bit floats of shape [1, 1].

    Rectangles stay; a sphere is a square of its outline's area that faces the feed; a distant light is a far square of
    its disc's area, as bright as gives its illuminance; domes are walls and ceiling. The floor's luminance is that of
    the feed's surface under all of the lights (Lambert).

    Args:
        scenario: The scene.
    """
    lights = scenario.lights.lights
    aim = _aim(scenario)
    shining = [light for light in lights if not isinstance(light, DomeLight)]
    dome = dome_luminance(lights)
    floor = _albedo(scenario) * level_illuminance(lights, aim) / np.pi
    return LightSet(
        areas=tuple(_area(light, aim) for light in shining),
        names=tuple(light.name for light in shining),
        ambient=Ambient(floor=_vector(floor), wall=_vector(dome), ceiling=_vector(dome)),
        cards=tuple(_card(card) for card in scenario.lights.shadow_casters),
    )


def square_form_factor(half_over_distance: float) -> float:
    """Return the form factor of a square from a parallel plane's point under its middle (Howell 2010, B-3).

    Args:
        half_over_distance: Half of the square's side over the distance.
    """
    slope = half_over_distance / math.sqrt(1 + half_over_distance**2)
    return 4 / math.pi * slope * math.atan(slope)


def _aim(scenario: Scenario) -> Array:
    feed = next((f.pose_to_world.position for f in scenario.layout.fixtures if f.name == "feed"), None)
    return np.zeros(3) if feed is None else feed


def _albedo(scenario: Scenario) -> Array:
    found = {surface.subject: surface for surface in scenario.surfaces.surfaces}
    surface = found.get("feed", found.get("table"))
    return np.zeros(3) if surface is None else np.array(surface.mean_color)


def _area(light: RectLight | SphereLight | DistantLight, aim: Array) -> AreaLight:
    match light:
        case RectLight():
            turn, center = light.pose_to_world.rotation, light.pose_to_world.position
            half_x, half_y, luminance = light.size_m[0] / 2, light.size_m[1] / 2, light.luminance_nit
        case SphereLight():
            center = np.array(light.position_m)
            turn = quat_to_matrix(quat_between((0, 0, -1), aim - center))
            half_x = half_y = light.radius_m * math.sqrt(math.pi) / 2
            luminance = light.luminance_nit
        case DistantLight():
            turn = quat_to_matrix(light.quat_xyzw)
            center = aim + FAR_M * turn[:, 2]
            angle = min(max(light.angle_rad, LEAST_ANGLE_RAD), math.pi / 2)
            half_x = half_y = FAR_M * math.tan(angle / 2) * math.sqrt(math.pi) / 2
            luminance = light.illuminance_lux / (math.pi * square_form_factor(half_x / FAR_M))
    # The light shines along its -Z, which is y x x.
    return AreaLight(
        center=_vector(center),
        half_u=_vector(half_y * turn[:, 1]),
        half_v=_vector(half_x * turn[:, 0]),
        radiance=_vector(luminance * np.array(planckian_color(light.temperature_k))),
    )


def _card(card: ShadowCaster) -> Card:
    pose, (x, y) = card.pose_to_world, card.size_m
    return Card(_vector(pose.position), _vector(pose.rotation[:, 0] * x / 2), _vector(pose.rotation[:, 1] * y / 2))


def _vector(values: ArrayLike) -> Vector:
    x, y, z = (np.full((1, 1), value, np.float32) for value in _three(values))
    return x, y, z


def _three(values: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(values, np.float64)
