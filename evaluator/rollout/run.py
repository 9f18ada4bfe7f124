"""What an evaluation runs under: equal conditions are one run, and only such episodes are compared."""

from __future__ import annotations

from collections.abc import Mapping
from operator import not_
from typing import Any, Self

from pydantic import Field

from library.row import sealed
from scenegen import __version__
from scenegen.record import Record, canonical_text


class Run(Record):
    """One policy over the scenarios of one library version; how many worlds there were and where does not matter."""

    policy: str
    """As it was asked for."""
    version: str
    """Content id of the library's commit that last changed its scenes (see `scene_set`)."""
    latency: str
    """How the policy's thinking was counted, as it was asked for."""
    seed: int
    device: str
    """`cpu` or `cuda`: contact solvers round differently."""
    simulator: dict[str, str]
    """What moved robots and parts: packages and their versions."""
    scenegen: str = __version__
    explains: str | None = Field(default=None, exclude_if=not_)
    """Run whose failures it explains: it holds twins of failed episodes alone, and no scorecard counts them."""

    @classmethod
    def here(cls, *, policy: str, version: str, latency: str, seed: int, device: str, simulator: dict[str, str]) -> Run:
        """Describe a run that is made here."""
        kind = device.partition(":")[0]
        return cls(policy=policy, version=version, latency=latency, seed=seed, device=kind, simulator=simulator)

    def columns(self) -> dict[str, Any]:
        """Return the row of the table `runs`."""
        data = self.model_dump(mode="json")
        return sealed({"run_id": self.content_id, "subject": self.policy, "conditions": canonical_text(data)})

    @classmethod
    def of(cls, columns: Mapping[str, Any]) -> Self:
        """Build the run back from its row.

        Raises:
            InvalidRecord: Another version of scenegen kept it, with conditions that this one does not know.
        """
        return cls.from_json(columns["conditions"], what=f"run {columns['run_id']}")
