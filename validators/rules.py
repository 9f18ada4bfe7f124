"""Semantics of sorting: each target has exactly one bin, bins have room, and every anomaly has an allowed cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from scenegen.cell import Role
from scenegen.posed import leans_rad
from scenegen.scenario import Cause, Facet, Item, Scenario
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding


def _check_sort_rule(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    verdicts = ctx.bins(scenario)
    for part, bins in verdicts.items():
        if len(bins) != 1:
            shown = ", ".join(bins) or "none"
            sentence = f"{len(bins)} sort rules match part {part!r} (bins: {shown}) - accepted: exactly one rule"
            code = "ambiguous" if bins else "no_rule"
            yield finding(SORT_RULE.name, code, [part], sentence, value=len(bins), limit=1, unit=Unit.COUNT)
    shared = Counter(rule.match for rule in scenario.task.rules)
    for match in [match for match, count in shared.items() if count > 1 and match not in verdicts]:
        sentence = f"{shared[match]} sort rules match {match!r} - accepted: one rule for each"
        yield finding(SORT_RULE.name, "ambiguous", [match], sentence, value=shared[match], limit=1, unit=Unit.COUNT)


SORT_RULE = Check(
    name="sort_rule",
    version=1,
    tier=Tier.SEMANTICS,
    depends=frozenset({Facet.LAYOUT, Facet.TASK}),
    doc="The sort rule is decidable: exactly one rule matches each target that is present.",
    run=_check_sort_rule,
)


def _check_capacity(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    bins, slots = ctx.bins(scenario), ctx.cell.slots
    room = {b.name: b.capacity for b in ctx.cell.bins}
    ends = (
        bins[item.part][:1] if slots[item.name].role is Role.TARGET else (item.zone,) for item in scenario.layout.items
    )
    held = Counter(one for end in ends for one in end if one in room)
    for name, count in held.items():
        if count > room[name]:
            sentence = f"bin {name!r} would hold {count} items in the end - accepted: at most {room[name]}"
            yield finding(CAPACITY.name, "full", [name], sentence, value=count, limit=room[name], unit=Unit.COUNT)


CAPACITY = Check(
    name="capacity",
    version=1,
    tier=Tier.SEMANTICS,
    depends=frozenset({Facet.LAYOUT, Facet.TASK}),
    doc="After sorting, with what lies in it already, no bin holds more than its capacity.",
    run=_check_capacity,
)

_FITS: Mapping[str, frozenset[Cause]] = {
    "foreign": frozenset({Cause.FOREIGN_OBJECT, Cause.MIXED_LOT, Cause.MISFEED, Cause.OBSTRUCTION}),
    "occluder": frozenset({Cause.OBSTRUCTION}),
    "table": frozenset({Cause.MISFEED, Cause.JOSTLED}),
    "wrong_bin": frozenset({Cause.MIXED_LOT, Cause.MISFEED}),
    "bin": frozenset({Cause.NOMINAL, Cause.MIXED_LOT, Cause.MISFEED}),
    "feed": frozenset({Cause.NOMINAL, Cause.JOSTLED, Cause.MISFEED, Cause.MIXED_LOT, Cause.OBSTRUCTION}),
    "askew": frozenset({Cause.LEANING, Cause.PILED, Cause.OBSTRUCTION}),
}
"""Causes that explain an item by what it is, where it lies and how."""

_WHERE = {
    "foreign": "a foreign part",
    "occluder": "an occluder",
    "table": "beside the feed",
    "wrong_bin": "in a wrong bin",
    "bin": "in its bin",
    "feed": "flat on the floor of the feed",
    "askew": "leaning or raised in the feed",
}


def _situation(item: Item, role: Role, bins: Mapping[str, tuple[str, ...]], *, askew: bool) -> str:
    """Say what is to be explained about an item."""
    if role is not Role.TARGET:
        return role.value
    if item.zone == "feed":
        return "askew" if askew else "feed"
    if item.zone == "table":
        return "table"
    return "bin" if item.zone in bins[item.part] else "wrong_bin"


def _askew(scenario: Scenario, ctx: CheckContext, limits: Limits) -> np.ndarray:
    """Tell which items lean from all their stable poses or lie higher than their zone's floor, shape [n]."""
    posed = ctx.posed(scenario.layout)
    floors = {f.name: f.pose_to_world.position_m[2] for f in scenario.layout.fixtures}
    floors["table"] = ctx.cell.table.pose_top_to_world.position_m[2]
    floor = np.array([floors[item.zone] for item in posed.items])
    raised = posed.least(posed.corners[:, 2]) - floor > limits["raised_m"]
    return raised | (leans_rad(posed) > limits["lean_rad"])


def _check_causes(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    if not scenario.layout.items:
        return
    bins, slots, allowed = ctx.bins(scenario), ctx.cell.slots, ctx.cell.allowed_causes
    for item, askew in zip(scenario.layout.items, _askew(scenario, ctx, limits).tolist(), strict=True):
        situation = _situation(item, slots[item.name].role, bins, askew=askew)
        fitting = _FITS[situation]
        if item.cause not in fitting:
            shown = ", ".join(cause for cause in Cause if cause in fitting)
            sentence = (
                f"cause {item.cause.value!r} does not explain {item.name!r} ({_WHERE[situation]}) - accepted: {shown}"
            )
            yield finding(CAUSES.name, "unexplained", [item.name], sentence)
        elif item.cause is not Cause.NOMINAL and item.cause.value not in allowed:
            sentence = (
                f"cause {item.cause.value!r} of {item.name!r} does not happen here - accepted: {', '.join(allowed)}"
            )
            yield finding(CAUSES.name, "not_allowed", [item.name], sentence)


CAUSES = Check(
    name="causes",
    version=1,
    tier=Tier.SEMANTICS,
    depends=frozenset({Facet.LAYOUT, Facet.TASK}),
    doc=(
        "Every anomaly (foreign part, occluder, part beside the feed, in a wrong bin, raised by `raised_m` or leaning "
        "by `lean_rad`) has a cause that fits and is allowed, and no cause tells of an anomaly that is not there."
    ),
    run=_check_causes,
    limits={"raised_m": 0.001, "lean_rad": 0.05},
)
