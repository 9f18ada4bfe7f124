"""Does any camera see each target?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from scenegen.imaging.measure import Readings
from scenegen.scenario import Facet, Scenario
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding

VISIBLE_PX = 4
"""Fewest pixels by which a camera shows a target.

One line pair across it, 2 by 2 pixels, is what half of the observers need to find that something is there (Johnson
1958, Analysis of image forming systems). What lies under other parts is sorted after them.
"""


def shown_targets(read: Mapping[str, Readings]) -> dict[str, NDArray[np.bool_]]:
    """Say for each camera which targets it shows by `VISIBLE_PX` or more, shape [n].

    Args:
        read: Camera -> readings of one image, of the targets in the feed.
    """
    return {camera: readings.visible_px[0] >= VISIBLE_PX for camera, readings in read.items()}


def _check_seen(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    read, least = ctx.metered.read(scenario), limits["visible_px"]
    cameras = tuple(read)
    counts = np.stack([readings.visible_px[0] for readings in read.values()])
    for index in np.flatnonzero(counts.max(axis=0) < least).tolist():
        name, best = read[cameras[0]].names[index], int(np.argmax(counts[:, index]))
        count = int(counts[best, index])
        what = f"{count} px of {name!r}, in {cameras[best]!r}" if count else f"nothing of {name!r}"
        sentence = f"the cameras show {what} - accepted: at least {least:g} px in one of them"
        yield finding(SEEN.name, "unseen", [name], sentence, value=count, limit=least, unit=Unit.COUNT)


SEEN = Check(
    name="seen",
    version=1,
    tier=Tier.OPTICS,
    depends=frozenset({Facet.LAYOUT, Facet.CAMERAS}),
    doc="Of each target in the feed at least one camera shows `visible_px` pixels or more.",
    run=_check_seen,
    limits={"visible_px": VISIBLE_PX},
)
