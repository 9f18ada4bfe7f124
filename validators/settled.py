"""Physics: nothing moves when the simulation starts, and what leans or lies on others stays so."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scenegen.physics.resting import rests_by_construction
from scenegen.physics.settle import Settled
from scenegen.scenario import Cause, Facet, Scenario
from scenegen.units import Unit
from scenegen.verdict import Basis, Finding, Tier
from validators.check import Check, CheckContext, Limits, Proof, finding


def _check_settled(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Proof:
    rests = _rests(scenario, ctx, limits)
    if rests and not is_audited(scenario, limits["audit_share"]):
        return Proof((), Basis.BY_CONSTRUCTION)
    settled = ctx.judging.settle(scenario.layout, scenario.matter, limit_s=limits["limit_s"])
    found = tuple(_findings(scenario, settled, limits))
    if found and rests:
        sentence = f"the layout should rest by construction, but the simulation says: {found[0].sentence}"
        audit = finding(SETTLED.name, "audit_disagrees", found[0].subjects, sentence, value=found[0].value)
        return Proof((audit, *found), Basis.MEASURED)
    return Proof(found, Basis.MEASURED)


def is_audited(scenario: Scenario, share: float) -> bool:
    """Tell whether a layout that rests by construction is simulated all the same: drawn by its hash, not by chance."""
    return int(scenario.key(Facet.LAYOUT, Facet.MATTER)[:8], 16) < share * 16**8


def _rests(scenario: Scenario, ctx: CheckContext, limits: Limits) -> bool:
    """Separated parts in stable poses rest, as long as their mass lies where their stable poses assume it."""
    parts = {item.name: item.part for item in scenario.layout.items}
    for entry in scenario.matter.items:
        center, nominal = entry.center_of_mass_m, ctx.parts[parts[entry.name]].mass.center_of_mass_m
        if center != nominal and np.abs(np.subtract(center, nominal)).max() > limits["balance_m"]:
            return False
    posed = ctx.posed(scenario.layout) if scenario.layout.items else None
    return rests_by_construction(scenario.layout, ctx.parts, ctx.cell, finder=ctx.contacts, posed=posed)


def _findings(scenario: Scenario, settled: Settled, limits: Limits) -> Iterator[Finding]:
    name = SETTLED.name
    if not settled.finite:
        sentence = f"the simulation diverged after {settled.seconds:.3g} s - accepted: finite states"
        yield finding(name, "not_finite", [], sentence, value=settled.seconds, unit=Unit.SECOND)
        return
    for item in scenario.layout.items:
        drift, turn = settled.drift_m[item.name], settled.rotation_rad[item.name]
        held = item.cause in (Cause.LEANING, Cause.PILED)
        if drift > limits["drift_m"]:
            sentence = f"{item.name!r} moves by {drift:.4g} m - accepted: at most {limits['drift_m']:g} m"
            code = "fell" if held else "drift"
            yield finding(name, code, [item.name], sentence, value=drift, limit=limits["drift_m"], unit=Unit.METRE)
        elif turn > limits["rotation_rad"]:
            sentence = f"{item.name!r} turns by {turn:.4g} rad - accepted: at most {limits['rotation_rad']:g} rad"
            code = "fell" if held else "rotation"
            yield finding(name, code, [item.name], sentence, value=turn, limit=limits["rotation_rad"], unit=Unit.RADIAN)
    for code, value, key, unit, what in (
        ("speed", settled.speed_m_s, "speed_m_s", Unit.METRE_PER_SECOND, "something still moves at"),
        ("penetration", settled.penetration_m, "penetration_m", Unit.METRE, "two things penetrate each other by"),
    ):
        if value > limits[key]:
            sentence = (
                f"after {settled.seconds:.3g} s {what} {value:.4g} {unit} - accepted: at most {limits[key]:g} {unit}"
            )
            yield finding(name, code, [], sentence, value=value, limit=limits[key], unit=unit)


SETTLED = Check(
    name="settled",
    version=3,
    tier=Tier.PHYSICS,
    depends=frozenset({Facet.LAYOUT, Facet.MATTER}),
    doc=(
        "Simulated from rest for `limit_s` or until all sleep, each item moves by `drift_m` and turns by "
        "`rotation_rad` at most, so that what leans or is piled stays so; the end is slower than `speed_m_s`, "
        "with no contact deeper than `penetration_m`. Separated parts in stable poses, their mass within `balance_m` "
        "of its place, rest by construction; `audit_share` of those are simulated all the same."
    ),
    run=_check_settled,
    limits={
        "drift_m": 0.002,
        "rotation_rad": 0.05,
        "speed_m_s": 0.01,
        "penetration_m": 0.0005,
        "limit_s": 2.0,
        "balance_m": 0.0005,
        "audit_share": 0.02,
    },
)
