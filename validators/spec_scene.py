"""Specification of the scene as a whole: it belongs to the cell, and its layout names what the cell has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from scenegen.axes import datum
from scenegen.cell import Cell, Role
from scenegen.geometry import angle_between
from scenegen.nominal import nominal_fixtures
from scenegen.scenario import Facet, Scenario
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding
from validators.coverage import coverage
from validators.envelope import Envelope

SHIFT_ENVELOPE = Envelope(datum.NAME, datum.SHIFT)
TURN_ENVELOPE = Envelope(datum.NAME, datum.ROTATION)


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
            sentence = (
                f"item {item.name!r} is no slot of the cell's inventory - accepted: <part>_<index> within its counts"
            )
            yield finding(name, "unknown", [item.name], sentence)
        elif item.part != slots[item.name].part:
            sentence = f"item {item.name!r} is a {item.part!r} - accepted: {slots[item.name].part!r}, as its slot says"
            yield finding(name, "wrong_part", [item.name], sentence)
        if item.zone not in zones:
            sentence = f"item {item.name!r} lies in zone {item.zone!r} - accepted: {', '.join(zones)}"
            yield finding(name, "unknown", [item.name], sentence)
    yield from coverage(name, "asset", sorted(a.part for a in scenario.assets), sorted({item.part for item in items}))
    yield from coverage(name, "fixture pose", [f.name for f in scenario.layout.fixtures], list(ctx.cell.containers))
    yield from _counts(scenario, ctx.cell)
    yield from _fixture_shifts(scenario, ctx.cell, limits)


def _counts(scenario: Scenario, cell: Cell) -> Iterator[Finding]:
    """At least one target lies in the feed, and no targets of the cell's smallest fill are gone."""
    slots = cell.slots
    targets = [i for i in scenario.layout.items if i.name in slots and slots[i.name].role is Role.TARGET]
    in_feed = sum(item.zone == "feed" for item in targets)
    for code, count, least, where in (
        ("no_target", in_feed, 1, "in the feed"),
        ("count", len(targets), cell.fill[0], "in all"),
    ):
        if count < least:
            sentence = f"there are {count} targets {where} - accepted: at least {least}"
            yield finding(SPEC_LAYOUT.name, code, [], sentence, value=count, limit=least, unit=Unit.COUNT)
            return


def _fixture_shifts(scenario: Scenario, cell: Cell, limits: Limits) -> Iterator[Finding]:
    """Fixtures stand upright, at their height, where the cell puts them; those with a datum within its envelope."""
    name = SPEC_LAYOUT.name
    nominals = {fixture.name: fixture.pose_to_world for fixture in nominal_fixtures(cell)}
    loose = {one.fixture for one in cell.datums}
    for fixture in scenario.layout.fixtures:
        nominal = nominals.get(fixture.name)
        if nominal is None or fixture.pose_to_world == nominal:
            continue
        offset = fixture.pose_to_world.position - nominal.position
        shift, lift = float(np.hypot(offset[0], offset[1])), float(abs(offset[2]))
        lean = float(np.arccos(np.clip(fixture.pose_to_world.rotation[2] @ nominal.rotation[2], -1, 1)))
        turn = float(np.degrees(angle_between(fixture.pose_to_world.quat, nominal.quat)))
        subject, what = [fixture.name], f"fixture {fixture.name!r} is off its place by"
        if fixture.name in loose:
            yield from SHIFT_ENVELOPE.outside(name, "fixture_shifted", subject, what, shift, cell)
            yield from TURN_ENVELOPE.outside(name, "fixture_turned", subject, what, turn, cell)
        for code, value, key, unit in (
            ("fixture_fixed", 0.0 if fixture.name in loose else shift, "fixed_m", Unit.METRE),
            ("fixture_lifted", lift, "lift_m", Unit.METRE),
            ("fixture_leaning", lean, "lean_rad", Unit.RADIAN),
        ):
            if value > limits[key]:
                sentence = f"{what} {value:.4g} {unit} - accepted: at most {limits[key]:.4g} {unit}"
                yield finding(name, code, subject, sentence, value=value, limit=limits[key], unit=unit)


SPEC_LAYOUT = Check(
    name="spec_layout",
    version=1,
    tier=Tier.SPECIFICATION,
    depends=frozenset({Facet.LAYOUT}),
    doc=(
        "Items are slots of the inventory with the right part, zones exist, assets and fixtures are complete, "
        "there are targets enough, and fixtures stand upright (to `lean_rad`), at their height (to `lift_m`), "
        "where the cell puts them (to `fixed_m`), those with a datum within the envelope of axis `datum`."
    ),
    run=_check_layout,
    limits={"fixed_m": 0.001, "lift_m": 0.002, "lean_rad": 0.01},
)
