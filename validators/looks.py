"""Semantics of looks: each bin can be told by its colour."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from scenegen.geometry import Array
from scenegen.optical import Color
from scenegen.scenario import Facet, Scenario
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding


def _perceived(color: Color) -> Array:
    """A colour with about even steps to the eye: the cube root, as CIELAB has it."""
    return np.cbrt(np.array(color))


def _check_bin_looks(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    colors = {surface.subject: surface.mean_color for surface in scenario.surfaces.surfaces}
    names = [b.name for b in ctx.cell.bins]
    nominal = np.array([_perceived(b.look.color) for b in ctx.cell.bins])
    present = np.array([_perceived(colors[name]) for name in names])
    distance = np.linalg.norm(present[:, None] - nominal[None], axis=2)
    for index, name in enumerate(names):
        other = int(np.argmin(distance[index]))
        margin = distance[index, index] - distance[index, other]
        if margin > limits["margin"]:
            sentence = (
                f"bin {name!r} looks like bin {names[other]!r} - accepted: its own colour nearer than any other bin's"
            )
            yield finding(
                BIN_LOOKS.name,
                "swapped",
                [name, names[other]],
                sentence,
                value=margin,
                limit=limits["margin"],
                unit=Unit.NONE,
            )


BIN_LOOKS = Check(
    name="bin_looks",
    version=2,
    tier=Tier.SEMANTICS,
    depends=frozenset({Facet.SURFACES}),
    doc=(
        "Each bin's mean colour, pattern and stains included, is nearer (within `margin`, cube root of linear RGB) to "
        "its own nominal one than to that of any other bin."
    ),
    run=_check_bin_looks,
    limits={"margin": 0.02},
)
