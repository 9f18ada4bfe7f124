"""Scenes by path tracing with Mitsuba 3: the truth that quicker pictures are held against.

The same triangles, looks and lights as everywhere, in the same physical units; light is followed over many bounces.
Lamps and shadow cards are bodies here: they are seen, mirrored and stand in the way of light. The robot is not there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import map_coordinates

from scenegen.cell import Cell
from scenegen.errors import MissingExtra
from scenegen.geometry import Array, Pose
from scenegen.imaging.coat import coats_of
from scenegen.imaging.exposure import nominal_gain
from scenegen.imaging.lamps import dome_luminance, planckian_color
from scenegen.imaging.mosaic import pieces
from scenegen.imaging.photographer import taken
from scenegen.imaging.pinhole import camera_rays
from scenegen.imaging.props import Props
from scenegen.imaging.render import Image
from scenegen.imaging.stage import Solid, single
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import (
    Camera,
    DistantLight,
    DomeLight,
    Light,
    Lights,
    Look,
    RectLight,
    Scenario,
    SphereLight,
)

VARIANT = "scalar_rgb"
"""Mitsuba's plain variant: it needs no LLVM (drjit refuses or breaks on some), and gives the same bytes everywhere."""
SCALE = 100.0
"""Mitsuba sees centimetres: its secondary rays start off a surface by a share of the coordinates' size."""
SUN_M = 1000.0
"""Distance of the disc that stands for a distant light of some width [m]."""
DEPTH = 8
"""Most segments of a light path."""
CARD_GREY = 0.18
"""Reflectance of shadow cards, which have no look: USD's default (UsdPreviewSurface, `diffuseColor`)."""

_TURN_X = Pose(quat_xyzw=(1.0, 0.0, 0.0, 0.0))
"""Half a turn about X: Mitsuba's rectangles shine along +Z, ours along -Z."""
_TURN_Y = Pose(quat_xyzw=(0.0, 1.0, 0.0, 0.0))
"""Half a turn about Y: Mitsuba's cameras look along +Z with X to the left, ours along -Z with X to the right."""


@dataclass(frozen=True)
class _Film:
    """A pinhole image without distortion and with square pixels, from which a camera's image is read."""

    width_px: int
    height_px: int
    focal_px: float
    principal_px: tuple[float, float]
    reading: Array | None
    """Row and column in the film of each pixel of the camera, shape [2, h, w]; None where they are the same."""


class PathTracer:
    """Path-traces scenes of one cell.

    Example:
        >>> tracer = PathTracer(cell, parts)  # doctest: +SKIP
        >>> truth = tracer.radiance(scenario, scenario.cameras.cameras[0], spp=256)  # doctest: +SKIP

    Raises:
        MissingExtra: Mitsuba is not installed.
    """

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        load_mitsuba()
        self._cell, self._props = cell, Props(cell, parts)

    def radiance(self, scenario: Scenario, camera: Camera, *, spp: int = 64, seed: int = 0) -> Array:
        """Say what light reaches a camera, before any exposure.

        Lens distortion and pixels that are not square are read, by linear interpolation, from a picture without them.
        Seams of stains and patterns are as fine as a pixel.

        Args:
            scenario: The scene.
            camera: One of its cameras or a free view.
            spp: Paths a pixel; rounded up to what a stratified pattern needs.
            seed: Another seed gives other noise.

        Returns:
            Luminance by linear colour [cd/m²], shape [h, w, 3].
        """
        looks = {surface.subject: surface.look for surface in scenario.surfaces.surfaces}
        coats = coats_of(scenario, self._cell)
        solids: list[tuple[Look, Solid]] = []
        for name, solid in self._props.placed(scenario):
            if name in coats:
                solids += pieces(solid, coats[name], camera)
            else:
                solids.append((looks[name], solid))
        return trace(solids, scenario.lights, camera, spp=spp, seed=seed)

    def picture(self, scenario: Scenario, camera: Camera, *, spp: int = 64) -> Image:
        """Take the photo that `Photographer.picture` takes, of path-traced light.

        Args:
            scenario: The scene.
            camera: One of its cameras, enlarged or not, or a free view, which has a sensor without faults.
            spp: Paths a pixel.

        Returns:
            sRGB, shape [h, w, 3].
        """
        seen = self.radiance(scenario, camera, spp=spp)
        return taken(seen, scenario, camera, nominal=nominal_gain(self._cell))


