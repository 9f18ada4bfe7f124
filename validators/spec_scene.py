"""Specification of the scene as a whole: it belongs to the cell, and its layout names what the cell has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from scenegen.cell import Cell, Role
from scenegen.geometry import Pose
from scenegen.scenario import Facet, Scenario
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding
from validators.coverage import coverage


def _check_cell(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    name = SPEC_CELL.name
    if scenario.cell_id != ctx.cell.content_id:
        sentence = f"the scene belongs to cell {scenario.cell_id} - accepted: {ctx.cell.name} ({ctx.cell.content_id})"
        yield finding(name, "wrong_cell", [], sentence)
    for asset in scenario.assets:
        if asset.part not in ctx.parts:
            sentence = f"asset {asset.part!r} is no part of the cell - accepted: {', '.join(ctx.parts)}"
            yield finding(name, "unknown", [asset.part], sentence)
        elif asset.content != ctx.parts[asset.part].content_id:
            sentence = (
                f"asset {asset.part!r} has content {asset.content} - accepted: {ctx.parts[asset.part].content_id}, "
                "the part as it is now"
            )
            yield finding(name, "wrong_asset", [asset.part], sentence)


SPEC_CELL = Check(
    name="spec_cell",
    version=1,
    tier=Tier.SPECIFICATION,
    depends=frozenset(),
    doc="The scene belongs to the cell, and its assets are the cell's parts with the same content.",
    run=_check_cell,
)


def _check_layout(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    name, slots, items = SPEC_LAYOUT.name, ctx.cell.slots, scenario.layout.items
    zones = ("feed", "table", *(b.name for b in ctx.cell.bins))
    for item in items:
        if item.name not in slots:
            sentence = f"item {item.name!r} is no slot of the cell's inventory - accepted: <part>_<index> within its counts"
            yield finding(name, "unknown", [item.name], sentence)
        elif item.part != slots[item.name].part:
            sentence = f"item {item.name!r} is a {item.part!r} - accepted: {slots[item.name].part!r}, as its slot says"
            yield finding(name, "wrong_part", [item.name], sentence)
        if item.zone not in zones:
            sentence = f"item {item.name!r} lies in zone {item.zone!r} - accepted: {', '.join(zones)}"
            yield finding(name, "unknown", [item.name], sentence)
    yield from coverage(name, "asset", sorted(a.part for a in scenario.assets), sorted({item.part for item in items}))
    yield from coverage(name, "fixture pose", [f.name for f in scenario.layout.fixtures], list(ctx.cell.containers))
    if not any(i.name in slots and slots[i.name].role is Role.TARGET and i.zone == "feed" for i in items):
        sentence = "no target lies in the feed - accepted: at least 1"
        yield finding(name, "no_target", [], sentence, value=0, limit=1, unit=Unit.COUNT)
    yield from _fixture_shifts(scenario, ctx.cell, limits)


def _fixture_shifts(scenario: Scenario, cell: Cell, limits: Limits) -> Iterator[Finding]:
    """Fixtures stand upright, at their height, near where the cell puts them."""
    for fixture in scenario.layout.fixtures:
        if fixture.name not in cell.containers:
            continue
        nominal: Pose = cell.containers[fixture.name].pose_to_world
        if fixture.pose_to_world == nominal:
            continue
        offset = fixture.pose_to_world.position - nominal.position
        shift, lift = float(np.hypot(offset[0], offset[1])), float(abs(offset[2]))
        lean = float(np.arccos(np.clip(fixture.pose_to_world.rotation[2] @ nominal.rotation[2], -1, 1)))
        for code, value, key, unit in (
            ("fixture_shifted", shift, "shift_m", Unit.METRE),
            ("fixture_lifted", lift, "lift_m", Unit.METRE),
            ("fixture_leaning", lean, "lean_rad", Unit.RADIAN),
        ):
            if value > limits[key]:
                sentence = (
                    f"fixture {fixture.name!r} is off its nominal pose by {value:.4g} {unit} - "
                    f"accepted: at most {limits[key]:.4g} {unit}"
                )
                yield finding(
                    SPEC_LAYOUT.name, code, [fixture.name], sentence, value=value, limit=limits[key], unit=unit
                )


SPEC_LAYOUT = Check(
    name="spec_layout",
    version=1,
    tier=Tier.SPECIFICATION,
    depends=frozenset({Facet.LAYOUT}),
    doc=(
        "Items are slots of the inventory with the right part, zones exist, assets and fixtures are complete, the feed "
        "holds a target, and fixtures stand upright within `shift_m` of where the cell puts them."
    ),
    run=_check_layout,
    limits={"shift_m": 0.06, "lift_m": 0.002, "lean_rad": 0.01},
)
