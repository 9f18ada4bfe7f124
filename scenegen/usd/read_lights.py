"""Lights and shadow casters from UsdLux prims."""

from __future__ import annotations

from typing import Any

from scenegen.record import quantise
from scenegen.scenario import DistantLight, DomeLight, Light, Lights, RectLight, ShadowCaster, SphereLight
from scenegen.usd.light_prims import ANGLE, CARD_THICKNESS_M, TYPES, angle_deg
from scenegen.usd.poses import box_of, pose_of
from scenegen.usd.stage import PrimView

_KINDS = {type_name: kind for kind, type_name in TYPES.items()}


def read_lights(lights: PrimView, casters: PrimView | None) -> Lights:
    """Read all lights and what shades them."""
    cards = casters.children() if casters is not None else []
    with lights.building():
        return Lights.from_data(
            {
                "lights": [_light(view) for view in lights.children()],
                "shadow_casters": [_caster(view) for view in cards],
            }
        )


def _light(view: PrimView) -> Light:
    kind = _KINDS.get(view.prim.GetTypeName())
    if kind is None:
        raise view.fail(f"is a {view.prim.GetTypeName() or 'prim without type'} - accepted: {', '.join(_KINDS)}")
    facts = {"kind": kind, "name": view.name, "temperature_k": _temperature(view)}
    with view.building():
        match kind:
            case "distant":
                return DistantLight.from_data(facts | _distant(view))
            case "rect":
                size = view.number("inputs:width"), view.number("inputs:height")
                return RectLight.from_data(
                    facts | {"luminance_nit": _luminance(view), "size_m": size, "pose_to_world": pose_of(view)}
                )
            case "sphere":
                return SphereLight.from_data(
                    facts
                    | {
                        "luminance_nit": _luminance(view),
                        "radius_m": view.number("inputs:radius"),
                        "position_m": pose_of(view).position_m,
                    }
                )
            case _:
                return DomeLight.from_data(facts | {"luminance_nit": _intensity(view)})


def _distant(view: PrimView) -> dict[str, Any]:
    if not view.value("inputs:normalize"):
        raise view.fail("inputs:normalize is off - accepted: on, so that inputs:intensity is an illuminance in lux")
    degrees = view.number("inputs:angle")
    exact = quantise(view.number(ANGLE)) if view.has(ANGLE) else None
    if exact is None or angle_deg(exact) != quantise(degrees):
        exact = degrees * 0.017453292519943295
    return {"illuminance_lux": _intensity(view), "angle_rad": exact, "quat_xyzw": pose_of(view).quat_xyzw}


def _luminance(view: PrimView) -> float:
    if view.value("inputs:normalize"):
        raise view.fail("inputs:normalize is on - accepted: off, so that inputs:intensity is a luminance in cd/m²")
    return _intensity(view)


def _intensity(view: PrimView) -> float:
    exposure = view.number("inputs:exposure")
    return view.number("inputs:intensity") * 2.0**exposure if exposure else view.number("inputs:intensity")


def _temperature(view: PrimView) -> float:
    color = view.vector("inputs:color", 3)
    if color != (1.0, 1.0, 1.0):
        raise view.fail(f"inputs:color is {color} - accepted: white, with the colour given by inputs:colorTemperature")
    return view.number("inputs:colorTemperature") if view.value("inputs:enableColorTemperature") else 6500.0


def _caster(view: PrimView) -> ShadowCaster:
    if view.prim.GetTypeName() != "Cube":
        raise view.fail(f"is a {view.prim.GetTypeName() or 'prim without type'} - accepted: a flat Cube")
    pose, size = box_of(view)
    if size[2] > 10 * CARD_THICKNESS_M:
        raise view.fail(f"is {size[2]:.6g} m thick - accepted: a card, at most {10 * CARD_THICKNESS_M} m thick")
    with view.building():
        return ShadowCaster.from_data({"name": view.name, "size_m": (size[0], size[1]), "pose_to_world": pose})
