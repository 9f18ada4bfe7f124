"""Specification of the light: what shines, how much of it meets the feed, and from where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from scenegen.axes import lighting
from scenegen.axes.lamp import angle_deg, beam_on
from scenegen.cell import Cell
from scenegen.geometry import Pose
from scenegen.scenario import DistantLight, Facet, Light, RectLight, Scenario
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding
from validators.envelope import Envelope

FACTOR_ENVELOPE = Envelope(lighting.NAME, lighting.FACTOR)
WARMTH_ENVELOPE = Envelope(lighting.NAME, lighting.SHIFT)
TURN_ENVELOPE = Envelope(lighting.NAME, lighting.TURN)


def level_lux(light: Light, place: Pose) -> float:
    """Return the unshaded illuminance of a level surface at a place [lx]: none from below or from behind a panel."""
    lux, toward = beam_on(light, place)
    if toward is None:
        return lux
    if isinstance(light, RectLight) and light.pose_to_world.rotation[:, 2] @ toward <= 0:
        return 0.0
    return lux * max(0.0, float(toward[2]))


def _check_lights(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    name, lights = SPEC_LIGHTS.name, scenario.lights.lights
    names = [light.name for light in lights] + [card.name for card in scenario.lights.shadow_casters]
    for twice in [one for one, count in Counter(names).items() if count > 1]:
        yield finding(
            name, "duplicate", [twice], f"two lights or shadow casters are called {twice!r} - accepted: unique names"
        )
    for light in lights:
        if not limits["temperature_low_k"] <= light.temperature_k <= limits["temperature_high_k"]:
            cold = light.temperature_k > limits["temperature_high_k"]
            sentence = (
                f"light {light.name!r} has {light.temperature_k:g} K - accepted: {limits['temperature_low_k']:g} to "
                f"{limits['temperature_high_k']:g} K"
            )
            limit = limits["temperature_high_k" if cold else "temperature_low_k"]
            yield finding(
                name, "temperature", [light.name], sentence, value=light.temperature_k, limit=limit, unit=Unit.KELVIN
            )
    yield from _illuminance(scenario, ctx.cell, limits)
    yield from _above_table(scenario, ctx.cell, limits)
    key = ctx.cell.lights[0]
    for light in lights:
        if light.name == key.name and light != key:
            yield from _against_key(light, key, ctx.cell)


def _against_key(light: Light, key: Light, cell: Cell) -> Iterator[Finding]:
    """The key light is as strong, as warm and about where the plant allows it to be."""
    name, subject, feed = SPEC_LIGHTS.name, [light.name], cell.feed.pose_to_world
    nominal, actual = beam_on(key, feed), beam_on(light, feed)
    if nominal.lux > 0:
        factor, what = actual.lux / nominal.lux, f"light {light.name!r} gives its nominal illuminance times"
        yield from FACTOR_ENVELOPE.outside(name, "strength", subject, what, factor, cell)
    shift, what = light.temperature_k - key.temperature_k, f"light {light.name!r} is off its nominal temperature by"
    yield from WARMTH_ENVELOPE.outside(name, "warmth", subject, what, shift, cell)
    turn, what = angle_deg(nominal, actual), f"light {light.name!r} is off its nominal direction by"
    yield from TURN_ENVELOPE.outside(name, "direction", subject, what, turn, cell)


def _illuminance(scenario: Scenario, cell: Cell, limits: Limits) -> Iterator[Finding]:
    name, feed = SPEC_LIGHTS.name, cell.feed.pose_to_world
    shares = {light.name: level_lux(light, feed) for light in scenario.lights.lights}
    total = sum(shares.values())
    if not limits["illuminance_low_lux"] <= total <= limits["illuminance_high_lux"]:
        limit = limits["illuminance_low_lux" if total < limits["illuminance_low_lux"] else "illuminance_high_lux"]
        sentence = (
            f"the lights give {total:.4g} lx on the feed - accepted: {limits['illuminance_low_lux']:g} to "
            f"{limits['illuminance_high_lux']:g} lx"
        )
        yield finding(name, "illuminance", sorted(shares), sentence, value=total, limit=limit, unit=Unit.LUX)
    for light in scenario.lights.lights:
        brightness = light.illuminance_lux if isinstance(light, DistantLight) else light.luminance_nit
        if brightness > 0 and shares[light.name] <= 0:
            sentence = f"light {light.name!r} shines past the feed - accepted: a light that reaches it"
            yield finding(name, "aimed_away", [light.name], sentence, value=0, limit=0, unit=Unit.LUX)


def _above_table(scenario: Scenario, cell: Cell, limits: Limits) -> Iterator[Finding]:
    """Panels, lamps and cards hang clear of the robot's work."""
    least = cell.table.pose_top_to_world.position_m[2] + limits["height_m"]
    hung = [(x.name, x.pose_to_world.position_m[2]) for x in scenario.lights.lights if isinstance(x, RectLight)]
    hung += [(x.name, x.position_m[2]) for x in scenario.lights.lights if x.kind == "sphere"]
    hung += [(x.name, x.pose_to_world.position_m[2]) for x in scenario.lights.shadow_casters]
    for name, height in hung:
        if height < least:
            sentence = f"{name!r} hangs at {height:.4g} m - accepted: at least {least:.4g} m, clear of the work"
            yield finding(SPEC_LIGHTS.name, "too_low", [name], sentence, value=height, limit=least, unit=Unit.METRE)


SPEC_LIGHTS = Check(
    name="spec_lights",
    version=1,
    tier=Tier.SPECIFICATION,
    depends=frozenset({Facet.LIGHTS}),
    doc=(
        "Lights have unique names, a colour temperature of lamps or sky (`temperature_low_k` to "
        "`temperature_high_k`), hang `height_m` or more above the table, reach the feed, and together give it as "
        "much light as a hall has (`illuminance_low_lux` to `illuminance_high_lux`); the key light is within the "
        "envelope of axis `lighting` about the cell's."
    ),
    run=_check_lights,
    limits={
        "temperature_low_k": 1800.0,
        "temperature_high_k": 12000.0,
        "illuminance_low_lux": 15.0,
        "illuminance_high_lux": 30000.0,
        "height_m": 0.09,
    },
)
