"""Can the overhead camera see enough of every target?"""

from __future__ import annotations

from collections.abc import Iterable

from scenegen.cell import Role
from scenegen.scenario import Cause, Facet, Scenario
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding

CAMERA = "overhead"


def _check_hidden(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    slots, items = ctx.cell.slots, scenario.layout.items
    if not any(slots[i.name].role is Role.OCCLUDER or i.cause in (Cause.PILED, Cause.LEANING) for i in items):
        return
    limit = ctx.cell.limits.hidden_share
    shares = ctx.masks.hidden_shares(scenario, camera=CAMERA)
    for item in items:
        if slots[item.name].role is not Role.TARGET or item.zone != "feed":
            continue
        share = shares[item.name]
        if share > limit:
            sentence = f"{share:.0%} of {item.name!r} is hidden from camera {CAMERA!r} - accepted: at most {limit:.0%}"
            yield finding(HIDDEN.name, "hidden", [item.name], sentence, value=share, limit=limit, unit=Unit.SHARE)


HIDDEN = Check(
    name="hidden",
    version=1,
    tier=Tier.GEOMETRY,
    depends=frozenset({Facet.LAYOUT, Facet.CAMERAS}),
    doc=(
        "Of no target in the feed is more hidden from the overhead camera than the cell's `limits.hidden_share`, where "
        "occluders, piled or leaning parts are present that could hide it."
    ),
    run=_check_hidden,
)
