"""Let a layout come to rest, and say how far it moved."""

from __future__ import annotations

from dataclasses import dataclass

from scenegen.cell import Cell
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Layout, Matter


@dataclass(frozen=True)
class Settled:
    """How a layout came to rest."""

    layout: Layout
    """The same items at their rest poses."""
    drift_m: dict[str, float]
    """Distance of each item's origin from where it started [m]."""
    rotation_rad: dict[str, float]
    """Rotation of each item from where it started [rad]."""
    speed_m_s: float
    """Largest speed of any item at the end [m/s]; an angular speed counts at the part's radius."""
    penetration_m: float
    """Deepest contact penetration at the end [m]."""
    finite: bool
    """False if any state became NaN or infinite."""
    seconds: float
    """Simulated time until rest or the time limit [s]."""


class Settler:
    """One compiled model of a cell's inventory, into which any layout of the cell can be loaded."""

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        raise RuntimeError("being written")

    def settle(self, layout: Layout, matter: Matter, *, limit_s: float = 2.0) -> Settled:
        """Simulate until everything rests."""
        raise RuntimeError("being written")
