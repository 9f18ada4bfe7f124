"""Axis `color_shift`: a batch of another paint, oxidised parts, or parts with stains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from scenegen.axes.axis import Axis, AxisContext, Severity, band, draw
from scenegen.axes.colors import along, color_difference, share_at, surface_difference
from scenegen.axes.items import targets_in, with_surfaces
from scenegen.errors import VariationFailed
from scenegen.optical import Stain
from scenegen.scenario import Facet, Item, Look, Scenario, Surface
from scenegen.units import Quantity, Unit

NAME = "color_shift"

DIFFERENCE = Severity(
    "color_difference",
    Unit.DELTA_E,
    0.0,
    0.0,
    25.0,
    "largest CIEDE2000 of a part's colour against the base's, under the nominal white, over its area",
    least=1.0,
)

RUST = Look(color=(0.26, 0.11, 0.045), roughness=0.9)
PAINTS = (
    Look(color=(0.5, 0.03, 0.025), roughness=0.4),
    Look(color=(0.02, 0.07, 0.3), roughness=0.4),
    Look(color=(0.72, 0.45, 0.02), roughness=0.45),
    Look(color=(0.04, 0.16, 0.07), roughness=0.5),
    Look(color=(0.03, 0.03, 0.033), roughness=0.35),
    Look(color=(0.78, 0.78, 0.75), roughness=0.4),
)
"""Full coats of what a plant paints parts with: red, blue, yellow, green, black, white."""
OXIDES = (
    RUST,
    Look(color=(0.05, 0.047, 0.045), metallic=0.4, roughness=0.7),
    Look(color=(0.7, 0.7, 0.68), roughness=0.85),
)
"""What metal turns into: rust, tarnish, white rust of zinc."""
STAINS = (
    RUST,
    Look(color=(0.028, 0.02, 0.012), roughness=0.12),
    Look(color=(0.74, 0.75, 0.71), roughness=0.85),
    Look(color=(0.02, 0.05, 0.32), roughness=0.5),
)
"""What lies on parts in patches: rust, old oil, dried coolant, marking ink."""
MOST_STAINED = 0.7
"""Largest share of a part that stains cover."""
PATCH_M = (0.002, 0.008)
"""Range of the size of patches [m]."""
FIELD = 64.0
"""How far apart, in patch sizes, parts may lie in the field of patches."""


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Coat all targets of one kind in the feed with paint or oxide, or stain some targets, to the asked difference."""
    targets = targets_in(scenario, ctx.cell)
    if not targets:
        raise VariationFailed(NAME, level, "no_target", "no target lies in the feed")
    value = draw(DIFFERENCE, level, cell=ctx.cell, axis=NAME, rng=rng)
    near, far = band(DIFFERENCE, level, cell=ctx.cell, axis=NAME, upward=True)
    surfaces = {surface.subject: surface for surface in scenario.surfaces.surfaces}
    for changed in _candidates(targets, surfaces, value, rng):
        if all(near < surface_difference(surfaces[one.subject], one) <= far for one in changed):
            return with_surfaces(scenario, changed)
    raise VariationFailed(NAME, level, "no_color", f"no coat or stain is {value:.1f} {DIFFERENCE.unit} away")


def _candidates(
    targets: Sequence[Item], surfaces: dict[str, Surface], value: float, rng: np.random.Generator
) -> Iterator[list[Surface]]:
    """Yield changed surfaces of some targets, in random order of how and with what."""
    for kind in rng.permutation(3).tolist():
        chosen = _some(targets, rng) if kind == 2 else _batch(targets, rng)
        coats = (PAINTS, OXIDES, STAINS)[kind]
        for look in (coats[index] for index in rng.permutation(len(coats)).tolist()):
            if kind == 2:
                changed = [_stained(surfaces[item.name], look, value, rng) for item in chosen]
            else:
                changed = [_coated(surfaces[item.name], look, value) for item in chosen]
            whole = [surface for surface in changed if surface is not None]
            if len(whole) == len(changed):
                yield whole


def _batch(targets: Sequence[Item], rng: np.random.Generator) -> list[Item]:
    """Draw all targets of one kind."""
    kinds = sorted({item.part for item in targets})
    kind = kinds[int(rng.integers(len(kinds)))]
    return [item for item in targets if item.part == kind]


def _some(targets: Sequence[Item], rng: np.random.Generator) -> list[Item]:
    """Draw one or more targets."""
    count = int(rng.integers(1, len(targets) + 1))
    return [targets[index] for index in sorted(rng.permutation(len(targets))[:count].tolist())]


def _coated(surface: Surface, coat: Look, value: float) -> Surface | None:
    """Cover a surface so thinly that it is a difference away from before; None where even a full coat is nearer."""
    look = surface.look
    share = share_at(look.color, np.subtract(coat.color, look.color), difference=value)
    if share is None:
        return None
    thin = Look(
        color=along(look.color, coat.color, share),
        metallic=look.metallic + share * (coat.metallic - look.metallic),
        roughness=look.roughness + share * (coat.roughness - look.roughness),
    )
    return surface.replaced(look=thin)


def _stained(surface: Surface, look: Look, value: float, rng: np.random.Generator) -> Surface | None:
    """Cover as much of a surface as makes the difference; None where that is too much of it."""
    phase = tuple(rng.uniform(0.0, FIELD, 3).tolist())
    patch_m = float(rng.uniform(*PATCH_M))
    apart = color_difference(surface.mean_color, look.color)
    if value > MOST_STAINED * apart:
        return None
    stain = Stain(
        color=look.color,
        metallic=look.metallic,
        roughness=look.roughness,
        share=value / apart,
        patch_m=patch_m,
        phase=phase,
    )
    return surface.replaced(stain=stain)


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Measure the greatest change of colour of any item that both scenes have."""
    items = {item.name for item in base.layout.items}
    before = {surface.subject: surface for surface in base.surfaces.surfaces if surface.subject in items}
    apart = [surface_difference(before[s.subject], s) for s in varied.surfaces.surfaces if s.subject in before]
    return (Quantity(name=DIFFERENCE.name, value=max(apart, default=0.0), unit=DIFFERENCE.unit),)


COLOR_SHIFT = Axis(
    name=NAME,
    doc="A batch of parts has another paint or is oxidised, or parts are stained with rust, oil, coolant or ink.",
    touches=frozenset({Facet.SURFACES}),
    severities=(DIFFERENCE,),
    aliases=("Colosseum: MO color", "Colosseum: MO texture", "ColosseumV2: MO color"),
    change=change,
    measure=measure,
)
