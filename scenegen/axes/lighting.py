"""Axis `lighting`: stronger, dimmer, warmer or cooler light, light from elsewhere, or a shadow on a target."""

from __future__ import annotations

import numpy as np

from scenegen.axes.aim import Aim
from scenegen.axes.axis import Axis, AxisContext, Severity, band, directions, draw
from scenegen.axes.items import targets_in
from scenegen.axes.lamp import (
    angle_deg,
    beam_on,
    center_of,
    corners_of,
    dimmed,
    direction_to,
    panel_of,
    shaded_share,
    swung,
    warmed,
)
from scenegen.axes.view import out_of_view
from scenegen.errors import VariationFailed
from scenegen.geometry import Array, Pose, Vec3, quat_about, quat_to_matrix
from scenegen.record import once_per_value
from scenegen.scenario import DomeLight, Facet, Light, Lights, Scenario, ShadowCaster
from scenegen.units import Quantity, Unit

NAME = "lighting"
TRIES = 24
LOWEST_LAMP_M = 0.1
"""How far above the table every corner of a lamp must stay [m]."""
VIEW_MARGIN_PX = 8.0
"""How far outside of every image a shadow caster must stay [px]."""

FACTOR = Severity(
    "illuminance_factor", Unit.FACTOR, 1.0, 0.4, 2.0, "key illuminance on the feed, relative to the base's"
)
SHIFT = Severity("temperature_shift", Unit.KELVIN, 0.0, -2300.0, 2500.0, "change of the key light's colour temperature")
TURN = Severity(
    "direction", Unit.DEGREE, 0.0, 0.0, 75.0, "angle between the key light's directions, seen from the feed"
)
SHADOW = Severity("shadow", Unit.SHARE, 0.0, 0.0, 1.0, "largest share of the key light that is hidden from a target")


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Change one thing about the light: its strength, its colour temperature, its direction, or its shadows."""
    modes = _modes(scenario, ctx)
    if not modes:
        raise VariationFailed(NAME, level, "outside_envelope", "a dome has neither direction nor shadow")
    severity, upward = modes[int(rng.integers(len(modes)))]
    value = draw(severity, level, cell=ctx.cell, axis=NAME, rng=rng, upward=upward)
    lights, key = scenario.lights.lights, scenario.lights.lights[0]
    if severity is FACTOR:
        return relit(scenario, tuple(dimmed(light, value) for light in lights))
    if severity is SHIFT:
        return relit(scenario, (warmed(key, value), *lights[1:]))
    if severity is TURN:
        return relit(scenario, (turned(key, value, level=level, ctx=ctx, rng=rng), *lights[1:]))
    limits = band(SHADOW, level, cell=ctx.cell, axis=NAME, upward=True)
    return _shaded(scenario, Aim(SHADOW, level, asked=value, band=limits, axis=NAME), ctx, rng)


def _modes(scenario: Scenario, ctx: AxisContext) -> list[tuple[Severity, bool]]:
    """List what can change, and in which direction; a dome has no direction and casts no shadow."""
    dome = isinstance(scenario.lights.lights[0], DomeLight)
    able = [FACTOR, SHIFT] if dome else [FACTOR, SHIFT, TURN] + [SHADOW] * bool(targets_in(scenario, ctx.cell))
    return [(severity, up) for severity in able for up in directions(severity, cell=ctx.cell, axis=NAME)]


def relit(scenario: Scenario, lights: tuple[Light, ...]) -> Scenario:
    """Return the scene with other lights under the same shadow casters."""
    return scenario.varied(lights=Lights(lights=lights, shadow_casters=scenario.lights.shadow_casters))


def _aim(scenario: Scenario) -> Array:
    """Centre of the feed [m], world frame."""
    return next(f.pose_to_world.position for f in scenario.layout.fixtures if f.name == "feed")


def turned(key: Light, angle_deg: float, *, level: int = 0, ctx: AxisContext, rng: np.random.Generator) -> Light:
    """Swing the key light, no dome, about the nominal feed by an angle, to where it stays above the table.

    Raises:
        VariationFailed: In no direction it does.
    """
    aim, table_m = ctx.cell.feed.pose_to_world.position, ctx.cell.table.pose_top_to_world.position_m[2]
    direction = direction_to(key, aim)
    side = np.cross(direction, np.eye(3)[int(np.argmin(np.abs(direction)))])
    for bearing in rng.uniform(0, 2 * np.pi, TRIES):
        hinge = quat_to_matrix(quat_about(direction, bearing)) @ side
        there = quat_to_matrix(quat_about(hinge, np.radians(angle_deg))) @ direction
        moved = swung(key, aim, there)
        if corners_of(*panel_of(moved, aim))[:, 2].min() >= table_m + LOWEST_LAMP_M:
            return moved
    raise VariationFailed(
        NAME, level, "below_table", f"no direction {angle_deg:.0f} deg away keeps the lamp above the table"
    )


def _shaded(scenario: Scenario, aim: Aim, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Hold a card between the key light and a target, outside of every camera's view.

    A card that is the lamp's own shape, scaled toward the target and narrowed, hides the share of its width.
    """
    targets = targets_in(scenario, ctx.cell)
    for _ in range(TRIES):
        item = targets[int(rng.integers(len(targets)))]
        card = _card(scenario, item.pose_to_world.position, aim.asked, rng)
        corners = corners_of(card.pose_to_world, card.size_m)
        if not all(out_of_view(camera, corners, margin_px=VIEW_MARGIN_PX) for camera in scenario.cameras.cameras):
            aim.miss("in view")
            continue
        lights = Lights(lights=scenario.lights.lights, shadow_casters=(*scenario.lights.shadow_casters, card))
        varied = scenario.varied(lights=lights)
        if aim.hit(_deepest(varied, ctx)):
            return varied
        aim.miss("missed")
    raise aim.failed("no_shadow")


