"""Expansions: index by index, a base, a variation along axes, checks, and what is kept of it.

Index i draws from (seed, cell, axes, i, attempt) and keeps its first valid attempt, so that the result does not depend
on how many scenes are asked for, on the number of processes, on their order, or on interruptions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, Protocol

import numpy as np
from pydantic import Field

from scenegen import __version__
from scenegen.axes.axis import LEVELS, Axis, AxisContext
from scenegen.design import DesignKind, LevelDesign
from scenegen.errors import PlacementFailed, VariationFailed
from scenegen.provenance import AxisSetting, Provenance
from scenegen.record import Name, Record
from scenegen.scenario import Scenario
from scenegen.streams import stream
from scenegen.verdict import Verdict

GENERATOR = "procedural"
NO_PROPOSAL = "vlm:no_proposal"
"""Why an index gives nothing when a model proposed nothing usable for its base."""
NO_MORE = "vlm:no_more"
"""Why an index gives nothing when its proposal leaves nothing to draw, and an earlier index has its one scene."""


class Expansion(Record):
    """Everything that determines which scene belongs to which index."""

    cell_id: str
    assets: dict[str, str]
    """Content id of every part of the cell's inventory."""
    axes: Annotated[tuple[Name, ...], Field(min_length=1)]
    levels: Annotated[tuple[Annotated[int, Field(ge=1, le=5)], ...], Field(min_length=1)] = LEVELS
    design: DesignKind = DesignKind.ONE_AT_A_TIME
    strength: Annotated[int, Field(ge=2, le=6)] = 2
    """Strength t of a t-wise design."""
    placement: Literal["sequential", "uniform"] = "sequential"
    seed: int = 0
    per_base: Annotated[int, Field(ge=1)] = 20
    """How many variants share one base where the axes leave the layout alone."""
    attempts: Annotated[int, Field(ge=1)] = 20
    """Most attempts at one index."""
    repair: bool = False
    proposer: Annotated[str | None, Field(exclude_if=lambda value: value is None)] = None
    """Content id of how a model was asked for proposals; None where axes are drawn by level."""
    version: str = __version__

    @cached_property
    def level_design(self) -> LevelDesign:
        """Which axis has which level at which index."""
        return LevelDesign(axes=self.axes, levels=self.levels, kind=self.design, strength=self.strength, seed=self.seed)


