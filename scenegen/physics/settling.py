"""What can settle scenes: one at a time as anything does, or many side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from scenegen.errors import SceneGenError
from scenegen.physics.settle import Settled
from scenegen.scenario import Layout, Matter


class Settles(Protocol):
    """Lets a layout come to rest, and says how far it moved; as `Settler` does."""

    @property
    def engine(self) -> str:
        """Simulators and versions that decide its results, for example `mujoco 3.12.0`."""
        ...

    def settle(self, layout: Layout, matter: Matter, *, limit_s: float = 2.0, nudge: bool = True) -> Settled:
        """Simulate until everything rests; see `Settler.settle`."""
        ...


@dataclass(frozen=True)
class SettleRequest:
    """One scene that shall come to rest; the arguments of `Settles.settle`."""

    layout: Layout
    matter: Matter
    limit_s: float = 2.0
    nudge: bool = True


SettleAnswer = Settled | SceneGenError
"""How a scene came to rest, or why it could not be simulated."""


class SettlesMany(Settles, Protocol):
    """Settles many scenes side by side: requests go in, and answers come out as they are ready."""

    def submit(self, ticket: int, request: SettleRequest) -> None:
        """Take a request.

        Args:
            ticket: Names the request in the answers; not that of a request that is still open.
            request: The scene.
        """
        ...

    def advance(self) -> list[tuple[int, SettleAnswer]]:
        """Simulate a little; return the tickets and answers of what has come to rest meanwhile."""
        ...

    def forget(self) -> None:
        """Drop all requests that are open."""
        ...
