"""What a policy may know when it is built."""

from __future__ import annotations

from dataclasses import dataclass

from scenegen.cell import Cell


@dataclass(frozen=True, eq=False)
class PolicyContext:
    """The cell that it will work in, and the run's seed."""

    cell: Cell
    seed: int = 0
