"""Shade a G-buffer: the luminance of each pixel under area lights and light from all around.

Metallic-roughness surfaces: a GGX mirror with Schlick's Fresnel term, whose lost second bounces are given back (Turquin
2019), over a diffuse base that receives what the mirror lets through. Light is linear: what a pixel returns is computed
for each light at unit luminance (`area_response`, `ambient_response`), so that lights that change in intensity and
colour alone only mix these anew (`mixed`).

All functions are pure arithmetic over the array namespace `xp` that is passed in, numpy or torch, in 32-bit floats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scenegen.imaging.ambient import diffuse_bands, mirror_bands, mirror_open
from scenegen.imaging.coat import Coat, pixel_looks
from scenegen.imaging.gbuffer import GBuffer, Vector, groove_depth
from scenegen.imaging.ggx import DIELECTRIC, mirrored_shares, width
from scenegen.imaging.light_set import AreaLight, LightSet, SurfaceSet
from scenegen.imaging.quad_light import corners_of, gloss, highlight, lambert, mirror_point
from scenegen.imaging.vectors import Frame, frame_about, minus, plus, product, times, unit

GROOVE_ROUGHNESS = 0.65
"""Roughness of a threaded face as a whole, held against path-traced threads."""
ALIKE = 0.5
"""How far neighbours of a matt surface have its colour: all of them within a bin, few of them beside one."""


@dataclass(frozen=True, eq=False)
class Points:
    """The pixels that are shaded, ready for any light; arrays of shape [b, k]."""

    shown: Any
    """1 where there is a surface, 0 where there is nothing."""
    position: Vector
    """World frame [m]."""
    frame: Frame
    """A frame about the normal."""
    view: Vector
    """Unit direction to the camera, in that frame."""
    away: Any
    """Z of the unit direction away from the camera, world frame."""
    alpha: Any
    """Width of the distribution of microfacets."""
    diffuse: Vector
    """Share of the form factor's light that is scattered, by linear colour."""
    mirror: Vector
    """Reflectance at normal incidence, second bounces included, by linear colour."""
    edge: Vector
    """Reflectance at grazing incidence, likewise."""
    surround: Vector
    """Share of even light from all around that is mirrored, by linear colour."""
    self_open: Any
    """Share of the surroundings that the instance itself leaves open, grooves of metal taken as a whole; None: all."""


@dataclass(frozen=True, eq=False)
class AmbientResponse:
    """What pixels return for each band of the surroundings at unit luminance; arrays of shape [b, k]."""

    floor: Vector
    wall: Vector
    ceiling: Vector


def points_of(
    gbuffer: GBuffer, surfaces: SurfaceSet, *, xp: Any, pixels: Any = None, coats: Mapping[int, Coat] | None = None
) -> Points:
    """Prepare pixels for shading.

    Args:
        gbuffer: What the pixels show.
        surfaces: Looks of its instances.
        xp: Array namespace.
        pixels: Which pixels, as places in an image's row of pixels, whole numbers of shape [k] (the same in all images)
            or [b, k]; all if not given.
        coats: Patterned and stained instances of the one image; elsewhere the means of `surfaces` count.
    """
    instance = pick(gbuffer.instance, pixels, xp=xp)
    normal = _picked(gbuffer.normal, pixels, xp)
    position = _picked(gbuffer.position, pixels, xp)
    looks = xp.clip(instance, 0, None)
    metallic, roughness = pick(surfaces.metallic, looks, xp=xp), pick(surfaces.roughness, looks, xp=xp)
    color = _picked(surfaces.color, looks, xp)
    if coats:
        color, metallic, roughness = pixel_looks(instance, position, (color, metallic, roughness), coats, xp=xp)
    toward = unit(minus(gbuffer.eye, position), xp)
    frame = frame_about(normal, xp)
    view = frame.local(toward)
    view = (view[0], view[1], xp.clip(view[2], 1e-3, None))
    shown = xp.asarray(instance >= 0, dtype=metallic.dtype)
    self_open = None if gbuffer.self_open is None else pick(gbuffer.self_open, pixels, xp=xp)
    if self_open is not None:
        # Light that a metal's groove returns has met its other side too: both scatter it, and neither is lost.
        deep = metallic * groove_depth(self_open, xp)
        roughness = roughness + deep * xp.clip(GROOVE_ROUGHNESS - roughness, 0.0, None)
        self_open = self_open + deep * (1 - self_open)
    whole, edge = mirrored_shares(view[2], roughness, xp)
    dull = (1 - metallic) * shown
    base = plus((DIELECTRIC * (1 - metallic),) * 3, color, metallic)
    lost = 1 / whole - 1
    again = (1 + base[0] * lost, 1 + base[1] * lost, 1 + base[2] * lost)
    inner = whole - edge
    surround = product((inner * base[0] + edge, inner * base[1] + edge, inner * base[2] + edge), again)
    surround = times((xp.clip(surround[0], 0, 1), xp.clip(surround[1], 0, 1), xp.clip(surround[2], 0, 1)), shown)
    rest = (1 - surround[0], 1 - surround[1], 1 - surround[2])
    return Points(
        shown=shown,
        position=position,
        frame=frame,
        view=view,
        away=-toward[2],
        alpha=width(roughness, xp),
        diffuse=times(product(color, rest), dull),
        mirror=times(product(base, again), shown),
        edge=times(again, shown),
        surround=surround,
        self_open=self_open,
    )


