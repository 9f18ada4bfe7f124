"""All meters of a scene's targets, for every camera that it has."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from scenegen.cell import Cell, Role
from scenegen.imaging.exposure import nominal_gain
from scenegen.imaging.kept import Kept
from scenegen.imaging.measure import Readings, measure_scopes
from scenegen.imaging.photo import expose, expose_points, is_pointwise
from scenegen.imaging.renderer import SEEN, Renderer
from scenegen.imaging.scope import Places, Scope, scope_of
from scenegen.nominal import nominal_cameras, nominal_lights, nominal_sensor, nominal_surfaces
from scenegen.record import Record
from scenegen.scenario import Cameras, CameraSensor, Facet, Scenario

Floats = NDArray[np.float32]

OPTICAL = (Facet.LIGHTS, Facet.SURFACES, Facet.SENSOR)
"""Facets that change what is seen and not where anything is."""
VISIBLE = (Facet.LAYOUT, Facet.MOTION, Facet.CAMERAS, *OPTICAL)
"""Facets that decide what cameras show."""
SCENES = 16
"""Readings and exposed pixels of scenes that are kept: checks, axes and what is stored ask for the same ones."""
VIEWS = 24
"""Scopes and nominal values that are kept, of each camera of each layout."""
_NOTHING = np.zeros((3, 0), np.float32)


class Metered:
    """Measures what the cameras of one cell's scenes see of each target in the feed.

    Colours are compared with those of the same view under the cell's nominal light, looks and sensor.

    Example:
        >>> metered = Metered(cell, Renderer(cell, parts))  # doctest: +SKIP
        >>> metered.read(scenario)["overhead"].meters("hex_nut_m8_00").saturated_share  # doctest: +SKIP
    """

    def __init__(self, cell: Cell, renderer: Renderer) -> None:
        self._cell = cell
        self.renderer = renderer
        self._gain = nominal_gain(cell)
        self._scenes = Kept(SCENES)
        self._views = Kept(VIEWS)

    def read(self, scenario: Scenario) -> Mapping[str, Readings]:
        """Measure a scene.

        Args:
            scenario: A scene of the cell.

        Returns:
            Camera -> readings of one image, of the targets in the feed in the layout's order.
        """
        return self._scenes.get(("read", scenario.key(*VISIBLE)), lambda: self._read(scenario))

    def _read(self, scenario: Scenario) -> dict[str, Readings]:
        cameras = [camera.name for camera in scenario.cameras.cameras]
        readings = measure_scopes([self._view(scenario, camera) for camera in cameras])
        return {camera: readings.image(index) for index, camera in enumerate(cameras)}

    def _view(self, scenario: Scenario, camera: str) -> tuple[Scope, Floats, Floats, CameraSensor]:
        scope, sensor = self.scope(scenario, camera), sensor_of(scenario, camera)
        if not scope.inside:
            return scope, _NOTHING, _NOTHING, sensor
        return scope, self.exposed(scenario, camera), self.nominal(scenario, camera), sensor

    def scope(self, scenario: Scenario, camera: str) -> Scope:
        """Return the pixels of the targets in the feed and beside them; kept for scenes of one layout."""

        def make() -> Scope:
            slots = self._cell.slots
            items = scenario.layout.items
            targets = [item.name for item in items if slots[item.name].role is Role.TARGET and item.zone == "feed"]
            return scope_of(self.renderer.gbuffer(scenario, camera), targets)

        return self._views.get((scenario.key(*SEEN), camera, "scope"), make)

    def exposed(self, scenario: Scenario, camera: str, pixels: Places | None = None) -> Floats:
        """Return the linear values of pixels before noise and clipping, shape [3, k]; 1 saturates.

        Args:
            scenario: A scene of the cell.
            camera: Name of one of its cameras.
            pixels: Places in the row of all pixels, `row * width + column`, shape [k]; those of the scope if not given.
        """
        if pixels is not None:
            return self._exposed(scenario, {camera: pixels})[camera]
        return self._scenes.get(("exposed", scenario.key(*VISIBLE)), lambda: self._exposed_scopes(scenario))[camera]

    def _exposed_scopes(self, scenario: Scenario) -> dict[str, Floats]:
        cameras = [camera.name for camera in scenario.cameras.cameras]
        return self._exposed(scenario, {camera: self.scope(scenario, camera).pixels for camera in cameras})

    def _exposed(self, scenario: Scenario, places: Mapping[str, Places]) -> dict[str, Floats]:
        """Expose pixels of some cameras; where the optics spread light, from a whole image."""
        sensors = {camera: sensor_of(scenario, camera) for camera in places}
        alone = {camera: pixels for camera, pixels in places.items() if is_pointwise(sensors[camera])}
        light = self.renderer.radiance_at(scenario, alone) if alone else {}
        return {
            camera: self._exposed_points(scenario, light[camera], sensors[camera], pixels)
            if camera in light
            else self._exposed_image(scenario, sensors[camera])[:, pixels]
            for camera, pixels in places.items()
        }

    def _exposed_points(self, scenario: Scenario, light: Floats, sensor: CameraSensor, pixels: Places) -> Floats:
        gbuffer = self.renderer.gbuffer(scenario, sensor.camera)
        size_px = (gbuffer.height_px, gbuffer.width_px)
        return expose_points(light, sensor, pixels, size_px=size_px, nominal=self._gain)

    def _exposed_image(self, scenario: Scenario, sensor: CameraSensor) -> Floats:
        red, green, blue = np.moveaxis(self.renderer.radiance(scenario, sensor.camera), -1, 0)[:, None]
        image = expose((red, green, blue), [sensor], nominal=self._gain, xp=np)
        return np.stack([plane.reshape(-1) for plane in image])

    def nominal(self, scenario: Scenario, camera: str) -> Floats:
        """Return the same under the cell's nominal light, looks and sensor; kept for scenes of one layout."""

        def make() -> Floats:
            return self.exposed(self.unvaried(scenario, *OPTICAL), camera)

        return self._views.get((scenario.key(*SEEN), camera, "nominal"), make)

    def unvaried(self, scenario: Scenario, *facets: Facet) -> Scenario:
        """Return a scene with some of its lights, surfaces, sensor and cameras as the cell has them."""
        return scenario.varied(**{facet.value: self.nominal_facet(scenario, facet) for facet in facets})

    def nominal_facet(self, scenario: Scenario, facet: Facet) -> Record:
        """Return a scene's lights, surfaces, sensor or cameras as the cell has them."""
        match facet:
            case Facet.LIGHTS:
                return nominal_lights(self._cell)
            case Facet.SURFACES:
                return nominal_surfaces(self._cell, scenario.layout, self.renderer.parts)
            case Facet.SENSOR:
                return nominal_sensor(self._cell)
            case Facet.CAMERAS:
                return self.nominal_cameras(scenario)
        raise TypeError(f"{facet} is no optical facet")

    def nominal_cameras(self, scenario: Scenario) -> Cameras:
        """Return the cell's cameras, those on the flange where a scene's arm begins."""
        motion = scenario.motion
        return self._views.get(("cameras", motion.content_id), lambda: nominal_cameras(self._cell, motion))


def sensor_of(scenario: Scenario, camera: str) -> CameraSensor:
    """Return the sensor of a scenario's camera; a nominal one where it names none."""
    return next((one for one in scenario.sensor.sensors if one.camera == camera), CameraSensor(camera=camera))
