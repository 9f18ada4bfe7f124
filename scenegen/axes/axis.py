"""What an axis is: a function that varies a scenario, the facets it touches, and its severity in physical units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Protocol

import numpy as np

from scenegen.cell import Cell
from scenegen.errors import VariationFailed
from scenegen.geometry import Array
from scenegen.imaging.mask import MaskCaster
from scenegen.imaging.metered import Metered
from scenegen.imaging.renderer import Renderer
from scenegen.parts.catalogue import Catalogue
from scenegen.physics.settle import Settler
from scenegen.scenario import Facet, Scenario
from scenegen.units import Quantity, Unit

LEVELS = (1, 2, 3, 4, 5)
"""Severity levels; level 0 is the base itself."""

NOTHING = 1e-5
"""Share of a quantity's range below which a departure is rounding."""

EDGE = 0.03
"""Share of a level's band, at either edge, that is not drawn from: measured values keep inside the band."""


class HiddenShare(Protocol):
    """Measures how much of an item the other things in the scene hide from a camera."""

    def __call__(self, scenario: Scenario, item: str) -> float:
        """Return the hidden share of the item's outline, in [0, 1], seen by the overhead camera."""
        ...


@dataclass(frozen=True)
class AxisContext:
    """What an axis may use besides the scenario."""

    cell: Cell
    parts: Catalogue
    settler: Settler
    hidden_share: HiddenShare
    metered: Metered
    """Measures what cameras see of the targets."""

    @classmethod
    def of(cls, cell: Cell, parts: Catalogue, *, settler: Settler | None = None) -> AxisContext:
        """Build everything that axes use from a cell and its parts; a simulator that is there already may be shared."""
        return cls(
            cell=cell,
            parts=parts,
            settler=settler or Settler(cell, parts),
            hidden_share=MaskCaster(cell, parts).hidden_share,
            metered=Metered(cell, Renderer(cell, parts)),
        )

    @property
    def renderer(self) -> Renderer:
        """Renders the cell's scenes, for axes that solve for what a camera sees."""
        return self.metered.renderer


@dataclass(frozen=True)
class Severity:
    """One quantity in which an axis is graded.

    Level L draws the quantity's distance from nominal between (L-1)/5 and L/5 of the way to the limit: levels do
    not overlap and grow. The cell's envelope replaces the default limits. Where only departures beyond `least` count,
    the levels divide the rest of the way.
    """

    name: str
    unit: Unit
    nominal: float
    low: float
    """Default lower limit; equal to `nominal` where the quantity only grows."""
    high: float
    doc: str
    least: float = 0.0
    """Smallest departure from nominal that counts as one: level 1 begins there."""
    graded: bool = True
    """False where the quantity is measured and reported but does not make the level."""


