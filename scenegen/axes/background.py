"""Axis `background`: table or feed have another colour, or a pattern."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from scenegen.axes.axis import Axis, AxisContext, Severity, directions, draw
from scenegen.axes.colors import along, color_difference, share_at
from scenegen.axes.items import targets_in, with_surfaces
from scenegen.errors import VariationFailed
from scenegen.optical import SECOND_SHARE, Color, Pattern, PatternKind
from scenegen.scenario import Facet, Scenario, Surface
from scenegen.units import Quantity, Unit

NAME = "background"
GROUNDS = ("table", "feed")

COLOR = Severity(
    "color_difference",
    Unit.DELTA_E,
    0.0,
    0.0,
    30.0,
    "larger CIEDE2000 of the mean colours of table and feed against the base's, under the nominal white",
    least=1.0,
)
CONTRAST = Severity(
    "pattern_contrast",
    Unit.DELTA_E,
    0.0,
    0.0,
    40.0,
    "larger CIEDE2000 between the two colours of a pattern on table or feed, beyond the base's",
    least=1.0,
)

LEAST_CONTRAST = 8.0
"""Least CIEDE2000 between a target and any colour of what it lies on, unless the base has less [dE2000].

About eight times what a trained eye just sees: a person finds the part at a glance.
"""
COLORS: tuple[Color, ...] = (
    (0.8, 0.8, 0.78),
    (0.015, 0.015, 0.016),
    (0.45, 0.27, 0.12),
    (0.42, 0.3, 0.17),
    (0.04, 0.22, 0.09),
    (0.03, 0.12, 0.35),
    (0.45, 0.05, 0.04),
    (0.65, 0.5, 0.05),
)
"""What tables and trays are made of or covered with: white and black plastic, wood, cardboard, coloured mats."""
SIZES_M = {
    PatternKind.CHECKER: (0.01, 0.05),
    PatternKind.STRIPES: (0.008, 0.06),
    PatternKind.SPECKLE: (0.004, 0.015),
    PatternKind.WOOD: (0.005, 0.02),
}
"""Range of the sizes of patterns [m]."""


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Give table or feed another colour or a pattern, and keep every target's contrast to what it lies on."""
    able = [s for s in (COLOR, CONTRAST) if directions(s, cell=ctx.cell, axis=NAME)]
    severity = able[int(rng.integers(len(able)))]
    value = draw(severity, level, cell=ctx.cell, axis=NAME, rng=rng)
    before = {surface.subject: surface for surface in scenario.surfaces.surfaces}
    colors = [*COLORS, *(b.look.color for b in ctx.cell.bins)] if severity is CONTRAST else list(COLORS)
    faint = tried = 0
    for subject in rng.permutation(GROUNDS).tolist():
        for index in rng.permutation(len(colors)).tolist():
            make = _painted if severity is COLOR else _patterned
            surface = make(before[subject], colors[index], value, rng)
            if surface is None:
                continue
            tried += 1
            if _keeps_contrast(scenario, before, surface, ctx):
                return with_surfaces(scenario, [surface])
            faint += 1
    detail = f"{tried} grounds {value:.1f} {severity.unit} away, {faint} of them too near a target's colour"
    raise VariationFailed(NAME, level, "no_ground", detail)


def _painted(surface: Surface, color: Color, value: float, rng: np.random.Generator) -> Surface | None:
    """Change a ground toward a colour until it is a difference away; None where even the colour itself is nearer."""
    look = surface.look
    share = share_at(look.color, np.subtract(color, look.color), difference=value)
    if share is None:
        return None
    return surface.replaced(look=look.replaced(color=along(look.color, color, share)))


def _patterned(surface: Surface, color: Color, value: float, rng: np.random.Generator) -> Surface | None:
    """Split a ground's colour into two that are a difference apart, the second toward a colour; the mean stays."""
    kind = tuple(PatternKind)[int(rng.integers(len(PatternKind)))]
    size_m, angle_rad = float(rng.uniform(*SIZES_M[kind])), float(rng.uniform(0.0, np.pi))
    start, second = np.array(surface.mean_color), SECOND_SHARE[kind]
    toward, away = (1 - second) * np.subtract(color, start), -second * np.subtract(color, start)
    # The first colour must stay one: it reaches black or full reflectance after this part of its way.
    room = np.where(away < 0, start, 1 - start)
    reach = min(1.0, float(np.min(room / np.maximum(np.abs(away), 1e-9))))
    share = share_at(start, reach * toward, counter=reach * away, difference=value)
    if share is None:
        return None
    first, other = (tuple(np.clip(start + share * reach * way, 0, 1).tolist()) for way in (away, toward))
    return surface.replaced(
        look=surface.look.replaced(color=first),
        pattern=Pattern(kind=kind, color=other, size_m=size_m, angle_rad=angle_rad),
    )


def _keeps_contrast(scenario: Scenario, before: Mapping[str, Surface], ground: Surface, ctx: AxisContext) -> bool:
    """Tell whether every target on a ground still stands out from it."""
    for item in targets_in(scenario, ctx.cell, zone=ground.subject):
        color = before[item.name].mean_color
        if _contrast(color, ground) < min(LEAST_CONTRAST, _contrast(color, before[ground.subject])):
            return False
    return True


def _contrast(color: Color, ground: Surface) -> float:
    """Return the CIEDE2000 of a colour from the nearest colour of a ground."""
    second = () if ground.pattern is None else (ground.pattern.color,)
    return min(color_difference(color, one) for one in (ground.look.color, *second))


def _pattern_contrast(surface: Surface) -> float:
    return 0.0 if surface.pattern is None else color_difference(surface.look.color, surface.pattern.color)


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Measure the greater change of colour of table and feed, and the greater contrast that a pattern has added."""
    before, after = ({s.subject: s for s in one.surfaces.surfaces if s.subject in GROUNDS} for one in (base, varied))
    shared = [(before[name], after[name]) for name in before if name in after]
    apart = [color_difference(old.mean_color, new.mean_color) for old, new in shared]
    added = [_pattern_contrast(new) - _pattern_contrast(old) for old, new in shared]
    return (
        Quantity(name=COLOR.name, value=max(apart, default=0.0), unit=COLOR.unit),
        Quantity(name=CONTRAST.name, value=max(added, default=0.0), unit=CONTRAST.unit),
    )


BACKGROUND = Axis(
    name=NAME,
    doc="Table or feed have another colour or a pattern; the targets still stand out from what they lie on.",
    touches=frozenset({Facet.SURFACES}),
    severities=(COLOR, CONTRAST),
    aliases=(
        "LIBERO-Plus: Background Textures",
        "Colosseum: table color",
        "Colosseum: table texture",
        "SimplerEnv: table texture",
    ),
    change=change,
    measure=measure,
)
