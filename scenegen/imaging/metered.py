"""All meters of a scene's targets, for every camera that it has."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

import numpy as np

from scenegen.cell import Cell, Role
from scenegen.imaging.exposure import nominal_gain
from scenegen.imaging.gbuffer import Vector
from scenegen.imaging.measure import Readings, measure
from scenegen.imaging.photo import expose
from scenegen.imaging.renderer import Renderer
from scenegen.nominal import nominal_lights, nominal_sensor, nominal_surfaces
from scenegen.scenario import CameraSensor, Scenario

KEPT = 8
"""Scenes whose readings are kept: checks, axes and what is stored ask for the same ones."""


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
        self._kept: OrderedDict[str, Mapping[str, Readings]] = OrderedDict()

    def read(self, scenario: Scenario) -> Mapping[str, Readings]:
        """Measure a scene.

        Args:
            scenario: A scene of the cell.

        Returns:
            Camera -> readings of one image, of the targets in the feed in the layout's order.
        """
        kept = self._kept.get(scenario.id)
        if kept is None:
            kept = self._kept[scenario.id] = self._read(scenario)
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return kept

    def _read(self, scenario: Scenario) -> dict[str, Readings]:
        slots = self._cell.slots
        targets = [i.name for i in scenario.layout.items if slots[i.name].role is Role.TARGET and i.zone == "feed"]
        nominal = scenario.varied(
            lights=nominal_lights(self._cell),
            surfaces=nominal_surfaces(self._cell, scenario.layout, self.renderer.parts),
            sensor=nominal_sensor(self._cell),
        )
        found: dict[str, Readings] = {}
        for camera in scenario.cameras.cameras:
            (here, sensor), (plain, _) = (self._exposed(one, camera.name) for one in (scenario, nominal))
            gbuffer = self.renderer.gbuffer(scenario, camera.name)
            found[camera.name] = measure(gbuffer, here, plain, [sensor], xp=np).only(targets)
        return found

    def _exposed(self, scenario: Scenario, camera: str) -> tuple[Vector, CameraSensor]:
        sensor = next((one for one in scenario.sensor.sensors if one.camera == camera), CameraSensor(camera=camera))
        red, green, blue = np.moveaxis(self.renderer.radiance(scenario, camera), -1, 0)[:, None]
        return expose((red, green, blue), [sensor], nominal=self._gain, xp=np), sensor
