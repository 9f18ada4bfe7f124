"""Render a cell's scenarios on the processor; what a change does not touch is not computed again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenegen.cell import Cell
from scenegen.facet import Facet
from scenegen.geometry import Array
from scenegen.imaging.ambient import open_shares
from scenegen.imaging.card_shadow import card_lit_share
from scenegen.imaging.caster import GBufferCaster
from scenegen.imaging.coat import coats_of
from scenegen.imaging.gbuffer import GBuffer, Vector, in_one_row
from scenegen.imaging.kept import Kept
from scenegen.imaging.light_set import AreaLight, Card, LightSet, together
from scenegen.imaging.robot_shape import Posture, RobotShape
from scenegen.imaging.scene_lights import scene_lights
from scenegen.imaging.scene_surfaces import scene_surfaces
from scenegen.imaging.shading import AmbientResponse, Points, ambient_response, area_response, points_of
from scenegen.imaging.shadow_map import ShadowMap, cast_shadow_map, lit_share, map_size_px
from scenegen.imaging.vectors import times
from scenegen.imaging.view import Viewer
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Scenario

SEEN = (Facet.LAYOUT, Facet.MOTION, Facet.CAMERAS)
"""Facets that decide what a camera sees before any light falls on it."""
SHINING = (Facet.LAYOUT, Facet.SURFACES, Facet.LIGHTS)
"""Facets that decide which light falls on the scene."""
KEPT = 24
"""Results of each kind that are kept: G-buffers, shadows, responses to lights."""
_STRIDE_PX = 8
"""Every so many rows and columns a pixel says where shadows may fall."""

Pixels = NDArray[np.int64]
Views = Mapping[str, Pixels | None]
"""Camera -> places in the row of all its pixels; None: all of them."""
Shape = tuple[bytes, ...]
"""Place and size of a light, without its luminance."""


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
        place = _Place(self, scenario, {camera: None}, posture)
        seen = _Shot(self, scenario, place).radiance(self._lights(scenario))
        return seen.T.reshape(gbuffer.height_px, gbuffer.width_px, 3)

    def radiance_at(self, scenario: Scenario, pixels: Mapping[str, Pixels]) -> dict[str, NDArray[np.float32]]:
        """Return the luminance of some pixels alone by linear colour [cd/m²]; those of all cameras are shaded together.

        Args:
            scenario: The scene.
            pixels: Camera -> places in the row of all its pixels, `row * width + column`, shape [k]; at least one
                camera.

        Returns:
            Camera -> luminance, shape [3, k]; see `radiance`.

        Raises:
            UnknownName: The scenario has no such camera.
        """
        key = _place_key(scenario, pixels)
        place = self.once("place", key, lambda: _Place(self, scenario, pixels))
        shot = self.once("shot", (scenario.key(Facet.SURFACES), key), lambda: _Shot(self, scenario, place))
        seen = shot.radiance(self._lights(scenario))
        ends = np.cumsum([len(places) for places in pixels.values()])
        return dict(zip(pixels, np.split(seen, ends[:-1], axis=1), strict=True))

    def _lights(self, scenario: Scenario) -> LightSet:
        return self.once("lights", scenario.key(*SHINING), lambda: scene_lights(scenario))

    def once[T](self, kind: str, key: Hashable, make: Callable[[], T]) -> T:
        """Return what is kept under a key, or make it; of each kind the latest used are kept."""
        return self._kept.setdefault(kind, Kept(self._keep)).get(key, make)

    def once_each[T](self, kind: str, keys: Sequence[Hashable], make: Callable[[list[int]], Sequence[T]]) -> list[T]:
        """Return what is kept under several keys; `make` is told which of them are missing and makes these together."""
        return self._kept.setdefault(kind, Kept(self._keep)).each(keys, make)


class _Place:
    """Pixels of some cameras' views of a layout, in one row: what shades them, whatever they look like."""

    def __init__(self, renderer: Renderer, scenario: Scenario, views: Views, posture: Posture | None = None) -> None:
        self._renderer, self._scenario, self._views, self._posture = renderer, scenario, views, posture
        self.key = _place_key(scenario, views, posture)

    @cached_property
    def row(self) -> GBuffer:
        """What they show."""
        parts = [gbuffer if pixels is None else gbuffer.part(pixels) for _, gbuffer, pixels in self._each()]
        return in_one_row(parts, xp=np)

    def _each(self) -> Iterator[tuple[str, GBuffer, Pixels | None]]:
        for camera, pixels in self._views.items():
            yield camera, self._renderer.gbuffer(self._scenario, camera, self._posture), pixels

    def open_share(self) -> NDArray[np.float32]:
        """Return the share of its surroundings that each sees, shape [1, k]."""
        shares = (open_shares(gbuffer, xp=np, pixels=pixels) for _, gbuffer, pixels in self._each())
        return self._renderer.once("open", self.key, lambda: np.concatenate(list(shares), axis=1))

    def lit(self, light: AreaLight, cards: Sequence[Card]) -> NDArray[np.float32]:
        """Return the share of a light that arrives, shape [1, k]."""
        share = np.ones_like(self.row.depth)
        if light.casts_shadow:
            share = self._renderer.once("lit", (self.key, shape_of(light)), lambda: self._unshadowed(light))
        for card in cards:
            share = share * card_lit_share(light, card, self.row.position, xp=np)
        return share

    def _unshadowed(self, light: AreaLight) -> NDArray[np.float32]:
        """Share of a light that bodies let through, by the maps that hold the pixels."""
        share = np.ones_like(self.row.depth)
        for receivers in self._receivers:
            cast = partial(self._shadow_map, light, receivers)
            key = (receivers.key, self._posture, shape_of(light), receivers.size_px)
            shadow = self._renderer.once("shadow", key, cast)
            position, normal = (_chosen(vector, receivers.chosen) for vector in (self.row.position, self.row.normal))
            share[:, receivers.chosen] = lit_share(shadow, position, normal, xp=np)
        return share

    def _shadow_map(self, light: AreaLight, receivers: _Receivers) -> ShadowMap:
        viewer, layout, size_px = self._renderer.viewer, self._scenario.layout, receivers.size_px
        return cast_shadow_map(viewer, layout, light, receivers.spots(), size_px=size_px, posture=self._posture)

    @cached_property
    def _receivers(self) -> list[_Receivers]:
        """Sort the pixels: those in the feed share maps between all cameras, the others have some of their camera's."""
        region = self._renderer.viewer.feed_region(self._scenario.layout)
        inside = region.holds(self.row.position)[0]
        gbuffers = {camera: gbuffer for camera, gbuffer, _ in self._each()}
        sizes = np.array([map_size_px(one.height_px * one.width_px) for one in gbuffers.values()])
        counts = [one.depth.shape[1] if pixels is None else len(pixels) for _, one, pixels in self._each()]
        view = np.repeat(np.arange(len(counts)), counts)
        feed, seen = self._scenario.key(Facet.LAYOUT), self._scenario.key(*SEEN)
        found = [
            _Receivers(inside & (sizes == size)[view], (feed,), region.corners, size)
            for size in sorted(set(sizes.tolist()))
        ]
        for index, (camera, gbuffer) in enumerate(gbuffers.items()):
            chosen = ~inside & (view == index)
            found.append(_Receivers(chosen, (seen, camera), partial(_spots, gbuffer), int(sizes[index])))
        return [one for one in found if one.chosen.any()]


