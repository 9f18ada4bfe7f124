"""Pictures to learn from: nominal scenes at all stages of emptiness, as the cell's camera shows them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.vision.labels import Labels, labels_of
from evaluator.vision.subject import CAMERA, Subject
from scenegen.base import sample_base
from scenegen.cell import Cell
from scenegen.imaging.exposure import nominal_gain
from scenegen.imaging.photographer import taken
from scenegen.imaging.renderer import Renderer
from scenegen.nominal import nominal_scenario
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Scenario
from scenegen.streams import stream

LEARN, HELD_OUT = "learn", "held out"
"""What pictures are for: those that are held out are of other scenes."""


@dataclass(frozen=True, eq=False)
class Picture:
    """One image and what a net shall say of it."""

    image: NDArray[np.uint8]
    """sRGB, shape [h, w, 3]."""
    labels: Labels


class PictureMaker:
    """Photographs scenes of one cell from its overhead camera and labels them.

    Args:
        cell: The cell.
        parts: Its parts.

    Raises:
        UnknownName: The cell has no overhead camera.
    """

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self.subject = Subject.of(cell, parts)
        self._cell, self._parts = cell, parts
        self._renderer, self._gain = Renderer(cell, parts), nominal_gain(cell)

    def nominal(self, seed: int, index: int, *, use: str = LEARN) -> tuple[Scenario, Picture]:
        """Make one picture of a nominal scene: the same for the same seed, index and use."""
        scenario = partly_sorted(self._cell, self._parts, rng=stream(seed, "vision", use, index))
        return scenario, self.picture(scenario)

    def picture(self, scenario: Scenario) -> Picture:
        """Photograph a scene as its sensor takes it, and label it."""
        camera = next(one for one in scenario.cameras.cameras if one.name == CAMERA)
        seen = self._renderer.radiance(scenario, CAMERA)
        image = taken(seen, scenario, camera, nominal=self._gain)
        gbuffer = self._renderer.gbuffer(scenario, CAMERA)
        labels = labels_of(scenario, gbuffer, camera, cell=self._cell, parts=self._parts, subject=self.subject)
        return Picture(np.ascontiguousarray(image), labels)


def partly_sorted(cell: Cell, parts: Catalogue, *, rng: np.random.Generator) -> Scenario:
    """Sample a nominal scene of which some parts, or none, or all were taken already."""
    base = sample_base(cell, parts, rng=rng)
    items = base.layout.items
    left = rng.permutation(len(items))[: int(rng.integers(len(items) + 1))]
    layout = base.layout.replaced(items=tuple(items[index] for index in sorted(left.tolist())))
    return nominal_scenario(cell, parts, layout, base.task)
