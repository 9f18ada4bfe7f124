"""What a check is: a function from a scenario to findings, with a name, a version, limits and what it depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from scenegen.cell import Cell
from scenegen.imaging.mask import MaskCaster
from scenegen.parts.catalogue import Catalogue
from scenegen.physics.contacts import ContactFinder
from scenegen.physics.settle import Settler
from scenegen.robot import Arm
from scenegen.scenario import Facet, Scenario
from scenegen.verdict import Finding, Tier


@dataclass(frozen=True)
class CheckContext:
    """What checks may use besides the scenario; built once a process and cell."""

    cell: Cell
    parts: Catalogue
    settler: Settler
    contacts: ContactFinder
    masks: MaskCaster
    arm: Arm


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
    run: Callable[[Scenario, CheckContext, Mapping[str, float]], Iterable[Finding]]
    limits: Mapping[str, float] = field(default_factory=dict)
    """Named thresholds with the default values; the unit is in the name (`drift_m`)."""
