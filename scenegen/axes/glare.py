"""Axis `glare`: a bright lamp hangs where a target mirrors it into the camera."""

from __future__ import annotations

import numpy as np

from scenegen.axes.aim import Aim
from scenegen.axes.axis import Axis, AxisContext, Severity
from scenegen.axes.highlights import added_by, exposed, luminance_for, saturated_shares
from scenegen.axes.lamp import corners_of
from scenegen.axes.shown import TargetPixels, target_pixels
from scenegen.axes.view import out_of_view
from scenegen.errors import VariationFailed
from scenegen.geometry import Array, Pose, quat_between
from scenegen.scenario import Facet, Lights, RectLight, Scenario
from scenegen.units import Quantity, Unit

NAME = "glare"
TRIES = 48
"""Most lamps that are looked at."""
GUESSES = 2
"""Most luminances of one lamp that are tried."""

SATURATED = Severity(
    "saturated_share",
    Unit.SHARE,
    0.0,
    0.0,
    0.6,
    "largest growth of the share of a target's visible pixels that are saturated, in the first fixed camera",
    least=0.02,
)

SIZE_M = (0.03, 0.15)
"""Range of a lamp's edge: a single LED module to a small panel [m]."""
DISTANCE_M = (0.35, 1.3)
"""Range of its distance from the target [m]."""
SPREAD_RAD = 0.04
"""Standard deviation of its direction about the mirror direction, each way [rad]."""
STEEPEST = 0.3
"""Least sine of its elevation seen from the target: lamps hang above, they do not lie on the table."""
LOWEST_M = 0.15
"""How far above the table every corner of it must stay [m]."""
RANGE_NIT = (2e3, 5e5)
"""Range of its luminance: from an office panel to a bare high-power LED module behind a diffuser [cd/m²]."""
VIEW_MARGIN_PX = 8.0
"""How far outside of every image it must stay [px]."""
UNIT_NIT = 1000.0
"""Luminance at which its effect is probed [cd/m²]."""


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Hang a lamp near the mirror direction of a target, as bright as saturates the asked share of its pixels."""
    aim = Aim.drawn(SATURATED, level, cell=ctx.cell, axis=NAME, rng=rng)
    shown = target_pixels(scenario, ctx)
    if not shown.names:
        raise VariationFailed(NAME, level, "no_target", "the camera shows no target in the feed")
    lit = exposed(scenario, shown, ctx)
    for _ in range(TRIES):
        lamp = _lamp(scenario, shown, ctx, rng)
        if lamp is None:
            aim.miss("in view or too low")
            continue
        found = _lit_by(lamp, scenario, lit, aim, ctx)
        if found is not None:
            return found
    raise aim.failed("no_glare")


def _lit_by(lamp: RectLight, scenario: Scenario, lit: Array, aim: Aim, ctx: AxisContext) -> Scenario | None:
    """Make a lamp as bright as hits the aim; None where it cannot.

    A first guess leaves out shadows and what other things reflect: it costs little and tells most lamps that cannot.
    The second is from a picture of the first, and exact, since light adds up.
    """
    shown = target_pixels(scenario, ctx)
    added = added_by(lamp, scenario, shown, ctx)
    for _ in range(GUESSES):
        luminance = luminance_for(lit, added, shown, aim, range_nit=RANGE_NIT)
        if luminance is None:
            aim.miss("not by a lamp")
            return None
        varied = _with(scenario, lamp.replaced(luminance_nit=luminance))
        share, pixels = _growth(scenario, varied, ctx)
        if aim.hit(share, pixels=pixels):
            return varied
        added = (exposed(varied, shown, ctx) - lit) / luminance
    aim.miss("missed")
    return None


def _lamp(scenario: Scenario, shown: TargetPixels, ctx: AxisContext, rng: np.random.Generator) -> RectLight | None:
    """Draw a lamp in the mirror direction of some pixel of a target; None where a camera would see it or it is low."""
    owned = np.flatnonzero(shown.owners == int(rng.integers(len(shown.names))))
    pixel = int(owned[int(rng.integers(len(owned)))])
    direction = shown.mirrored(pixel) + rng.normal(0.0, SPREAD_RAD, 3)
    direction = direction / np.linalg.norm(direction)
    distance, size = float(rng.uniform(*DISTANCE_M)), float(rng.uniform(*SIZE_M))
    if direction[2] < STEEPEST:
        return None
    pose = Pose.of(shown.positions(pixel) + distance * direction, quat_between((0, 0, 1), direction))
    lamp = RectLight(
        name=f"glare_{len(scenario.lights.lights)}",
        luminance_nit=UNIT_NIT,
        temperature_k=ctx.cell.lights[0].temperature_k,
        size_m=(size, size),
        pose_to_world=pose,
    )
    corners = corners_of(pose, lamp.size_m)
    lowest = ctx.cell.table.pose_top_to_world.position_m[2] + LOWEST_M
    hung = corners[:, 2].min() >= lowest
    unseen = all(out_of_view(camera, corners, margin_px=VIEW_MARGIN_PX) for camera in scenario.cameras.cameras)
    return lamp if hung and unseen else None


def _with(scenario: Scenario, lamp: RectLight) -> Scenario:
    lights = scenario.lights
    return scenario.varied(lights=Lights(lights=(*lights.lights, lamp), shadow_casters=lights.shadow_casters))


def _growth(base: Scenario, varied: Scenario, ctx: AxisContext) -> tuple[float, int]:
    """Largest growth of a target's saturated share, and how many pixels show that target [px]."""
    if base.lights == varied.lights and base.layout == varied.layout:
        return 0.0, 1
    before, after = saturated_shares(base, ctx), saturated_shares(varied, ctx)
    grown = {name: after[name] - before[name] for name in after if name in before}
    if not grown:
        return 0.0, 1
    worst = max(grown, key=lambda name: grown[name])
    shown = target_pixels(varied, ctx)
    return grown[worst], int(shown.counts[shown.names.index(worst)])


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Measure by how much the saturated share of any target has grown."""
    growth, _ = _growth(base, varied, ctx)
    return (Quantity(name=SATURATED.name, value=max(0.0, growth), unit=SATURATED.unit),)


GLARE = Axis(
    name=NAME,
    doc="A bright lamp hangs where a target mirrors it into the camera, so that part of the target is saturated.",
    touches=frozenset({Facet.LIGHTS}),
    severities=(SATURATED,),
    aliases=("LIBERO-Plus: Light Conditions (specular)", "no field term: glare on metal parts"),
    change=change,
    measure=measure,
)