@dataclass(frozen=True)
class Axis:
    """One way in which a scene departs from its base.

    Laws, held by a contract suite: level 0 returns the scenario itself; severity grows with level; only the facets of
    `touches` change; the same rng gives the same bytes; the result passes the specification checks.
    """

    name: str
    doc: str
    touches: frozenset[Facet]
    severities: tuple[Severity, ...]
    aliases: tuple[str, ...]
    """The field's own terms, for example `LIBERO-Plus: Light Conditions`."""
    change: Callable[..., Scenario]
    """`change(scenario, level, *, ctx, rng) -> Scenario` for levels from 1 on; raises `VariationFailed`."""
    measure: Callable[..., tuple[Quantity, ...]]
    """`measure(base, varied, *, ctx) -> severity`: one quantity for each of `severities`, measured, not remembered."""

    def vary(self, scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
        """Return the scenario at a level of this axis; itself at level 0.

        Args:
            scenario: The scenario to depart from.
            level: 0 to 5.
            ctx: What the axis may use.
            rng: Source of randomness.

        Raises:
            VariationFailed: No scene was found at that level; the reason is a short code.
        """
        assert level in (0, *LEVELS)
        if level == 0:
            return scenario
        if not any(directions(s, cell=ctx.cell, axis=self.name) for s in self.severities if s.graded):
            raise VariationFailed(self.name, level, "outside_envelope", "the cell's envelope leaves it no room")
        return self.change(scenario, level, ctx=ctx, rng=rng)

    @property
    def keeps_layout(self) -> bool:
        """True where variants can share one layout (and so one settle and one G-buffer)."""
        return Facet.LAYOUT not in self.touches


def limits(severity: Severity, *, cell: Cell, axis: str) -> tuple[float, float]:
    """Return the least and the greatest value that the cell's envelope, or else the axis itself, allows a quantity."""
    return cell.envelope.get(axis, {}).get(severity.name, (severity.low, severity.high))


def directions(severity: Severity, *, cell: Cell, axis: str) -> tuple[bool, ...]:
    """Return the directions in which a quantity can leave its nominal value: True is upward."""
    low, high = limits(severity, cell=cell, axis=axis)
    rooms = ((False, severity.nominal - low), (True, high - severity.nominal))
    return tuple(upward for upward, room in rooms if room > severity.least)


def band(severity: Severity, level: int, *, cell: Cell, axis: str, upward: bool) -> tuple[float, float]:
    """Return the range of a quantity at a level, inside the cell's envelope.

    Args:
        severity: The quantity.
        level: 1 to 5.
        cell: Its envelope entry `envelope[axis][severity.name]`, if there is one, replaces the default limits.
        axis: Name of the axis.
        upward: Toward the upper limit, or toward the lower one.

    Returns:
        The value nearest to nominal and the value farthest from it.
    """
    low, high = limits(severity, cell=cell, axis=axis)
    start = severity.nominal + (severity.least if upward else -severity.least)
    step = ((high if upward else low) - start) / len(LEVELS)
    return start + step * (level - 1), start + step * level


def draw(
    severity: Severity, level: int, *, cell: Cell, axis: str, rng: np.random.Generator, upward: bool = True
) -> float:
    """Draw a quantity's value at a level, uniformly in its band (see `band`) but for the band's edges."""
    return float(draws(severity, level, (), cell=cell, axis=axis, rng=rng, upward=upward))


def draws(
    severity: Severity,
    level: int,
    shape: tuple[int, ...],
    *,
    cell: Cell,
    axis: str,
    rng: np.random.Generator,
    upward: bool = True,
) -> Array:
    """Draw many values at once, of a shape; as `draw`."""
    near, far = band(severity, level, cell=cell, axis=axis, upward=upward)
    return inside(near, far, shape, rng=rng)


def inside(near: float, far: float, shape: tuple[int, ...] = (), *, rng: np.random.Generator) -> Array:
    """Draw values uniformly between two others, but for the edges of that range."""
    return near + (far - near) * rng.uniform(EDGE, 1.0 - EDGE, shape)


def count_at(severity: Severity, level: int, *, cell: Cell, axis: str) -> int:
    """Return the whole number that stands for a level of a counted quantity; it never falls with the level."""
    return ceil(band(severity, level, cell=cell, axis=axis, upward=True)[1] - 1e-9)


def degree(axis: Axis, quantities: Sequence[Quantity], *, cell: Cell) -> float:
    """Return how far along the way to a limit the farthest graded quantity is: in ((L-1)/5, L/5] at level L."""
    values = {quantity.name: quantity.value for quantity in quantities}
    return max(_share(s, values[s.name], cell, axis.name) for s in axis.severities if s.graded)


def level_reached(axis: Axis, quantities: Sequence[Quantity], *, cell: Cell) -> int:
    """Return the level in whose band measured quantities lie: 0 where nothing departs, 5 also beyond the limit."""
    share = degree(axis, quantities, cell=cell)
    return min(LEVELS[-1], max(0, ceil(len(LEVELS) * share - 1e-6))) if share < float("inf") else LEVELS[-1]


def _share(severity: Severity, value: float, cell: Cell, axis: str) -> float:
    low, high = limits(severity, cell=cell, axis=axis)
    room = (high - severity.nominal if value > severity.nominal else severity.nominal - low) - severity.least
    distance = max(0.0, abs(value - severity.nominal) - severity.least)
    if distance <= NOTHING * (severity.high - severity.low):
        return 0.0
    return distance / room if room > 0 else float("inf")