def load_mitsuba() -> Any:
    """Return Mitsuba, set to the variant used here.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import mitsuba
    except ImportError as error:
        raise MissingExtra("path tracing", "render") from error
    if mitsuba.variant() != VARIANT:
        mitsuba.set_variant(VARIANT)
        mitsuba.set_log_level(mitsuba.LogLevel.Error)
    return mitsuba


def trace(
    solids: Sequence[tuple[Look, Solid]],
    lights: Lights,
    camera: Camera,
    *,
    spp: int,
    seed: int = 0,
) -> Array:
    """Path-trace solids under lights.

    Args:
        solids: What there is, world frame, each with its look.
        lights: All lights, and the cards that shade them.
        camera: The camera with its pose.
        spp: Paths a pixel.
        seed: Another seed gives other noise.

    Returns:
        Luminance by linear colour [cd/m²], shape [h, w, 3].

    Raises:
        MissingExtra: Mitsuba is not installed.
    """
    mi = load_mitsuba()
    film = _film(camera)
    scene: dict[str, Any] = {
        "type": "scene",
        "integrator": {"type": "path", "max_depth": DEPTH},
        "sensor": _sensor(mi, film, camera.pose_to_world, spp),
    }
    bsdfs = {look: mi.load_dict(_bsdf(look)) for look, _ in solids}
    for index, (look, solid) in enumerate(solids):
        scene[f"solid_{index}"] = _mesh(mi, solid, bsdfs[look])
    for index, light in enumerate(lights.lights):
        if not isinstance(light, DomeLight):
            scene[f"light_{index}"] = _lamp(mi, light)
    dome = dome_luminance(lights.lights)
    if dome.any():
        scene["dome"] = {"type": "constant", "radiance": _rgb(dome)}
    for index, card in enumerate(lights.shadow_casters):
        grey = {"type": "twosided", "side": _matte(CARD_GREY)}
        scene[f"card_{index}"] = _rectangle(mi, card.pose_to_world, card.size_m) | {"bsdf": grey}
    seen = np.array(mi.render(mi.load_dict(scene), spp=spp, seed=seed), np.float64)
    if film.reading is None:
        return seen
    channels = [map_coordinates(seen[..., channel], film.reading, order=1, mode="nearest") for channel in range(3)]
    return np.stack(channels, axis=-1)


def _film(camera: Camera) -> _Film:
    """Plan the picture from which a camera's image can be read."""
    focal = camera.focal_px
    if focal[0] == focal[1] and not any(camera.distortion):
        return _Film(camera.width_px, camera.height_px, focal[0], camera.principal_px, None)
    rays = camera_rays(camera.width_px, camera.height_px, focal, camera.principal_px, camera.distortion)
    finest = max(focal)
    columns, rows = rays[..., 0] * finest, -rays[..., 1] * finest
    left, top = columns.min() - 1, rows.min() - 1
    width, height = math.ceil(columns.max() - left) + 1, math.ceil(rows.max() - top) + 1
    return _Film(width, height, finest, (-left, -top), np.stack([rows - top - 0.5, columns - left - 0.5]))


def _sensor(mi: Any, film: _Film, pose: Pose, spp: int) -> dict[str, Any]:
    size = np.array([film.width_px, film.height_px])
    offset_x, offset_y = (0.5 - np.array(film.principal_px) / size).tolist()
    return {
        "type": "perspective",
        "to_world": _transform(mi, pose.after(_TURN_Y)),
        "fov_axis": "x",
        "fov": math.degrees(2 * math.atan(film.width_px / 2 / film.focal_px)),
        "principal_point_offset_x": offset_x,
        "principal_point_offset_y": offset_y,
        "near_clip": 1e-3 * SCALE,
        "far_clip": 10 * SUN_M * SCALE,
        "film": {
            "type": "hdrfilm",
            "width": film.width_px,
            "height": film.height_px,
            "pixel_format": "rgb",
            "component_format": "float32",
            "rfilter": {"type": "box"},
        },
        "sampler": {"type": "multijitter", "sample_count": spp},
    }


