"""Render a cell's scenarios on the processor; what a change does not touch is not computed again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from scenegen.cell import Cell
from scenegen.facet import Facet
from scenegen.geometry import Array
from scenegen.imaging.ambient import open_shares
from scenegen.imaging.card_shadow import card_lit_share
from scenegen.imaging.caster import GBufferCaster
from scenegen.imaging.coat import coats_of
from scenegen.imaging.gbuffer import GBuffer, Vector
from scenegen.imaging.kept import Kept
from scenegen.imaging.light_set import AreaLight, LightSet
from scenegen.imaging.robot_shape import Posture, RobotShape
from scenegen.imaging.scene_lights import scene_lights
from scenegen.imaging.scene_surfaces import scene_surfaces
from scenegen.imaging.shading import AmbientResponse, Points, ambient_response, area_response, points_of
from scenegen.imaging.shadow_map import ShadowMap, cast_shadow_map, lit_share, map_size_px
from scenegen.imaging.vectors import times
from scenegen.imaging.view import Viewer
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Layout, Scenario

SEEN = (Facet.LAYOUT, Facet.MOTION, Facet.CAMERAS)
"""Facets that decide what a camera sees before any light falls on it."""
SHINING = (Facet.LAYOUT, Facet.SURFACES, Facet.LIGHTS)
"""Facets that decide which light falls on the scene."""
KEPT = 24
"""Results of each kind that are kept: G-buffers, shadows, responses to lights."""
_STRIDE_PX = 8
"""Every so many rows and columns a pixel says where shadows may fall."""

Pixels = NDArray[np.int64]


class Renderer:
    """Renders what the cameras of one cell's scenarios see.

    Scenes that differ in their lights share the G-buffer; lights that differ in intensity and colour alone share all
    but the last sum. Not for use by several threads at once.

    Args:
        cell: The cell.
        parts: Its parts.
        robot: Its robot, for pictures in which it is seen: those of a given posture.
        keep: How many results of each kind are kept.

    Example:
        >>> renderer = Renderer(cell, parts)  # doctest: +SKIP
        >>> image = renderer.radiance(scenario, "overhead")  # doctest: +SKIP
    """

    def __init__(self, cell: Cell, parts: Catalogue, *, robot: RobotShape | None = None, keep: int = KEPT) -> None:
        self.cell, self.parts, self._keep = cell, parts, keep
        self.viewer = Viewer(cell, parts, robot=robot)
        self._caster = GBufferCaster(self.viewer, cell)
        self._kept: dict[str, Kept] = {}

    def gbuffer(self, scenario: Scenario, camera: str, posture: Posture | None = None) -> GBuffer:
        """Say what each pixel shows; the last few are kept.

        Args:
            scenario: The scene.
            camera: Name of one of its cameras.
            posture: How the robot stands; None: it is not there.

        Raises:
            UnknownName: The scenario has no such camera.
        """
        key = (scenario.key(*SEEN), camera, posture)
        return self.once("gbuffer", key, lambda: self._caster.cast(scenario, camera, posture))

    def radiance(self, scenario: Scenario, camera: str, posture: Posture | None = None) -> NDArray[np.float32]:
        """Return the luminance of each pixel by linear colour [cd/m²], shape [h, w, 3].

        Args:
            scenario: The scene.
            camera: Name of one of its cameras.
            posture: How the robot stands; None: it is not there.

        Raises:
            UnknownName: The scenario has no such camera.
        """
        gbuffer = self.gbuffer(scenario, camera, posture)
        seen = _Shot(self, scenario, camera, None, posture).radiance()
        return seen.T.reshape(gbuffer.height_px, gbuffer.width_px, 3)

    def radiance_at(self, scenario: Scenario, camera: str, pixels: Pixels) -> NDArray[np.float32]:
        """Return the luminance of some pixels alone by linear colour [cd/m²], shape [k, 3]; see `radiance`.

        Args:
            scenario: The scene.
            camera: Name of one of its cameras.
            pixels: Places in the row of all pixels, `row * width + column`, shape [k].
        """
        return _Shot(self, scenario, camera, pixels).radiance().T

    def once[T](self, kind: str, key: Hashable, make: Callable[[], T]) -> T:
        """Return what is kept under a key, or make it; of each kind the latest used are kept."""
        return self._kept.setdefault(kind, Kept(self._keep)).get(key, make)


class _Shot:
    """Pixels of one camera's view of a scene, about to be shaded."""

    def __init__(
        self,
        renderer: Renderer,
        scenario: Scenario,
        camera: str,
        pixels: Pixels | None,
        posture: Posture | None = None,
    ) -> None:
        self._renderer, self._once = renderer, renderer.once
        self._scenario, self._camera, self._pixels, self._posture = scenario, camera, pixels, posture
        self._seen = (scenario.key(*SEEN), camera, posture)
        self._place = (*self._seen, None if pixels is None else pixels.tobytes())
        self._look = (scenario.key(Facet.SURFACES), self._place)

    def radiance(self) -> NDArray[np.float32]:
        """Mix the responses to all lights, each computed when it is first asked for; shape [3, k]."""
        lights = self._once("lights", self._scenario.key(*SHINING), lambda: scene_lights(self._scenario))
        shapes = tuple(shape_of(light) for light in lights.areas)
        key = (self._look, shapes, _cards_key(lights))
        stack = self._once("stack", key, lambda: self._responses(lights))
        return np.stack([bright @ one for bright, one in zip(_brightness(lights), stack, strict=True)])

    def _responses(self, lights: LightSet) -> NDArray[np.float32]:
        """Stack what pixels return of surroundings and lights at unit luminance, shape [3, 3 + lights, k]."""
        around = self._once("ambient", self._look, self._around)
        areas = [
            self._once("area", (self._look, shape_of(light), _cards_key(lights)), partial(self._area, light, lights))
            for light in lights.areas
        ]
        each = (around.floor, around.wall, around.ceiling, *areas)
        return np.stack([np.stack([one[channel][0] for one in each]) for channel in range(3)])

    @property
    def _gbuffer(self) -> GBuffer:
        return self._renderer.gbuffer(self._scenario, self._camera, self._posture)

    @cached_property
    def _points(self) -> Points:
        gbuffer = self._gbuffer
        places = {name: index for index, name in enumerate(gbuffer.names)}
        known = coats_of(self._scenario, self._renderer.cell)
        coats = {places[name]: coat for name, coat in known.items() if name in places}
        looks = scene_surfaces(self._scenario, gbuffer.names)
        return points_of(gbuffer, looks, xp=np, pixels=self._pixels, coats=coats)

    def _around(self) -> AmbientResponse:
        gbuffer = self._gbuffer
        shares = self._once("open", self._place, lambda: open_shares(gbuffer, xp=np, pixels=self._pixels))
        return ambient_response(self._points, xp=np, open_share=shares)

    def _area(self, light: AreaLight, lights: LightSet) -> Vector:
        """Response to a light: what it would be without shadows, times the share of the light that arrives."""
        whole = self._once(
            "open area", (self._look, shape_of(light)), lambda: area_response(self._points, light, xp=np)
        )
        lit = np.ones_like(self._points.alpha)
        if light.casts_shadow:
            lit = self._once("lit", (self._place, shape_of(light)), lambda: self._unshadowed(light))
        for card in lights.cards:
            lit = lit * card_lit_share(light, card, self._points.position, xp=np)
        return times(whole, lit)

    def _unshadowed(self, light: AreaLight) -> NDArray[np.float32]:
        """Share of a light that bodies let through: in the feed by a map of its own, which all cameras share."""
        layout, viewer = self._scenario.layout, self._renderer.viewer
        region, gbuffer = viewer.feed_region(layout), self._gbuffer
        size_px = map_size_px(gbuffer.height_px * gbuffer.width_px)
        inside = region.holds(self._points.position)
        share = np.ones_like(self._points.alpha)
        for chosen, key, receivers in (
            (inside, (self._scenario.key(Facet.LAYOUT), self._posture), region.corners),
            (~inside, self._seen, self._spots),
        ):
            if chosen.any():
                cast = partial(_shadow_map, viewer, (layout, self._posture), light, receivers, size_px)
                shadow = self._once("shadow", (key, shape_of(light), size_px), cast)
                share[chosen] = lit_share(
                    shadow, _chosen(self._points.position, chosen), _chosen(self._points.frame.z, chosen), xp=np
                )[0]
        return share

    def _spots(self) -> Array:
        """Return points that the camera sees, every so many pixels, shape [n, 3]."""
        gbuffer = self._gbuffer
        some = (0, slice(None, None, _STRIDE_PX), slice(None, None, _STRIDE_PX))
        spots = np.stack([gbuffer.plane(values)[some] for values in gbuffer.position], axis=-1)
        shown = gbuffer.plane(gbuffer.instance)[some] >= 0
        return (spots[shown] if shown.any() else spots.reshape(-1, 3)).astype(np.float64)


def _shadow_map(
    viewer: Viewer,
    scene: tuple[Layout, Posture | None],
    light: AreaLight,
    receivers: Callable[[], Array],
    size_px: int,
) -> ShadowMap:
    layout, posture = scene
    return cast_shadow_map(viewer, layout, light, receivers(), size_px=size_px, posture=posture)


def _chosen(vector: Vector, chosen: NDArray[np.bool_]) -> Vector:
    return vector[0][chosen][None], vector[1][chosen][None], vector[2][chosen][None]


def shape_of(light: AreaLight) -> tuple[bytes, ...]:
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
