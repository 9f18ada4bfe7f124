"""A kind of defect that can be planted into a scene, to measure whether the checks find it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scenegen.scenario import Scenario
from validators.check import CheckContext

Plant = Callable[[Scenario, CheckContext, np.random.Generator], Scenario | None]
"""From a clean scene to one with the defect; None where the scene has nothing to plant it on."""


@dataclass(frozen=True)
class Defect:
    """One kind of defect."""

    name: str
    check: str
    """Name of the check that is meant to find it; others may find it too."""
    doc: str
    plant: Plant
    """May raise `InvalidRecord` where the records themselves refuse the defect: then `check` is `record`."""
