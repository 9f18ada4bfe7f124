"""Run jobs whose scenes may come to rest together on a GPU, or one after the other without one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import typer

from scenegen.cell import Cell
from scenegen.commands.device import warp_settler
from scenegen.parts.catalogue import Catalogue
from scenegen.physics.settle import Settler
from scenegen.side_by_side import SideBySide

AT_ONCE = 512
"""Jobs that wait for their scenes to rest at the same time; each takes a thread."""


@dataclass(frozen=True)
class Together:
    """A way to run jobs, and what they must settle scenes with."""

    device: str
    judge: SideBySide | None
    """Settles the scenes of jobs that run side by side; None where jobs run one after the other."""
    many: Any
    """The `WarpSettler` behind it, which counts."""

    @classmethod
    def on(cls, device: str, cell: Cell, parts: Catalogue, *, settler: Settler) -> Together:
        """Build it for a device; see `warp_settler`."""
        many = warp_settler(device, cell, parts, settler=settler)
        return cls(device, SideBySide(many, at_once=AT_ONCE) if many else None, many)

    def run[T](self, jobs: Iterable[Callable[[], T]]) -> Iterator[T]:
        """Yield the results of jobs in their order."""
        if self.judge is None:
            return (job() for job in jobs)
        return self.judge.run(jobs)

    def say_overflows(self) -> None:
        """Say how many scenes MuJoCo had to settle since contacts overflowed on the device, if there were any."""
        if self.many is not None and self.many.overflowed:
            lost = f"{self.many.overflowed} of {self.many.settled} scenes"
            typer.echo(f"scenegen: contacts overflowed on {self.device} in {lost}; MuJoCo settled these", err=True)
