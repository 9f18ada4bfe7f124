"""What each pixel shows, by the world's prim: a table that is built at once for any number of worlds.

Isaac Lab's own table looks each shape of each world up on the stage, and for shapes that only the solver knows tries
every asset's path as a pattern: minutes for thousands of worlds.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import warp as wp
from isaaclab_newton.renderers import NewtonWarpRenderer
from isaaclab_newton.renderers.newton_warp_renderer import RenderData
from isaaclab_newton.renderers.segmentation import NewtonSegmentationMapping

from evaluator.isaac.instances import numbered

IDS = "instance_segmentation"
"""What Isaac Lab calls the number of what a pixel shows."""


class NumberRenderer(NewtonWarpRenderer):
    """Isaac Lab's renderer on Warp with such a table; prims of one name have one number in all worlds."""

    def create_render_data(self, spec: Any) -> RenderData:
        """Make what one camera draws into."""
        sensor: Any = self.newton_sensor
        return RenderData(sensor, spec, seg_mapper=self._table, renderer_cfg=self.cfg)

    @cached_property
    def _table(self) -> Any:
        sensor: Any = self.newton_sensor
        return _Numbers(sensor.model)


class _Numbers:
    """Stands where Isaac Lab's `NewtonSegmentationMapper` does."""

    def __init__(self, model: Any) -> None:
        numbers, labels = numbered(model.shape_label)
        table = wp.array(numbers, dtype=wp.uint32, device=model.device)
        self._mapping = NewtonSegmentationMapping(IDS, False, len(numbers), table, None, {"idToLabels": labels})

    def get_mapping(self, kind: str, colorize: bool) -> NewtonSegmentationMapping:
        """Return the table."""
        return self._mapping
