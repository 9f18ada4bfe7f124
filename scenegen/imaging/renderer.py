"""Render a cell's scenarios on the processor; what a change does not touch is not computed again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenegen.cell import Cell
from scenegen.facet import Facet
from scenegen.imaging.ambient import open_shares
from scenegen.imaging.card_shadow import card_lit_share
from scenegen.imaging.caster import GBufferCaster
from scenegen.imaging.coat import coats_of
from scenegen.imaging.gbuffer import GBuffer
from scenegen.imaging.kept import Kept
from scenegen.imaging.light_set import AreaLight, LightSet
from scenegen.imaging.scene_lights import scene_lights
from scenegen.imaging.scene_surfaces import scene_surfaces
from scenegen.imaging.shading import AmbientResponse, Points, ambient_response, area_response, pick, points_of
from scenegen.imaging.shadow_map import ShadowMap, cast_shadow_map, lit_share
from scenegen.imaging.view import Viewer
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Scenario

SEEN = (Facet.LAYOUT, Facet.MOTION, Facet.CAMERAS)
"""Facets that decide what a camera sees before any light falls on it."""
KEPT = 12
"""Results of each kind that are kept: G-buffers, shadows, responses to lights."""
_STRIDE_PX = 8
"""Every so many rows and columns a pixel says where shadows may fall."""

Pixels = NDArray[np.int64]


class Renderer:
    """Renders what the cameras of one cell's scenarios see.

    Scenes that differ in their lights share the G-buffer; lights that differ in intensity and colour alone share all
    but the last sum. Not for use by several threads at once.

    Example:
        >>> renderer = Renderer(cell, parts)  # doctest: +SKIP
        >>> image = renderer.radiance(scenario, "overhead")  # doctest: +SKIP
    """

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self._cell, self.parts = cell, parts
        self._viewer = Viewer(cell, parts)
        self._caster = GBufferCaster(self._viewer, cell)
        self._kept: dict[str, Kept] = {}

    def gbuffer(self, scenario: Scenario, camera: str) -> GBuffer:
        """Say what each pixel shows; the last few are kept.

        Args:
            scenario: The scene.
            camera: Name of one of its cameras.

        Raises:
            UnknownName: The scenario has no such camera.
        """
        key = (scenario.key(*SEEN), camera)
        return self._once("gbuffer", key, lambda: self._caster.cast(scenario, camera))

    def radiance(self, scenario: Scenario, camera: str) -> NDArray[np.float32]:
        """Return the luminance of each pixel by linear colour [cd/m²], shape [h, w, 3].

        Args:
            scenario: The scene.
            camera: Name of one of its cameras.

        Raises:
            UnknownName: The scenario has no such camera.
        """
        gbuffer = self.gbuffer(scenario, camera)
        return self._shaded(scenario, camera, None).T.reshape(gbuffer.height_px, gbuffer.width_px, 3)

    def radiance_at(self, scenario: Scenario, camera: str, pixels: Pixels) -> NDArray[np.float32]:
        """Return the luminance of some pixels alone by linear colour [cd/m²], shape [k, 3]; see `radiance`.

        Args:
            scenario: The scene.
            camera: Name of one of its cameras.
            pixels: Places in the row of all pixels, `row * width + column`, shape [k].
        """
        return self._shaded(scenario, camera, pixels).T

    def _shaded(self, scenario: Scenario, camera: str, pixels: Pixels | None) -> NDArray[np.float32]:
        """Mix the responses to all lights, each computed when it is first asked for; shape [3, k]."""
        lights = scene_lights(scenario)
        chosen = None if pixels is None else pixels.tobytes()
        key = (scenario.key(*SEEN, Facet.SURFACES), camera, chosen)
        shapes = tuple(geometry_of(light) for light in lights.areas)
        stack = self._once(
            "stack", (key, shapes, _cards_key(lights)), lambda: self._responses(scenario, camera, pixels, lights, key)
        )
        return np.stack([bright @ one for bright, one in zip(_brightness(lights), stack, strict=True)])

    def _responses(
        self, scenario: Scenario, camera: str, pixels: Pixels | None, lights: LightSet, key: Hashable
    ) -> NDArray[np.float32]:
        """Stack what pixels return of surroundings and lights at unit luminance, shape [3, 3 + lights, k]."""
        points: list[Points] = []

        def ready() -> Points:
            if not points:
                points.append(self._points(scenario, camera, pixels))
            return points[0]

        around = self._once("ambient", key, lambda: self._around(ready(), scenario, camera, pixels))
        areas = [
            self._once(
                "area",
                (key, geometry_of(light), _cards_key(lights)),
                lambda light=light: area_response(
                    ready(), light, xp=np, lit=self._lit(scenario, camera, lights, light, ready())
                ),
            )
            for light in lights.areas
        ]
        each = (around.floor, around.wall, around.ceiling, *areas)
        return np.stack([np.stack([one[channel][0] for one in each]) for channel in range(3)])

    def _points(self, scenario: Scenario, camera: str, pixels: Pixels | None) -> Points:
        gbuffer = self.gbuffer(scenario, camera)
        places = {name: index for index, name in enumerate(gbuffer.names)}
        coats = {places[name]: coat for name, coat in coats_of(scenario, self._cell).items() if name in places}
        return points_of(gbuffer, scene_surfaces(scenario, gbuffer.names), xp=np, pixels=pixels, coats=coats)

    def _around(self, points: Points, scenario: Scenario, camera: str, pixels: Pixels | None) -> AmbientResponse:
        gbuffer = self.gbuffer(scenario, camera)
        key = (scenario.key(*SEEN), camera)
        shares = self._once("open", key, lambda: open_shares(gbuffer, xp=np))
        return ambient_response(points, xp=np, open_share=pick(shares, pixels, xp=np))

    def _lit(self, scenario: Scenario, camera: str, lights: LightSet, light: AreaLight, points: Points) -> Any:
        """Share of a light that cards and bodies let through to points."""
        share = np.ones_like(points.alpha)
        for card in lights.cards:
            share = share * card_lit_share(light, card, points.position, xp=np)
        if not light.casts_shadow:
            return share
        key = (scenario.key(*SEEN), camera, geometry_of(light))
        shadow: ShadowMap = self._once("shadow", key, lambda: self._map(scenario, camera, light))
        return share * lit_share(shadow, points.position, points.frame.z, xp=np)

    def _map(self, scenario: Scenario, camera: str, light: AreaLight) -> ShadowMap:
        gbuffer = self.gbuffer(scenario, camera)
        spots = np.stack([gbuffer.plane(values)[0, ::_STRIDE_PX, ::_STRIDE_PX] for values in gbuffer.position], axis=-1)
        shown = gbuffer.plane(gbuffer.instance)[0, ::_STRIDE_PX, ::_STRIDE_PX] >= 0
        receivers = spots[shown] if shown.any() else spots.reshape(-1, 3)
        return cast_shadow_map(self._viewer, scenario.layout, light, receivers.astype(np.float64))

    def _once[T](self, kind: str, key: Hashable, make: Callable[[], T]) -> T:
        """Return what is kept under a key, or make it; of each kind the latest used are kept."""
        return self._kept.setdefault(kind, Kept(KEPT)).get(key, make)


def geometry_of(light: AreaLight) -> tuple[bytes, ...]:
    """Return what a light's response depends on: its place and size, not its luminance."""
    vectors = (light.center, light.half_u, light.half_v)
    return (*(np.concatenate(vector).tobytes() for vector in vectors), bytes([light.casts_shadow]))


def _brightness(lights: LightSet) -> NDArray[np.float32]:
    """Return the luminance of surroundings and lights in the order of `_responses`, shape [3, 3 + lights]."""
    around = lights.ambient
    each = (around.floor, around.wall, around.ceiling, *(light.radiance for light in lights.areas))
    return np.concatenate([np.concatenate(one) for one in each], axis=1)


def _cards_key(lights: LightSet) -> tuple[bytes, ...]:
    return tuple(np.concatenate((*card.center, *card.half_u, *card.half_v)).tobytes() for card in lights.cards)
