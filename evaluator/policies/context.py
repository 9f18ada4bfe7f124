"""What a policy may know when it is built."""

from __future__ import annotations

from dataclasses import dataclass

from scenegen.cell import Cell
from scenegen.parts.catalogue import Catalogue


@dataclass(frozen=True, eq=False)
class PolicyContext:
    """The cell that it will work in, and the run's seed."""

    cell: Cell
    parts: Catalogue
    """The parts of its inventory."""
    seed: int = 0
