"""A proposal as a way from its base to scenes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scenegen.axes.axis import AxisContext
from scenegen.axes.registry import AXES
from scenegen.provenance import AxisSetting
from scenegen.scenario import Scenario
from scenegen.vlm.proposed import Proposed
from scenegen.vlm.sampler import axes_of, level_of, sampled, varies

GENERATOR = "vlm"


@dataclass(frozen=True)
class ProposedWay:
    """See `scenegen.expand.Way`."""

    proposed: Proposed
    generator: str = GENERATOR

    @property
    def vlm_call_id(self) -> str:
        """The proposal's record, which names the call."""
        return self.proposed.content_id

    @property
    def varies(self) -> bool:
        """Whether its edits leave anything to draw."""
        return varies(self.proposed.proposal)

    def vary(self, base: Scenario, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
        """Apply the proposal's edits, with amounts drawn from its ranges; raises `VariationFailed`."""
        return sampled(self.proposed.proposal, base, ctx=ctx, rng=rng)

    def settings(self, base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[AxisSetting, ...]:
        """Measure each axis on which the proposal acts, and grade what was measured."""
        measured = {name: AXES[name].measure(base, varied, ctx=ctx) for name in axes_of(self.proposed.proposal)}
        return tuple(
            AxisSetting(axis=name, level=level_of(name, severity, ctx.cell), severity=severity)
            for name, severity in measured.items()
        )