def _card(scenario: Scenario, point: Array, share: float, rng: np.random.Generator) -> ShadowCaster:
    key = scenario.lights.lights[0]
    toward = center_of(key, point) - point
    along = rng.uniform(0.25, 0.75) * min(1.0, 1.5 / float(np.linalg.norm(toward)))
    pose, size = panel_of(key, point)
    return ShadowCaster(
        name=f"card_{len(scenario.lights.shadow_casters)}",
        size_m=(size[0] * along * share, size[1] * along),
        pose_to_world=Pose.of(point + along * toward, pose.quat),
    )


def _deepest(scenario: Scenario, ctx: AxisContext) -> float:
    key, cards = scenario.lights.lights[0], scenario.lights.shadow_casters
    if not cards or isinstance(key, DomeLight):
        return 0.0
    return _deepest_at(key, cards, tuple(item.pose_to_world.position_m for item in targets_in(scenario, ctx.cell)))


@once_per_value
def _deepest_at(key: Light, cards: tuple[ShadowCaster, ...], points: tuple[Vec3, ...]) -> float:
    """Return the largest share of a lamp that cards hide from points; what was drawn is measured again soon after."""
    return float(shaded_share(key, cards, np.array(points).reshape(-1, 3)).max(initial=0.0))


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Measure the key light on the feed: its illuminance, temperature and direction, and its shadow on the targets."""
    before, after, feed = base.lights.lights[0], varied.lights.lights[0], ctx.cell.feed.pose_to_world
    old, new = beam_on(before, feed), beam_on(after, feed)
    values = {
        FACTOR: new.lux / old.lux,
        SHIFT: after.temperature_k - before.temperature_k,
        TURN: 0.0 if before == after else angle_deg(old, new),
        SHADOW: _deepest(varied, ctx) - _deepest(base, ctx),
    }
    return tuple(Quantity(name=severity.name, value=value, unit=severity.unit) for severity, value in values.items())


LIGHTING = Axis(
    name=NAME,
    doc="Stronger, dimmer, warmer or cooler light, light from another direction, or a shadow cast on a target.",
    touches=frozenset({Facet.LIGHTS}),
    severities=(FACTOR, SHIFT, TURN, SHADOW),
    aliases=("LIBERO-Plus: Light Conditions", "Colosseum: light color", "SimplerEnv: lighting", "RoboTwin: light"),
    change=change,
    measure=measure,
)