def area_response(points: Points, light: AreaLight, *, xp: Any, lit: Any = None) -> Vector:
    """Return the luminance of pixels under one light of unit luminance, by linear colour, each of shape [b, k].

    Args:
        points: The pixels.
        light: The light; its own luminance does not matter.
        xp: Array namespace.
        lit: Share of the light that reaches each pixel, shape [b, k]; all of it if not given.
    """
    center = points.frame.local(minus(light.center, points.position))
    half_u, half_v = points.frame.local(light.half_u), points.frame.local(light.half_v)
    a, b, c, d = (unit(corner, xp) for corner in corners_of(center, half_u, half_v))
    quad = (a, b, c, d)
    base = lambert(quad, xp)
    share = highlight(quad, points.view, points.alpha, xp)
    inner, edge = gloss(share, points.view, mirror_point(center, half_u, half_v, points.view, xp), points.alpha, xp)
    # A surface that the light does not reach has no highlight; across the horizon it fades in.
    reached = xp.clip(base * 1e4, 0.0, 1.0)
    if lit is not None:
        base, reached = base * lit, reached * lit
    inner, edge = inner * reached, edge * reached
    return (
        points.diffuse[0] * base + points.mirror[0] * inner + points.edge[0] * edge,
        points.diffuse[1] * base + points.mirror[1] * inner + points.edge[1] * edge,
        points.diffuse[2] * base + points.mirror[2] * inner + points.edge[2] * edge,
    )


def ambient_response(points: Points, *, xp: Any, open_share: Any = None) -> AmbientResponse:
    """Return what pixels send back of their surroundings at unit luminance.

    Where neighbours stand in the way, they are seen instead. A pixel that shows nothing shows floor or wall.

    Args:
        points: The pixels.
        xp: Array namespace.
        open_share: Share of the surroundings that no neighbour hides, shape [b, k]; all if not given.
    """
    up, n_view = points.frame.z[2], points.view[2]
    if points.self_open is not None:
        open_share = points.self_open if open_share is None else xp.minimum(open_share, points.self_open)
    scattered = diffuse_bands(up, xp)
    shiny = mirror_bands(2 * n_view * up + points.away, points.alpha, xp)
    mirror_share = None if open_share is None else mirror_open(open_share, n_view, points.alpha, xp)
    nothing = 1 - points.shown
    below = xp.asarray(points.away < 0, dtype=nothing.dtype)
    backdrop = (nothing * below, nothing * (1 - below), 0 * nothing)
    channels = []
    for diffuse, mirrored in zip(points.diffuse, points.surround, strict=True):
        one = scattered if open_share is None else _behind(scattered, open_share, ALIKE * diffuse)
        other = shiny if mirror_share is None else _behind(shiny, mirror_share, mirrored)
        channels.append([b + diffuse * d + mirrored * m for b, d, m in zip(backdrop, one, other, strict=True)])
    floor, wall, ceiling = ((red, green, blue) for red, green, blue in zip(*channels, strict=True))
    return AmbientResponse(floor=floor, wall=wall, ceiling=ceiling)


