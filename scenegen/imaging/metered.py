"""All meters of a scene, for every camera that it has."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scenegen.cell import Cell
from scenegen.imaging.exposure import nominal_gain
from scenegen.imaging.gbuffer import Vector
from scenegen.imaging.measure import Readings, measure
from scenegen.imaging.photo import expose
from scenegen.imaging.renderer import Renderer
from scenegen.nominal import nominal_lights, nominal_sensor, nominal_surfaces
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import CameraSensor, Scenario


class Metered:
    """Measures what the cameras of one cell's scenes see of each thing.

    Colours are compared with those of the same view under the cell's nominal light, looks and sensor.

    Example:
        >>> for camera, readings in Metered(cell, parts).read(scenario):  # doctest: +SKIP
        ...     print(camera, readings.meters("hex_nut_m8_00").saturated_share)
    """

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self._cell = cell
        self._parts = parts
        self._renderer = Renderer(cell, parts)
        self._gain = nominal_gain(cell)

    def read(self, scenario: Scenario) -> Iterator[tuple[str, Readings]]:
        """Measure a scene; yields each camera's name with the readings of one image.

        Args:
            scenario: A scene of the cell.
        """
        nominal = scenario.varied(
            lights=nominal_lights(self._cell),
            surfaces=nominal_surfaces(self._cell, scenario.layout, self._parts),
            sensor=nominal_sensor(self._cell),
        )
        for camera in scenario.cameras.cameras:
            (here, sensor), (plain, _) = (self._exposed(one, camera.name) for one in (scenario, nominal))
            gbuffer = self._renderer.gbuffer(scenario, camera.name)
            yield camera.name, measure(gbuffer, here, plain, [sensor], xp=np)

    def _exposed(self, scenario: Scenario, camera: str) -> tuple[Vector, CameraSensor]:
        sensor = next((one for one in scenario.sensor.sensors if one.camera == camera), CameraSensor(camera=camera))
        red, green, blue = np.moveaxis(self._renderer.radiance(scenario, camera), -1, 0)[:, None]
        return expose((red, green, blue), [sensor], nominal=self._gain, xp=np), sensor
