"""Edits of surfaces and lights, by the machinery of the axes."""

from __future__ import annotations

import numpy as np

from scenegen.axes import color_shift, lighting
from scenegen.axes.aim import Aim
from scenegen.axes.axis import AxisContext, limits
from scenegen.axes.lamp import dimmed, warmed
from scenegen.errors import VariationFailed
from scenegen.scenario import DomeLight, Scenario
from scenegen.vlm.edits import ChangeLight, ChangeSurface
from scenegen.vlm.moves import target_of


def change_surface(edit: ChangeSurface, scenario: Scenario, ctx: AxisContext, *, rng: np.random.Generator) -> Scenario:
    """Coat or stain one target, to a colour difference in the picture."""
    item = target_of(edit.item, scenario, ctx, axis=color_shift.NAME)
    if edit.coat not in color_shift.COATS:
        raise VariationFailed(color_shift.NAME, 0, "no_coat", f"no coat is called {edit.coat!r}")
    surfaces = tuple(surface for surface in scenario.surfaces.surfaces if surface.subject == item.name)
    low, high = edit.low_difference, edit.high_difference
    aim = Aim.within(color_shift.SEEN, low, high, cell=ctx.cell, axis=color_shift.NAME, rng=rng)
    farthest = limits(color_shift.DIFFERENCE, cell=ctx.cell, axis=color_shift.NAME)[1]
    return color_shift.colored(scenario, aim, color_shift.covers(edit.coat, surfaces, farthest, rng=rng), ctx=ctx)


def change_light(edit: ChangeLight, scenario: Scenario, ctx: AxisContext, *, rng: np.random.Generator) -> Scenario:
    """Dim or brighten all lights, and shift the key light's colour temperature and direction."""
    factor = rng.uniform(edit.low_percent, edit.high_percent) / 100
    shift_k = rng.uniform(edit.low_kelvin, edit.high_kelvin)
    angle_deg = rng.uniform(edit.low_deg, edit.high_deg)
    key, *others = (dimmed(light, factor) for light in scenario.lights.lights)
    key = warmed(key, shift_k)
    if angle_deg > 0 and not isinstance(key, DomeLight):
        key = lighting.turned(key, angle_deg, ctx=ctx, rng=rng)
    return lighting.relit(scenario, (key, *others))