class _Shot:
    """A place with its surfaces, about to be shaded."""

    def __init__(self, renderer: Renderer, scenario: Scenario, place: _Place) -> None:
        self._renderer, self._once = renderer, renderer.once
        self._scenario, self._place = scenario, place
        self.key = (scenario.key(Facet.SURFACES), place.key)

    @cached_property
    def _points(self) -> Points:
        row = self._place.row
        places = {name: index for index, name in enumerate(row.names)}
        known = coats_of(self._scenario, self._renderer.cell)
        coats = {places[name]: coat for name, coat in known.items() if name in places}
        return points_of(row, scene_surfaces(self._scenario, row.names), xp=np, coats=coats)

    def radiance(self, lights: LightSet) -> NDArray[np.float32]:
        """Mix the responses to all lights, each computed when it is first asked for; shape [3, k]."""
        shapes = tuple(shape_of(light) for light in lights.areas)
        stack = self._once("stack", (self.key, shapes, _cards_key(lights)), lambda: self._responses(lights, shapes))
        return np.stack([bright @ one for bright, one in zip(_brightness(lights), stack, strict=True)])

    def _responses(self, lights: LightSet, shapes: tuple[Shape, ...]) -> NDArray[np.float32]:
        """Stack what pixels return of surroundings and lights at unit luminance, shape [3, 3 + lights, k]."""
        around = self._once("ambient", self.key, self._around)
        whole = self._renderer.once_each(
            "area",
            [(self.key, shape) for shape in shapes],
            lambda new: self._unshaded([lights.areas[one] for one in new]),
        )
        areas = [
            times(response, self._place.lit(light, lights.cards))
            for light, response in zip(lights.areas, whole, strict=True)
        ]
        each = (around.floor, around.wall, around.ceiling, *areas)
        return np.stack([np.concatenate([one[channel] for one in each]) for channel in range(3)])

    def _around(self) -> AmbientResponse:
        return ambient_response(self._points, xp=np, open_share=self._place.open_share())

    def _unshaded(self, lights: Sequence[AreaLight]) -> list[Vector]:
        """Return the responses to lights that nothing hides."""
        red, green, blue = area_response(self._points, together(lights), xp=np)
        return [(red[one : one + 1], green[one : one + 1], blue[one : one + 1]) for one in range(len(lights))]


def _place_key(scenario: Scenario, views: Views, posture: Posture | None = None) -> Hashable:
    chosen = ((camera, None if pixels is None else pixels.tobytes()) for camera, pixels in views.items())
    return (scenario.key(*SEEN), posture, *chosen)


class _Receivers(NamedTuple):
    """Pixels whose shadows are looked up in one map a light."""

    chosen: NDArray[np.bool_]
    """Which pixels of the row, shape [k]."""
    key: tuple[str, ...]
    """What decides what the maps span."""
    spots: Callable[[], Array]
    """Points that the maps span [m], world frame, shape [n, 3]."""
    size_px: int
    """Pixels along each side of the maps."""


def _spots(gbuffer: GBuffer) -> Array:
    """Return points that a camera sees, every so many pixels, shape [n, 3]."""
    some = (0, slice(None, None, _STRIDE_PX), slice(None, None, _STRIDE_PX))
    spots = np.stack([gbuffer.plane(values)[some] for values in gbuffer.position], axis=-1)
    shown = gbuffer.plane(gbuffer.instance)[some] >= 0
    return (spots[shown] if shown.any() else spots.reshape(-1, 3)).astype(np.float64)


def _chosen(vector: Vector, chosen: NDArray[np.bool_]) -> Vector:
    return vector[0][:, chosen], vector[1][:, chosen], vector[2][:, chosen]


def shape_of(light: AreaLight) -> Shape:
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
