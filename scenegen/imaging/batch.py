"""Photograph many worlds at once: shading, exposure and development in one array library, fused where it can."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any, Protocol

from scenegen.imaging.ambient import open_shares
from scenegen.imaging.blockers import Blockers, Placed
from scenegen.imaging.blur import blurred
from scenegen.imaging.card_shadow import card_lit_share
from scenegen.imaging.gbuffer import GBuffer, Vector
from scenegen.imaging.light_set import Ambient, AreaLight, Card, LightSet, SurfaceSet
from scenegen.imaging.noise import Words
from scenegen.imaging.photo import develop_with, expose_with
from scenegen.imaging.raster_map import raster_shadow_map
from scenegen.imaging.sensor_set import SensorSet
from scenegen.imaging.shading import ambient_response, area_response, mixed, points_of
from scenegen.imaging.shadow_map import SIZE_PX, ShadowMap, lit_share
from scenegen.imaging.vectors import plus, product

Step = Callable[..., Any]
"""A function of arrays, and of records of them."""

ONE_KERNEL = 2000
"""Steps that torch may fuse into one kernel: more than a light has; its default of 64 writes the steps between out."""


class Fuse(Protocol):
    """Turns a step into a faster one with the same results, to rounding."""

    def __call__(self, step: Step, *, varying: bool = False) -> Step:
        """Return the faster step; a `varying` one is called with arrays of ever other lengths."""
        ...


@dataclass(frozen=True, eq=False)
class Batch:
    """What b worlds show to a camera, and what shines on it."""

    gbuffer: GBuffer
    surfaces: SurfaceSet
    lights: LightSet
    shadows: tuple[ShadowMap | None, ...]
    """A map for each area light, in the order of the light set; None where bodies cast no shadow."""
    open_share: Any = None
    """Share of its surroundings that each pixel sees (`open_shares`), shape [b, p]; None: all."""


class BatchCamera:
    """Shades and photographs batches; each light is one step, so that any number of lights takes the same steps.

    Patterns and stains count by their means (see `SurfaceSet`); otherwise results are those of `Renderer` and
    `photo`, to rounding.

    Args:
        xp: Array namespace, numpy or torch.
        fuse: What speeds up each step, for example `compiled(torch)`; by default steps run as they are.

    Example:
        >>> camera = BatchCamera(xp=torch, fuse=compiled(torch))  # doctest: +SKIP
        >>> shadow = camera.shadow_map(blockers, items, fixtures, light, gbuffer)  # doctest: +SKIP
        >>> images = camera.photos(batch, sensors, words)  # doctest: +SKIP
    """

    def __init__(self, *, xp: Any, fuse: Fuse | None = None) -> None:
        self._xp = xp
        fused = fuse or _plain
        self._open = fused(lambda gbuffer: open_shares(gbuffer, xp=xp))
        self._ambient = fused(lambda *given: surroundings(*given, xp=xp))
        self._light = fused(lambda *given: with_light(*given, xp=xp))
        self._expose = fused(lambda *given: expose_with(*given, xp=xp))
        self._develop = fused(lambda *given: develop_with(*given, xp=xp))
        self._map = fused(lambda *given, size_px: raster_shadow_map(*given, xp=xp, size_px=size_px), varying=True)

    def open_shares(self, gbuffer: GBuffer) -> Any:
        """Return the share of its surroundings that each pixel sees, shape [b, p]; see `ambient.open_shares`."""
        return self._open(gbuffer)

    def shadow_map(
        self,
        blockers: Blockers,
        items: Placed,
        fixtures: Placed,
        light: AreaLight,
        gbuffer: GBuffer,
        *,
        size_px: int = SIZE_PX,
    ) -> ShadowMap:
        """Draw what a light sees; see `raster_map.raster_shadow_map`."""
        return self._map(blockers, items, fixtures, light, gbuffer, size_px=size_px)

    def radiance(self, batch: Batch) -> Vector:
        """Return the luminance of each pixel by linear colour [cd/m²], each of shape [b, h, w]."""
        gbuffer, lights = batch.gbuffer, batch.lights
        total = self._ambient(gbuffer, batch.surfaces, lights.ambient, batch.open_share)
        for light, shadow in zip(lights.areas, batch.shadows, strict=True):
            total = self._light(total, gbuffer, batch.surfaces, light, lights.cards, shadow)
        red, green, blue = (gbuffer.plane(one) for one in total)
        return red, green, blue

    def exposed(self, batch: Batch, sensors: SensorSet) -> Vector:
        """Return linear images before noise and clipping, 1 saturates, each of shape [b, h, w].

        Args:
            batch: The worlds.
            sensors: One an image, or one for all (`photo.sensor_set`).
        """
        # Each batch sums shifts of its own: compiled, every one of them would take a minute.
        light = blurred(self.radiance(batch), sensors.blurs, xp=self._xp)
        return self._expose(light, replace(sensors, blurs=()))

    def photos(self, batch: Batch, sensors: SensorSet, words: Words) -> Any:
        """Return photos: sRGB as whole numbers of 8 bits, shape [b, h, w, 3].

        Args:
            batch: The worlds.
            sensors: One an image, or one for all (`photo.sensor_set`).
            words: Words of the seeds of the noise, one an image (`noise.seed_words`); other ones for each frame.
        """
        return self._develop(self.exposed(batch, sensors), sensors.snr_db, words)


def compiled(xp: Any, options: Mapping[str, Any] | None = None) -> Fuse:
    """Return what compiles steps with torch, whole, for the shapes that they are called with.

    The first call with new shapes takes a minute or so; one camera may see eight different ones.

    Args:
        xp: torch.
        options: Settings of its compiler, beside those chosen here.
    """
    settings = {"max_fusion_size": ONE_KERNEL, **(options or {})}

    def fuse(step: Any, *, varying: bool = False) -> Step:
        # The compiler counts what it compiled by code object: each camera gets objects of its own.
        own = FunctionType(step.__code__.replace(), step.__globals__, closure=step.__closure__)
        own.__kwdefaults__ = step.__kwdefaults__
        return xp.compile(own, fullgraph=True, dynamic=None if varying else False, options=settings)

    return fuse


def surroundings(gbuffer: GBuffer, surfaces: SurfaceSet, ambient: Ambient, open_share: Any, *, xp: Any) -> Vector:
    """Return what pixels send back of their surroundings [cd/m²], each of shape [b, p].

    Args:
        gbuffer: What the pixels show.
        surfaces: Looks of its instances.
        ambient: The surroundings.
        open_share: Share of them that each pixel sees, shape [b, p]; None: all.
        xp: Array namespace.
    """
    points = points_of(gbuffer, surfaces, xp=xp)
    return mixed((), ambient_response(points, xp=xp, open_share=open_share), LightSet((), (), ambient))


def with_light(
    total: Vector,
    gbuffer: GBuffer,
    surfaces: SurfaceSet,
    light: AreaLight,
    cards: tuple[Card, ...],
    shadow: ShadowMap | None,
    *,
    xp: Any,
) -> Vector:
    """Add one light to what pixels send back [cd/m²], each of shape [b, p].

    The pixels are prepared for every light anew: in a fused step that costs less than to keep and read them.

    Args:
        total: What they send back without the light.
        gbuffer: What the pixels show.
        surfaces: Looks of its instances.
        light: The light.
        cards: What shades the scene without being seen.
        shadow: What the light sees; None: bodies cast no shadow.
        xp: Array namespace.
    """
    points = points_of(gbuffer, surfaces, xp=xp)
    lit = None if shadow is None else lit_share(shadow, points.position, points.frame.z, xp=xp)
    for card in cards:
        share = card_lit_share(light, card, points.position, xp=xp)
        lit = share if lit is None else lit * share
    return plus(total, product(area_response(points, light, xp=xp, lit=lit), light.radiance))


def _plain(step: Step, *, varying: bool = False) -> Step:
    return step