class Way(Protocol):
    """One way from a base to a scene, in which everything that is not drawn is fixed."""

    @property
    def generator(self) -> str:
        """Who thought of it."""
        ...

    @property
    def vlm_call_id(self) -> str | None:
        """The proposal behind it, if a model made one."""
        ...

    @property
    def varies(self) -> bool:
        """Whether it leads to more than one scene."""
        ...

    def vary(self, base: Scenario, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
        """Return a scene that differs from its base; raises `VariationFailed`."""
        ...

    def settings(self, base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[AxisSetting, ...]:
        """Measure how far a scene departs from its base, axis by axis."""
        ...


@dataclass(frozen=True)
class Levels:
    """A way along axes, each at a level; axes that move items come first, so that others see the final layout."""

    setting: tuple[tuple[Axis, int], ...]
    generator: str = GENERATOR
    vlm_call_id: str | None = None
    varies: bool = True

    @property
    def keeps_layout(self) -> bool:
        """Whether variants can share one layout."""
        return all(axis.keeps_layout for axis, _ in self.setting)

    def vary(self, base: Scenario, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
        """Go along one axis after the other."""
        scenario = base
        for axis, level in self.setting:
            scenario = axis.vary(scenario, level, ctx=ctx, rng=rng)
        if self.setting and not scenario.changed(base):
            axis, level = self.setting[0]
            raise VariationFailed(axis.name, level, "no_change", "the scene equals its base")
        return scenario

    def settings(self, base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[AxisSetting, ...]:
        """Measure each axis."""
        return tuple(
            AxisSetting(axis=axis.name, level=level, severity=axis.measure(base, varied, ctx=ctx))
            for axis, level in self.setting
        )


@dataclass(frozen=True)
class Session:
    """What an expansion works with; built once a process."""

    axes: Mapping[str, Axis]
    context: AxisContext
    sample_base: Callable[..., Scenario]
    """`sample_base(rng=…) -> Scenario`; raises `PlacementFailed`."""
    check: Callable[[Scenario], Verdict]
    repair: Callable[[Scenario, Verdict], Scenario | None]
    proposed: Callable[[int], Sequence[Way]] | None = None
    """The ways that a model proposed for a base, by the base's number; takes the place of axes and levels."""


@dataclass(frozen=True)
class Made:
    """One valid scene with its verdict and where it came from."""

    kind: Literal["base", "variant", "repaired"]
    scenario: Scenario
    verdict: Verdict
    provenance: Provenance


@dataclass(frozen=True)
class Outcome:
    """What an index gave: a scene and its twin, or why there is none."""

    index: int
    made: Made | None
    base: Made | None
    rejected: Counter[str]
    """How often each reason (`check:code`, or `axis:reason`) rejected an attempt."""


class Expander:
    """Makes the scenes of one expansion, index by index, remembering the last bases."""

    def __init__(self, expansion: Expansion, session: Session, *, remembers: int = 8) -> None:
        """Prepare.

        Args:
            expansion: What to make.
            session: What to make it with.
            remembers: How many bases are remembered.
        """
        self.expansion = expansion
        self.session = session
        self._remembers = remembers
        self._bases: dict[int, tuple[Made | None, Counter[str]]] = {}

    def make(self, index: int) -> Outcome:
        """Make the scene of an index: the first attempt that the checks accept."""
        base, rejected = self._base(self.base_of(index))
        rejected = Counter(rejected)
        if base is None:
            return Outcome(index, None, base, rejected)
        way = self._way(index)
        if isinstance(way, str):
            rejected[way] += 1
            return Outcome(index, None, base, rejected)
        for attempt in range(self.expansion.attempts):
            made = self._attempt(index, attempt, way, base, rejected)
            if made is not None:
                return Outcome(index, made, base, rejected)
        return Outcome(index, None, base, rejected)

    def base_of(self, index: int) -> int:
        """Return the number of an index's base."""
        shared = self.session.proposed is not None or self._levels(index).keeps_layout
        return index // self.expansion.per_base if shared else index

    def prepare(self, base: int) -> Made | None:
        """Make a base, so that it is remembered when its variants are made; None where no attempt is valid."""
        return self._base(base)[0]

    def _way(self, index: int) -> Way | str:
        """Return the way of an index; or why there is none."""
        if self.session.proposed is None:
            return self._levels(index)
        ways = self.session.proposed(self.base_of(index))
        if not ways:
            return NO_PROPOSAL
        turn, chosen = divmod(index % self.expansion.per_base, len(ways))
        return ways[chosen] if turn == 0 or ways[chosen].varies else NO_MORE

    def _levels(self, index: int) -> Levels:
        row = self.expansion.level_design.row(index)
        pairs = [(self.session.axes[name], level) for name, level in row if level > 0]
        return Levels(tuple(sorted(pairs, key=lambda pair: (pair[0].keeps_layout, pair[0].name))))

    def _base(self, index: int) -> tuple[Made | None, Counter[str]]:
        if index not in self._bases:
            made = self._make_base(index)
            if len(self._bases) >= self._remembers:
                self._bases.pop(next(iter(self._bases)))
            self._bases[index] = made
        return self._bases[index]

    def _make_base(self, index: int) -> tuple[Made | None, Counter[str]]:
        rejected: Counter[str] = Counter()
        expansion = self.expansion
        for attempt in range(expansion.attempts):
            rng = stream(expansion.seed, expansion.cell_id, "base", expansion.placement, index, attempt)
            try:
                scenario = self.session.sample_base(rng=rng)
            except PlacementFailed as failure:
                rejected.update({f"place:{reason}": 1 for reason in failure.rejections})
                continue
            verdict = self.session.check(scenario)
            if verdict.ok:
                origin = self._provenance(index, attempt, base_id=scenario.id)
                return Made("base", scenario, verdict, origin), rejected
            rejected.update(reasons(verdict))
        return None, rejected

    def _attempt(self, index: int, attempt: int, way: Way, base: Made, rejected: Counter[str]) -> Made | None:
        expansion, context = self.expansion, self.session.context
        rng = stream(expansion.seed, expansion.cell_id, *expansion.axes, index, attempt)
        try:
            scenario = way.vary(base.scenario, ctx=context, rng=rng)
        except VariationFailed as failure:
            rejected[f"{failure.axis}:{failure.reason}"] += 1
            return None
        verdict, kind, parent = self.session.check(scenario), "variant", base.scenario.id
        if not verdict.ok:
            rejected.update(reasons(verdict))
            mended = self.session.repair(scenario, verdict) if expansion.repair else None
            if mended is None:
                return None
            parent, kind, scenario = scenario.id, "repaired", mended
            verdict = self.session.check(scenario)
            if not verdict.ok:
                return None
        origin = self._provenance(
            index,
            attempt,
            base_id=base.scenario.id,
            parent_id=parent,
            axes=way.settings(base.scenario, scenario, ctx=context),
            generator=way.generator,
            vlm_call_id=way.vlm_call_id,
        )
        return Made(kind, scenario, verdict, origin)

    def _provenance(self, index: int, attempt: int, **known: object) -> Provenance:
        facts = {"generator": GENERATOR, "generator_version": self.expansion.version, "seed": self.expansion.seed}
        return Provenance.model_validate({**facts, "index": index, "attempt": attempt, **known})


def reasons(verdict: Verdict) -> Counter[str]:
    """Count why a verdict is not ok: `check:code` once a scene, and checks that gave no result."""
    codes = {f"{finding.check}:{finding.code}" for finding in verdict.findings}
    return Counter(codes or {f"{check}:no_result" for check in verdict.missing})
