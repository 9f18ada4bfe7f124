"""What a check is: a function from a scenario to findings, with a name, a version, limits and what it depends on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import networkx as nx

from scenegen.axes.axis import AxisContext
from scenegen.cell import Cell
from scenegen.imaging.mask import MaskCaster
from scenegen.imaging.metered import Metered
from scenegen.imaging.renderer import Renderer
from scenegen.parts.catalogue import Catalogue
from scenegen.physics.contacts import ContactFinder
from scenegen.physics.settle import Settler
from scenegen.physics.settling import Settles
from scenegen.posed import Posed
from scenegen.record import Record
from scenegen.relations import bins_of, scene_graph
from scenegen.robot import Arm
from scenegen.scenario import Facet, Layout, Scenario
from scenegen.spoken import Vocabulary
from scenegen.units import Unit
from scenegen.verdict import Basis, Finding, Tier
from validators.reach import ReachMap

Limits = Mapping[str, float]

INCOHERENT = frozenset({"wrong_cell", "wrong_asset", "unknown", "missing", "duplicate", "wrong_part"})
"""Codes of findings after which a scenario is no scene of the cell: later tiers could not even look at it."""


@dataclass(frozen=True)
class CheckContext:
    """What checks may use besides the scenario; built once a process and cell."""

    cell: Cell
    parts: Catalogue
    settler: Settler
    contacts: ContactFinder
    masks: MaskCaster
    metered: Metered
    """Measures what cameras see of the targets."""
    arm: Arm
    judge: Settles | None = None
    """Settles scenes for the check `settled`; without it `settler` does. What becomes part of a scene is always the
    latter's."""

    @property
    def judging(self) -> Settles:
        """What settles scenes for the check `settled`."""
        return self.judge or self.settler

    @cached_property
    def for_axes(self) -> AxisContext:
        """What axes use, shared with the checks."""
        return AxisContext(self.cell, self.parts, self.settler, self.masks.hidden_share, self.metered)

    @cached_property
    def reach(self) -> ReachMap:
        """Where the arm reaches from above."""
        return ReachMap(self.arm)

    @cached_property
    def labels(self) -> dict[str, str]:
        """Semantic class of each part of the inventory."""
        return {item.part: self.parts[item.part].label for item in self.cell.inventory}

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What instructions of the cell may speak of."""
        return Vocabulary.of(self.cell, self.parts)

    @cached_property
    def _last(self) -> dict[str, tuple[tuple[Record, ...], Any]]:
        """What several checks of one scene share, with the records that it was made from."""
        return {}

    def posed(self, layout: Layout) -> Posed:
        """Place a layout's items, at least one; the last layout is remembered."""
        return self._shared("posed", (layout,), lambda: Posed.of(layout.items, self.parts))

    def bins(self, scenario: Scenario) -> dict[str, tuple[str, ...]]:
        """Return the bins of each part of which a target is present; the last scene is remembered."""
        return self._shared("bins", (scenario.layout, scenario.task), lambda: bins_of(self.graph(scenario)))

    def graph(self, scenario: Scenario) -> nx.MultiDiGraph:
        """Return the scene graph, without what rests on what; the last scene's is remembered."""
        made_from = (scenario.layout, scenario.task)
        return self._shared("graph", made_from, lambda: scene_graph(scenario, self.cell, labels=self.labels))

    def _shared[T](self, what: str, made_from: tuple[Record, ...], make: Callable[[], T]) -> T:
        kept = self._last.get(what)
        if kept is None or any(old is not new for old, new in zip(kept[0], made_from, strict=True)):
            kept = self._last[what] = (made_from, make())
        return kept[1]

    @classmethod
    def of(cls, cell: Cell, parts: Catalogue) -> CheckContext:
        """Build everything that checks use from a cell and its parts."""
        return cls(
            cell=cell,
            parts=parts,
            settler=Settler(cell, parts),
            contacts=ContactFinder(cell, parts),
            masks=MaskCaster(cell, parts),
            metered=Metered(cell, Renderer(cell, parts)),
            arm=Arm(cell.robot),
        )


@dataclass(frozen=True)
class Proof:
    """Findings together with how they are known, for a check that need not always measure."""

    findings: tuple[Finding, ...]
    basis: Basis


@dataclass(frozen=True)
class Check:
    """One check. `run(scenario, ctx, limits)` yields findings; none means passed.

    A result is reused for scenarios of the same cell and assets whose `depends` facets are equal.
    """

    name: str
    version: int
    tier: Tier
    depends: frozenset[Facet]
    doc: str
    run: Callable[[Scenario, CheckContext, Limits], Iterable[Finding] | Proof]
    limits: Limits = field(default_factory=dict)
    """Named thresholds with the default values; the unit is in the name (`drift_m`)."""


def finding(
    check: str,
    code: str,
    subjects: Iterable[str],
    sentence: str,
    *,
    value: float | None = None,
    limit: float | None = None,
    unit: Unit = Unit.NONE,
) -> Finding:
    """Build a finding; a value that is not finite is left to the sentence.

    Args:
        check: Name of the check.
        code: Short code for histograms.
        subjects: Names of what is concerned.
        sentence: What is wrong, with the numbers, and what would be accepted.
        value: The measured value.
        limit: The limit that it broke.
        unit: Unit of both.
    """
    shown = value if value is not None and math.isfinite(value) else None
    return Finding(
        check=check, code=code, subjects=tuple(subjects), value=shown, limit=limit, unit=unit, sentence=sentence
    )