def _bsdf(look: Look) -> dict[str, Any]:
    """Build Disney's metallic-roughness surface; `specular` 0.5 is the refractive index 1.5 of paint and plastic.

    Its diffuse part follows no energy balance: a white rough plane under an even dome is 5 % brighter than the dome.
    """
    surface = {
        "type": "principled",
        "base_color": _rgb(look.color),
        "metallic": look.metallic,
        "roughness": look.roughness,
        "specular": 0.5,
    }
    return {"type": "twosided", "side": surface}


def _mesh(mi: Any, solid: Solid, bsdf: Any) -> Any:
    corners = solid.triangles.reshape(-1, 3)
    properties = mi.Properties()
    properties["mesh_bsdf"] = bsdf
    mesh = mi.Mesh("solid", len(corners), len(corners) // 3, has_vertex_normals=True, props=properties)
    buffers = mi.traverse(mesh)
    buffers["vertex_positions"] = single(corners * SCALE).ravel()
    buffers["vertex_normals"] = single(solid.normals).ravel()
    buffers["faces"] = np.arange(len(corners), dtype=np.uint32)
    buffers.update()
    return mesh


def _lamp(mi: Any, light: Light) -> dict[str, Any]:
    color = np.array(planckian_color(light.temperature_k))
    match light:
        case RectLight():
            shape = _rectangle(mi, light.pose_to_world.after(_TURN_X), light.size_m)
            return shape | _glow(light.luminance_nit * color)
        case SphereLight():
            center = [value * SCALE for value in light.position_m]
            shape = {"type": "sphere", "center": center, "radius": light.radius_m * SCALE}
            return shape | _glow(light.luminance_nit * color)
        case DistantLight():
            return _sun(mi, light, color)
        case DomeLight():
            raise TypeError("a dome is no lamp: domes of a scene are added up")


def _sun(mi: Any, light: DistantLight, color: Array) -> dict[str, Any]:
    """A far disc of luminance E / (π sin² half), which gives a plane that faces it the illuminance E."""
    turn = Pose(quat_xyzw=light.quat_xyzw)
    half = light.angle_rad / 2
    if half < 1e-3:
        emitter = {"type": "directional", "irradiance": _rgb(light.illuminance_lux * color)}
        return emitter | {"to_world": _transform(mi, turn.after(_TURN_X))}
    place = Pose.of(turn.rotation @ (0.0, 0.0, SUN_M), turn.after(_TURN_X).quat)
    radius = SUN_M * math.tan(half)
    disc = {"type": "disk", "to_world": _transform(mi, place, (radius, radius))}
    return disc | _glow(light.illuminance_lux / (math.pi * math.sin(half) ** 2) * color)


def _rectangle(mi: Any, pose: Pose, size_m: tuple[float, float]) -> dict[str, Any]:
    return {"type": "rectangle", "to_world": _transform(mi, pose, (size_m[0] / 2, size_m[1] / 2))}


def _glow(luminance: Array) -> dict[str, Any]:
    """Shine with a luminance by linear colour [cd/m²] and mirror nothing."""
    return {"emitter": {"type": "area", "radiance": _rgb(luminance)}, "bsdf": _matte(0.0)}


def _matte(reflectance: float) -> dict[str, Any]:
    return {"type": "diffuse", "reflectance": _rgb((reflectance,) * 3)}


def _rgb(color: Any) -> dict[str, Any]:
    return {"type": "rgb", "value": [float(value) for value in color]}


def _transform(mi: Any, pose: Pose, half_size_m: tuple[float, float] | None = None) -> Any:
    """Pose in Mitsuba's centimetres; a half size [m] stretches a shape that reaches from -1 to 1."""
    matrix = np.eye(4)
    matrix[:3, :3] = pose.rotation
    matrix[:3, 3] = pose.position * SCALE
    if half_size_m is not None:
        matrix[:3, :2] *= np.array(half_size_m) * SCALE
    return mi.ScalarTransform4f(matrix)
