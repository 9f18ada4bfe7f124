"""Does each optical departure of a scene show in a camera's image?"""

from __future__ import annotations

from collections.abc import Iterable

from scenegen.imaging.departure import departed, detectability, moved_pixels
from scenegen.scenario import Facet, Scenario
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding


def _check_observable(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    for facet in departed(scenario, ctx.metered):
        if facet is Facet.CAMERAS:
            value, limit, unit = float(moved_pixels(scenario, ctx.metered)), limits["moved_px"], Unit.PIXEL
            what = f"the targets' pictures differ in {value:.0f} px"
        else:
            value, limit, unit = detectability(scenario, facet, ctx.metered), limits["noise_factor"], Unit.NONE
            what = f"no picture differs by more than {value:.2g} times the sensor's noise"
        if value < limit:
            sentence = f"{facet.value} depart from the cell's own but {what} - accepted: at least {limit:g}"
            yield finding(OBSERVABLE.name, "unseen", [facet.value], sentence, value=value, limit=limit, unit=unit)


OBSERVABLE = Check(
    name="observable",
    version=1,
    tier=Tier.OPTICS,
    depends=frozenset({Facet.LAYOUT, Facet.MOTION, Facet.SURFACES, Facet.LIGHTS, Facet.CAMERAS, Facet.SENSOR}),
    doc=(
        "Lights, surfaces, sensors and cameras that are not the cell's change what some camera shows of a target "
        "(or of the surfaces that changed): by `noise_factor` times the noise, all pixels together (Rose 1948); "
        "cameras by at least `moved_px` pixels."
    ),
    run=_check_observable,
    limits={"noise_factor": 5.0, "moved_px": 2.0},
)
