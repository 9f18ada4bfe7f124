"""Geometry by contacts: nothing overlaps, nothing floats."""

from __future__ import annotations

from collections.abc import Iterable

from scenegen.parts.catalogue import Catalogue
from scenegen.physics.contacts import Contact
from scenegen.scenario import Facet, Layout, Scenario
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding
from validators.posed import Posed


def _check_overlap(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    for contact in ctx.contacts.contacts(scenario.layout):
        if contact.depth_m > limits["depth_m"]:
            sentence = (
                f"{contact.b!r} overlaps {contact.a!r} by {contact.depth_m:.4g} m - accepted: at most {limits['depth_m']:g} m"
            )
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


def supports(layout: Layout, contacts: Iterable[Contact], parts: Catalogue) -> dict[str, tuple[str, ...]]:
    """Say what each item rests on: what touches it below its centre of mass and does not itself rest on it alone.

    Args:
        layout: The layout.
        contacts: Its contacts, near ones included.
        parts: The parts of its items.

    Returns:
        For each item that is carried, directly or through others, by a fixture or the table: the names of what it touches
        below its centre of mass. Items that nothing carries are absent.
    """
    if not layout.items:
        return {}
    heights = dict(zip((i.name for i in layout.items), Posed.of(layout.items, parts).mass_centers()[:, 2], strict=True))
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
    contacts = ctx.contacts.contacts(scenario.layout, margin_m=limits["gap_m"])
    carried = supports(scenario.layout, contacts, ctx.parts)
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
    limits={"gap_m": 0.0005},
)
