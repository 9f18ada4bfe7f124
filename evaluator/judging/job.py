"""What is to be done in a scene, as judging sees it: which item belongs where, and where it lay at the start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scenegen.cell import Cell, Role
from scenegen.geometry import Array, Pose
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Part
from scenegen.relations import ASSIGNED, related, scene_graph
from scenegen.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Job:
    """A scenario as a list of items, in the order of its layout."""

    cell: Cell
    scenario: Scenario
    items: tuple[str, ...]
    parts: tuple[Part, ...]
    roles: tuple[Role, ...]
    wanted: tuple[frozenset[str], ...]
    """Bins that the sort rules name for each target: one, if the rules are decidable; none for other items."""
    radii_m: Array
    """Greatest distance of each part's surface from its frame's origin [m], shape [n]."""

    @classmethod
    def of(cls, scenario: Scenario, cell: Cell, parts: Catalogue) -> Job:
        """Read the job from a scenario.

        Raises:
            UnknownName: An item's part is not in the catalogue.
        """
        used = {item.part: parts[item.part] for item in scenario.layout.items}
        graph = scene_graph(scenario, cell, labels={name: part.label for name, part in used.items()})
        items = tuple(item.name for item in scenario.layout.items)
        own = tuple(used[item.part] for item in scenario.layout.items)
        return cls(
            cell=cell,
            scenario=scenario,
            items=items,
            parts=own,
            roles=tuple(cell.slots[name].role for name in items),
            wanted=tuple(frozenset(related(graph, name, ASSIGNED)) for name in items),
            radii_m=np.array([part.radius_m for part in own]),
        )

    @property
    def bins(self) -> tuple[str, ...]:
        """Names of the cell's bins."""
        return tuple(one.name for one in self.cell.bins)

    @property
    def fixtures(self) -> dict[str, Pose]:
        """Where feed and bins stand in this scene."""
        return {fixture.name: fixture.pose_to_world for fixture in self.scenario.layout.fixtures}

    @property
    def sway_m(self) -> float:
        """How far the table shakes to either side [m]."""
        return self.scenario.motion.vibration_amplitude_m

    @property
    def sway_m_s(self) -> float:
        """Largest speed of the shaking table [m/s]: a part that rests on it moves as fast."""
        return 2 * np.pi * self.scenario.motion.vibration_frequency_hz * self.sway_m
