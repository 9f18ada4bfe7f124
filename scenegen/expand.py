"""Expansions: index by index, a base, a variation along axes, checks, and what is kept of it.

Index i draws from (seed, cell, axes, i, attempt) and keeps its first valid attempt, so that the result does not depend
on how many scenes are asked for, on the number of processes, on their order, or on interruptions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

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
    version: str = __version__

    @cached_property
    def level_design(self) -> LevelDesign:
        """Which axis has which level at which index."""
        return LevelDesign(axes=self.axes, levels=self.levels, kind=self.design, strength=self.strength, seed=self.seed)


@dataclass(frozen=True)
class Session:
    """What an expansion works with; built once a process."""

    axes: Mapping[str, Axis]
    context: AxisContext
    sample_base: Callable[..., Scenario]
    """`sample_base(rng=…) -> Scenario`; raises `PlacementFailed`."""
    check: Callable[[Scenario], Verdict]
    repair: Callable[[Scenario, Verdict], Scenario | None]


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
        setting = self._ordered(self.expansion.level_design.row(index))
        base, rejected = self._base(self._base_index(index, setting))
        rejected = Counter(rejected)
        if base is None:
            return Outcome(index, None, None, rejected)
        for attempt in range(self.expansion.attempts):
            made = self._attempt(index, attempt, setting, base, rejected)
            if made is not None:
                return Outcome(index, made, base, rejected)
        return Outcome(index, None, base, rejected)

    def base_of(self, index: int) -> int:
        """Return the number of an index's base."""
        return self._base_index(index, self._ordered(self.expansion.level_design.row(index)))

    def prepare(self, base: int) -> None:
        """Make a base, so that it is remembered when its variants are made."""
        self._base(base)

    def _ordered(self, setting: tuple[tuple[str, int], ...]) -> tuple[tuple[Axis, int], ...]:
        """Put axes that move items first, so that those after them see the final layout."""
        pairs = [(self.session.axes[name], level) for name, level in setting if level > 0]
        return tuple(sorted(pairs, key=lambda pair: (pair[0].keeps_layout, pair[0].name)))

    def _base_index(self, index: int, setting: tuple[tuple[Axis, int], ...]) -> int:
        keeps = all(axis.keeps_layout for axis, _ in setting)
        return index // self.expansion.per_base if keeps else index

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

    def _attempt(
        self, index: int, attempt: int, setting: tuple[tuple[Axis, int], ...], base: Made, rejected: Counter[str]
    ) -> Made | None:
        expansion = self.expansion
        rng = stream(expansion.seed, expansion.cell_id, *expansion.axes, index, attempt)
        try:
            scenario = self._vary(base.scenario, setting, rng)
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
        severity = self._severity(base.scenario, scenario, setting)
        origin = self._provenance(index, attempt, base_id=base.scenario.id, parent_id=parent, axes=severity)
        return Made(kind, scenario, verdict, origin)

    def _vary(self, base: Scenario, setting: tuple[tuple[Axis, int], ...], rng: np.random.Generator) -> Scenario:
        scenario = base
        for axis, level in setting:
            scenario = axis.vary(scenario, level, ctx=self.session.context, rng=rng)
        if setting and not scenario.changed(base):
            axis, level = setting[0]
            raise VariationFailed(axis.name, level, "no_change", "the scene equals its base")
        return scenario

    def _severity(
        self, base: Scenario, varied: Scenario, setting: tuple[tuple[Axis, int], ...]
    ) -> tuple[AxisSetting, ...]:
        context = self.session.context
        return tuple(
            AxisSetting(axis=axis.name, level=level, severity=axis.measure(base, varied, ctx=context))
            for axis, level in setting
        )

    def _provenance(self, index: int, attempt: int, **known: object) -> Provenance:
        facts = {"generator": GENERATOR, "generator_version": self.expansion.version, "seed": self.expansion.seed}
        return Provenance.model_validate({**facts, "index": index, "attempt": attempt, **known})


def reasons(verdict: Verdict) -> Counter[str]:
    """Count why a verdict is not ok: `check:code` once a scene, and checks that gave no result."""
    codes = {f"{finding.check}:{finding.code}" for finding in verdict.findings}
    return Counter(codes or {f"{check}:no_result" for check in verdict.missing})
