"""Specification of surfaces: each thing has one, and looks as it may in this plant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scenegen.axes import background as background_axis
from scenegen.axes import color_shift as color_axis
from scenegen.axes.colors import color_difference, surface_difference
from scenegen.cell import Cell
from scenegen.scenario import Facet, Look, Scenario, Surface
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding
from validators.coverage import coverage
from validators.envelope import Envelope

PART_ENVELOPE = Envelope(color_axis.NAME, color_axis.DIFFERENCE)
GROUND_ENVELOPE = Envelope(background_axis.NAME, background_axis.COLOR)
PATTERN_ENVELOPE = Envelope(background_axis.NAME, background_axis.CONTRAST)


def _check_surfaces(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    items = scenario.layout.items
    surfaces = scenario.surfaces.surfaces
    expected = ["table", *ctx.cell.containers, *(item.name for item in items)]
    yield from coverage(SPEC_SURFACES.name, "surface", [s.subject for s in surfaces], expected)
    parts = {item.name: ctx.parts[item.part].look for item in items if item.part in ctx.parts}
    grounds = {"table": ctx.cell.table_look, "feed": ctx.cell.feed_look}
    for surface in surfaces:
        yield from _sizes(surface, limits)
        if surface.subject in parts:
            yield from _part(surface, parts[surface.subject], ctx.cell)
        elif surface.subject in grounds:
            yield from _ground(surface, grounds[surface.subject], ctx.cell)


def _sizes(surface: Surface, limits: Limits) -> Iterator[Finding]:
    """Stains and patterns are of a size that plants know."""
    stain, pattern, subject = surface.stain, surface.pattern, [surface.subject]
    if stain is not None and stain.share > limits["stain_share"]:
        most = limits["stain_share"]
        sentence = f"a stain covers {stain.share:.0%} of {surface.subject!r} - accepted: at most {most:.0%}"
        yield _finding("stained_over", subject, sentence, stain.share, most, Unit.SHARE)
    for what, size_m in (("stain", stain and stain.patch_m), ("pattern", pattern and pattern.size_m)):
        if size_m is not None and not limits["finest_m"] <= size_m <= limits["coarsest_m"]:
            accepted = f"{limits['finest_m']:g} to {limits['coarsest_m']:g} m"
            sentence = f"the {what} of {surface.subject!r} has a size of {size_m:.4g} m - accepted: {accepted}"
            limit = limits["finest_m"] if size_m < limits["finest_m"] else limits["coarsest_m"]
            yield _finding(f"{what}_size", subject, sentence, size_m, limit, Unit.METRE)


def _part(surface: Surface, nominal: Look, cell: Cell) -> Iterator[Finding]:
    """A part has no pattern, and a colour within the envelope about its own."""
    if surface.pattern is not None:
        sentence = f"{surface.subject!r} has a pattern - accepted: patterns on table, feed and bins"
        yield finding(SPEC_SURFACES.name, "patterned_part", [surface.subject], sentence)
    if surface.look == nominal and surface.stain is None:
        return
    change = surface_difference(Surface(subject=surface.subject, look=nominal), surface)
    what = f"the colour of {surface.subject!r} differs from its part's by"
    yield from PART_ENVELOPE.outside(SPEC_SURFACES.name, "part_color", [surface.subject], what, change, cell)


def _ground(surface: Surface, nominal: Look, cell: Cell) -> Iterator[Finding]:
    """Table and feed have a colour and a pattern within the envelope."""
    name, subject = SPEC_SURFACES.name, [surface.subject]
    if surface.look.color != nominal.color or surface.pattern is not None or surface.stain is not None:
        change = color_difference(nominal.color, surface.mean_color)
        what = f"the mean colour of {surface.subject!r} differs from the cell's by"
        yield from GROUND_ENVELOPE.outside(name, "ground_color", subject, what, change, cell)
    if surface.pattern is not None:
        contrast = color_difference(surface.look.color, surface.pattern.color)
        what = f"the two colours of the pattern of {surface.subject!r} differ by"
        yield from PATTERN_ENVELOPE.outside(name, "ground_pattern", subject, what, contrast, cell)


def _finding(code: str, subjects: list[str], sentence: str, value: float, limit: float, unit: Unit) -> Finding:
    return finding(SPEC_SURFACES.name, code, subjects, sentence, value=value, limit=limit, unit=unit)


SPEC_SURFACES = Check(
    name="spec_surfaces",
    version=2,
    tier=Tier.SPECIFICATION,
    depends=frozenset({Facet.LAYOUT, Facet.SURFACES}),
    doc=(
        "Table, feed, bins and items have one surface each; parts are plain and within the envelope of axis "
        "`color_shift` about their own colour, table and feed within that of axis `background` about the cell's; "
        "stains cover at most `stain_share`, and stains and patterns are `finest_m` to `coarsest_m` in size."
    ),
    run=_check_surfaces,
    limits={"stain_share": 0.9, "finest_m": 0.0005, "coarsest_m": 0.5},
)
