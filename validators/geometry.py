"""Geometry by contacts: nothing overlaps, nothing floats."""

from __future__ import annotations

from collections.abc import Iterable

from scenegen.physics.contacts import Contact
from scenegen.physics.resting import APART_M
from scenegen.posed import Posed
from scenegen.scenario import Facet, Scenario
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding


def _check_overlap(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    for contact in ctx.contacts.contacts(scenario.layout, margin_m=APART_M):
        if contact.depth_m > limits["depth_m"]:
            depth, limit = contact.depth_m, limits["depth_m"]
            sentence = f"{contact.b!r} overlaps {contact.a!r} by {depth:.4g} m - accepted: at most {limit:g} m"
            yield finding(
                OVERLAP.name,
                "overlap",
                [contact.a, contact.b],
                sentence,
                value=contact.depth_m,
                limit=limits["depth_m"],
                unit=Unit.METRE,
            )


OVERLAP = Check(
    name="overlap",
    version=1,
    tier=Tier.GEOMETRY,
    depends=frozenset({Facet.LAYOUT}),
    doc="No two things overlap by more than `depth_m`, by their true collision shapes.",
    run=_check_overlap,
    limits={"depth_m": 0.0005},
)


def supports(posed: Posed, contacts: Iterable[Contact]) -> dict[str, tuple[str, ...]]:
    """Say what each item rests on: what touches it below its centre of mass and does not itself rest on it alone.

    Args:
        posed: The items.
        contacts: Their contacts, near ones included.

    Returns:
        For each item that is carried, directly or through others, by a fixture or the table: the names of what it
        touches below its centre of mass. Items that nothing carries are absent.
    """
    heights = dict(zip((item.name for item in posed.items), posed.mass_centers[:, 2].tolist(), strict=True))
    touching: dict[str, list[str]] = {name: [] for name in heights}
    for contact in contacts:
        for upper, lower in ((contact.a, contact.b), (contact.b, contact.a)):
            if upper in heights and contact.position_m[2] <= heights[upper]:
                touching[upper].append(lower)
    carried: dict[str, tuple[str, ...]] = {}
    waiting, progress = dict(touching), True
    while progress:
        progress = False
        for name, below in list(waiting.items()):
            firm = tuple(other for other in below if other in carried or other not in heights)
            if firm:
                carried[name] = firm
                del waiting[name]
                progress = True
    return carried


def _check_floating(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    if not scenario.layout.items:
        return
    carried = supports(ctx.posed(scenario.layout), ctx.contacts.contacts(scenario.layout, margin_m=limits["gap_m"]))
    for item in scenario.layout.items:
        if item.name not in carried:
            sentence = f"nothing carries {item.name!r} - accepted: a support within {limits['gap_m']:g} m below it"
            yield finding(FLOATING.name, "floating", [item.name], sentence, limit=limits["gap_m"], unit=Unit.METRE)


FLOATING = Check(
    name="floating",
    version=1,
    tier=Tier.GEOMETRY,
    depends=frozenset({Facet.LAYOUT}),
    doc="Each item touches, within `gap_m`, a fixture or a carried item below its centre of mass.",
    run=_check_floating,
    limits={"gap_m": APART_M},
)
