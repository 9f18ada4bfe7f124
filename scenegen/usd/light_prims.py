"""Lights as UsdLux prims in physical units: `intensity` is lux for distant lights and cd/m² for all others.

UsdLux defines `intensity` as a luminance in nit (cd/m²) where `normalize` is off; of a distant light with `normalize`
it is the illuminance of a plane that faces the light (UsdLux LightAPI, "Quantities and Units").
"""

from __future__ import annotations

import math

from scenegen.geometry import Pose
from scenegen.record import once_per_value, quantise
from scenegen.scenario import DistantLight, DomeLight, Light, RectLight, ShadowCaster, SphereLight
from scenegen.usd.prim import Attribute, Prim
from scenegen.usd.shared_prims import box_attributes, pose_attributes

CARD_THICKNESS_M = 0.001
TYPES = {"distant": "DistantLight", "rect": "RectLight", "sphere": "SphereLight", "dome": "DomeLight"}
ANGLE = "scenegen:angleRad"
_BY_KELVIN = Attribute("inputs:enableColorTemperature", "bool", True)
_NORMALIZED, _PLAIN = Attribute("inputs:normalize", "bool", True), Attribute("inputs:normalize", "bool", False)


@once_per_value
def light_prim(light: Light) -> Prim:
    """Define one light; remembered, since scenes share most of their lamps."""
    intensity = light.illuminance_lux if isinstance(light, DistantLight) else light.luminance_nit
    common = (
        Attribute("inputs:intensity", "float", intensity),
        Attribute("inputs:colorTemperature", "float", light.temperature_k),
        _BY_KELVIN,
    )
    return Prim(light.name, TYPES[light.kind], attributes=(*common, *_shape(light)))


def angle_deg(angle_rad: float) -> float:
    """Angular diameter as UsdLux stores it: degrees, 32 bits."""
    return quantise(math.degrees(angle_rad))


def card_prim(caster: ShadowCaster) -> Prim:
    """Define a card that only casts a shadow."""
    width, height = caster.size_m
    return Prim(caster.name, "Cube", attributes=box_attributes(caster.pose_to_world, (width, height, CARD_THICKNESS_M)))


def _shape(light: Light) -> tuple[Attribute, ...]:
    match light:
        case DistantLight():
            return (
                Attribute("inputs:angle", "float", angle_deg(light.angle_rad)),
                Attribute(ANGLE, "float", light.angle_rad),
                _NORMALIZED,
                *pose_attributes(Pose(quat_xyzw=light.quat_xyzw)),
            )
        case RectLight():
            return (
                Attribute("inputs:width", "float", light.size_m[0]),
                Attribute("inputs:height", "float", light.size_m[1]),
                _PLAIN,
                *pose_attributes(light.pose_to_world),
            )
        case SphereLight():
            return (
                Attribute("inputs:radius", "float", light.radius_m),
                _PLAIN,
                *pose_attributes(Pose(position_m=light.position_m)),
            )
        case DomeLight():
            return ()