def mixed(areas: Sequence[Vector], around: AmbientResponse, lights: LightSet) -> Vector:
    """Return the luminance of pixels from their responses, by linear colour [cd/m²], each of shape [b, k].

    Args:
        areas: Response to each area light, in the order of the light set.
        around: Response to the surroundings.
        lights: How bright they are.
    """
    total = _around(around, lights)
    for response, light in zip(areas, lights.areas, strict=True):
        total = plus(total, product(response, light.radiance))
    return total


def shade(
    gbuffer: GBuffer,
    surfaces: SurfaceSet,
    lights: LightSet,
    *,
    xp: Any,
    shadows: Sequence[Any] | None = None,
    open_share: Any = None,
    pixels: Any = None,
) -> Vector:
    """Return the luminance of pixels by linear colour [cd/m²], each of shape [b, k].

    Args:
        gbuffer: What the pixels show.
        surfaces: Looks of its instances.
        lights: All light.
        xp: Array namespace, numpy or torch.
        shadows: For each area light the share of it that reaches each shaded pixel (`lit_share`), shape [b, k].
        open_share: Share of the surroundings that each shaded pixel sees (`open_shares`), shape [b, k].
        pixels: Which pixels (see `points_of`); all if not given.
    """
    parts = shade_each(gbuffer, surfaces, lights, xp=xp, shadows=shadows, open_share=open_share, pixels=pixels)
    total = parts[0]
    for part in parts[1:]:
        total = plus(total, part)
    return total


def shade_each(
    gbuffer: GBuffer,
    surfaces: SurfaceSet,
    lights: LightSet,
    *,
    xp: Any,
    shadows: Sequence[Any] | None = None,
    open_share: Any = None,
    pixels: Any = None,
) -> tuple[Vector, ...]:
    """Return what `shade` returns, apart for each area light and, last, for the surroundings; they add up to it."""
    points = points_of(gbuffer, surfaces, xp=xp, pixels=pixels)
    lit = [None] * len(lights.areas) if shadows is None else shadows
    areas = (
        product(area_response(points, light, xp=xp, lit=share), light.radiance)
        for light, share in zip(lights.areas, lit, strict=True)
    )
    return (*areas, _around(ambient_response(points, xp=xp, open_share=open_share), lights))


def pick(values: Any, pixels: Any, *, xp: Any) -> Any:
    """Choose values of each image by their place in its row, shape [b, n] to [b, k]; all if no places are given.

    Args:
        values: One row an image, shape [b, n].
        pixels: Places, whole numbers of shape [k] or [b, k], or None.
        xp: Array namespace.
    """
    if pixels is None:
        return values
    b, n = values.shape
    start = xp.arange(b, device=values.device).reshape((b, 1)) * n
    return values.reshape((b * n,))[start + pixels]


def _picked(vector: Vector, pixels: Any, xp: Any) -> Vector:
    return pick(vector[0], pixels, xp=xp), pick(vector[1], pixels, xp=xp), pick(vector[2], pixels, xp=xp)


def _around(around: AmbientResponse, lights: LightSet) -> Vector:
    ambient = lights.ambient
    total = product(around.floor, ambient.floor)
    return plus(plus(total, product(around.wall, ambient.wall)), product(around.ceiling, ambient.ceiling))


def _behind(bands: tuple[Any, Any, Any], open_share: Any, color: Any) -> tuple[Any, Any, Any]:
    """Let neighbours stand before the bands: of the point's own colour, and further off as bright as the floor.

    Light that neighbours pass on, o / (1 - c (1 - o)), sums all bounces between equal surfaces (Jimenez et al. 2016).
    """
    passed = open_share / (1 - color * (1 - open_share))
    floor, wall, ceiling = bands
    return floor * passed + (1 - passed), wall * passed, ceiling * passed
