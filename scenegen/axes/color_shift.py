"""Axis `color_shift`: a batch of another paint, oxidised parts, or parts with stains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from scenegen.axes.aim import Aim
from scenegen.axes.appearance import Appearance, appearance_of
from scenegen.axes.axis import Axis, AxisContext, Severity, limits
from scenegen.axes.colors import along, color_difference, differences, share_at, surface_difference
from scenegen.axes.items import targets_in, with_surfaces
from scenegen.axes.shown import target_pixels
from scenegen.errors import VariationFailed
from scenegen.geometry import Array
from scenegen.optical import Color, Stain
from scenegen.record import once_per_value
from scenegen.scenario import Facet, Item, Look, Scenario, Surface
from scenegen.units import Quantity, Unit

NAME = "color_shift"

SEEN = Severity(
    "color_difference",
    Unit.DELTA_E,
    0.0,
    0.0,
    20.0,
    "largest CIEDE2000 of a target's mean colour against the base's, in the first fixed camera, under nominal light",
    least=1.0,
)
DIFFERENCE = Severity(
    "surface_difference",
    Unit.DELTA_E,
    0.0,
    0.0,
    25.0,
    "largest CIEDE2000 of a part's base colour against the base scene's, under the nominal white, over its area",
    graded=False,
)
"""What a single surface is held to, without a picture."""

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
COATS: Mapping[str, tuple[Look, ...]] = {"paint": PAINTS, "oxide": OXIDES, "stain": STAINS}
"""What may cover parts, by kind; stains cover a share of them, the others all."""
MOST_STAINED = 0.7
"""Largest share of a part that stains cover."""
PATCH_M = (0.002, 0.008)
"""Range of the size of patches [m]."""
FIELD = 64.0
"""How far apart, in patch sizes, parts may lie in the field of patches."""
PALETTE = tuple(dict.fromkeys((*PAINTS, *OXIDES, *STAINS)))
"""All of these looks."""
GUESSES = 4
"""Most extents of one cover that are tried."""
STEPS = 32
"""Into how many pieces the way to a full cover is cut to foretell what comes of a part of it."""
DIGITS = 2
"""To how many digits the share that stains cover is told: nobody sees more."""


@dataclass(frozen=True)
class Cover:
    """Something that may cover some targets to any extent up to the most."""

    targets: tuple[Surface, ...]
    """The targets' surfaces before."""
    look: Look
    most: float
    laid: Callable[[float], list[Surface]]
    """From an extent in (0, most] to the covered surfaces."""


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Coat all targets of one kind in the feed with paint or oxide, or stain some targets, to the asked difference."""
    aim = Aim.drawn(SEEN, level, cell=ctx.cell, axis=NAME, rng=rng)
    surfaces = {surface.subject: surface for surface in scenario.surfaces.surfaces}
    farthest = limits(DIFFERENCE, cell=ctx.cell, axis=NAME)[1]
    able = _covers(targets_in(scenario, ctx.cell), surfaces, farthest, rng)
    return colored(scenario, aim, able, level=level, ctx=ctx)


def colored(scenario: Scenario, aim: Aim, covers: Iterable[Cover], *, level: int = 0, ctx: AxisContext) -> Scenario:
    """Cover targets with the first cover that can hit the aim.

    Raises:
        VariationFailed: None can, or no target is seen.
    """
    if not target_pixels(scenario, ctx).names:
        raise VariationFailed(NAME, level, "no_target", "the camera shows no target in the feed")
    surfaces = {surface.subject: surface for surface in scenario.surfaces.surfaces}
    canvas = Canvas(surfaces, appearance_of(scenario, ctx, palette=PALETTE))
    for cover in covers:
        changed = canvas.covered(cover, aim)
        if changed is not None:
            return with_surfaces(scenario, changed)
    raise aim.failed("no_color")


class Canvas:
    """The targets of one scene, before anything covers them."""

    def __init__(self, surfaces: Mapping[str, Surface], seen: Appearance) -> None:
        self._surfaces, self._seen = surfaces, seen
        self._bare = seen.colors(surfaces)

    def covered(self, cover: Cover, aim: Aim) -> list[Surface] | None:
        """Cover targets as far as hits the aim in the picture; None where they cannot be.

        How far is foretold, and mended by what the picture makes of it.
        """
        extents = np.linspace(0.0, cover.most, STEPS + 1, dtype=np.float64)
        foretold = expected = self._foretold(cover, extents)
        seen: dict[float, float] = {}
        for _ in range(GUESSES):
            if aim.asked > expected.max():
                aim.miss("too faint")
                return None
            extent = _first_at(aim.asked, extents, expected)
            changed = cover.laid(extent)
            after = self._seen.colors({**self._surfaces, **{surface.subject: surface for surface in changed}})
            reached = float(differences(self._bare, after).max())
            if aim.hit(reached):
                return changed
            # The picture's difference over the foretold one varies slowly with the extent.
            seen[extent] = reached / float(np.interp(extent, extents, foretold))
            known = sorted(seen)
            expected = foretold * np.interp(extents, known, [seen[one] for one in known])
        aim.miss("missed")
        return None

    def _foretold(self, cover: Cover, extents: Array) -> Array:
        """Foretell the largest difference that extents make, shape [len(extents)], by mixing bare and full colours."""
        subjects = {surface.subject for surface in cover.targets}
        chosen = [index for index, name in enumerate(self._seen.shown.names) if name in subjects]
        if not chosen:
            return np.zeros(len(extents))
        start, end = self._bare[chosen], self._seen.colors_in(cover.look)[chosen]
        return differences(start, start + extents[:, None, None] * (end - start)).max(axis=1)


def _first_at(wanted: float, extents: Array, foretold: Array) -> float:
    """Return the least extent at which a difference is foretold; the first is 0 and makes none."""
    end = int(np.argmax(foretold >= wanted))
    part = (wanted - foretold[end - 1]) / (foretold[end] - foretold[end - 1])
    return float(extents[end - 1] + part * (extents[end] - extents[end - 1]))


def _covers(
    targets: Sequence[Item], surfaces: Mapping[str, Surface], farthest: float, rng: np.random.Generator
) -> Iterator[Cover]:
    """Yield covers of some targets, in random order of how and with what.

    Args:
        targets: The targets in the feed.
        surfaces: Surfaces by subject.
        farthest: Greatest difference of a surface's own colour [dE2000].
        rng: Source of randomness.
    """
    for kind in (tuple(COATS)[index] for index in rng.permutation(3).tolist()):
        chosen = tuple(surfaces[item.name] for item in (_some if kind == "stain" else _batch)(targets, rng))
        yield from covers(kind, chosen, farthest, rng=rng)


def covers(kind: str, chosen: tuple[Surface, ...], farthest: float, *, rng: np.random.Generator) -> Iterator[Cover]:
    """Yield covers of some surfaces with each coat of a kind of `COATS`, in random order.

    Args:
        kind: Key of `COATS`.
        chosen: The surfaces, at least one.
        farthest: Greatest difference of a surface's own colour [dE2000].
        rng: Source of randomness.
    """
    coats, bare = COATS[kind], {surface.mean_color for surface in chosen}
    for look in (coats[index] for index in rng.permutation(len(coats)).tolist()):
        if kind == "stain":
            most = min(MOST_STAINED, *(farthest / max(color_difference(one, look.color), farthest) for one in bare))
            phases, patch_m = rng.uniform(0.0, FIELD, (len(chosen), 3)), float(rng.uniform(*PATCH_M))
            yield Cover(chosen, look, most, partial(_stained, chosen, look, phases, patch_m))
        else:
            most = min(_thickest(one, look.color, farthest) for one in bare)
            yield Cover(chosen, look, most, partial(_coated, chosen, look))


@once_per_value
def _thickest(bare: Color, coat: Color, farthest: float) -> float:
    """Return to which extent a coat may cover a colour so that it stays within a difference; at most 1."""
    share = share_at(bare, np.subtract(coat, bare), difference=farthest)
    return 1.0 if share is None else share


def _batch(targets: Sequence[Item], rng: np.random.Generator) -> list[Item]:
    """Draw all targets of one kind."""
    kinds = sorted({item.part for item in targets})
    kind = kinds[int(rng.integers(len(kinds)))]
    return [item for item in targets if item.part == kind]


def _some(targets: Sequence[Item], rng: np.random.Generator) -> list[Item]:
    """Draw one or more targets."""
    count = int(rng.integers(1, len(targets) + 1))
    return [targets[index] for index in sorted(rng.permutation(len(targets))[:count].tolist())]


def _coated(surfaces: Sequence[Surface], coat: Look, extent: float) -> list[Surface]:
    """Cover surfaces with a coat, so thinly that they look like it to an extent."""
    thin: dict[Look, Look] = {}
    for look in (surface.look for surface in surfaces):
        thin[look] = Look(
            color=along(look.color, coat.color, extent),
            metallic=look.metallic + extent * (coat.metallic - look.metallic),
            roughness=look.roughness + extent * (coat.roughness - look.roughness),
        )
    return [surface.replaced(look=thin[surface.look]) for surface in surfaces]


def _stained(surfaces: Sequence[Surface], look: Look, phases: Array, patch_m: float, extent: float) -> list[Surface]:
    """Cover a share of surfaces with stains."""
    share = min(MOST_STAINED, float(f"{extent:.{DIGITS}g}"))
    stains = [
        Stain(
            color=look.color,
            metallic=look.metallic,
            roughness=look.roughness,
            share=share,
            patch_m=patch_m,
            phase=(x, y, z),
        )
        for x, y, z in phases.tolist()
    ]
    return [surface.replaced(stain=stain) for surface, stain in zip(surfaces, stains, strict=True)]


def _difference(base: Scenario, varied: Scenario, ctx: AxisContext) -> float:
    """Largest CIEDE2000 of a target that both scenes have, in the varied scene's picture."""
    before = {surface.subject: surface for surface in base.surfaces.surfaces}
    after = {surface.subject: surface for surface in varied.surfaces.surfaces}
    if all(before[name] == after[name] for name in before if name in after):
        return 0.0
    seen = appearance_of(varied, ctx, palette=PALETTE)
    apart = differences(seen.colors({**after, **before}), seen.colors(after))
    known = [value for name, value in zip(seen.shown.names, apart.tolist(), strict=True) if name in before]
    return max(known, default=0.0)


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Measure the greatest change of any target that both scenes have: in the picture, and of its surface alone."""
    items = {item.name for item in base.layout.items}
    before = {surface.subject: surface for surface in base.surfaces.surfaces if surface.subject in items}
    apart = [surface_difference(before[s.subject], s) for s in varied.surfaces.surfaces if s.subject in before]
    return (
        Quantity(name=SEEN.name, value=_difference(base, varied, ctx), unit=SEEN.unit),
        Quantity(name=DIFFERENCE.name, value=max(apart, default=0.0), unit=DIFFERENCE.unit),
    )


COLOR_SHIFT = Axis(
    name=NAME,
    doc="A batch of parts has another paint or is oxidised, or parts are stained with rust, oil, coolant or ink.",
    touches=frozenset({Facet.SURFACES}),
    severities=(SEEN, DIFFERENCE),
    aliases=("Colosseum: MO color", "Colosseum: MO texture", "ColosseumV2: MO color"),
    change=change,
    measure=measure,
)
