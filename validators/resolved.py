"""Can the cameras, as they stand in this scene, tell its look-alikes apart?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import inf, isfinite

import numpy as np

from scenegen.axes.items import targets_in
from scenegen.geometry import Pose
from scenegen.parts.part import Part
from scenegen.scenario import Facet, Scenario
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding
from validators.look_alikes import ALIKE_PX, difference_px, told_apart
from validators.seen import shown_targets


def _check_resolved(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    items = targets_in(scenario, ctx.cell)
    pairs = tuple(told_apart(sorted({item.part for item in items}), ctx.parts, scenario.task.rules))
    if not pairs:
        return
    # Numbers of items, in sets: there are so few that calls of numpy would cost more.
    targets = shown_targets(ctx.metered.read(scenario))
    shown = {camera: frozenset(np.flatnonzero(seen).tolist()) for camera, seen in targets.items()}
    somewhere = sorted(frozenset().union(*shown.values()))
    least = limits["difference_px"]
    for pair in pairs:
        a, b = ([index for index in somewhere if items[index].part == part] for part in pair)
        px = _differences(ctx.parts[pair[0]], ctx.parts[pair[1]], scenario, ctx.cell.feed.pose_to_world, least)
        worst = _worst(a, b, shown, px, least)
        if worst is not None:
            first, second, most = worst
            yield _unresolved(items[first].name, items[second].name, most, least)


def _differences(a: Part, b: Part, scenario: Scenario, feed: Pose, enough_px: float) -> Iterator[tuple[str, float]]:
    """Yield by how much two parts differ in each camera [px], the camera's name first."""
    blur = {sensor.camera: sensor.blur_px for sensor in scenario.sensor.sensors}
    for camera in scenario.cameras.cameras:
        name = camera.name
        yield name, difference_px(a, b, camera, feed, blur_px=blur.get(name, 0.0), enough_px=enough_px)


def _worst(
    a: Sequence[int],
    b: Sequence[int],
    shown: Mapping[str, frozenset[int]],
    px: Iterable[tuple[str, float]],
    least: float,
) -> tuple[int, int, float] | None:
    """Return the items of two parts that differ least in the best camera which shows both, and by how much [px].

    Args:
        a: Numbers of the items of the first part.
        b: Numbers of those of the second.
        shown: Numbers of the items that each camera shows.
        px: By how much the parts differ in each camera; asked for until it is enough.
        least: What is enough.

    Returns:
        None where all differ enough; a difference of -infinity where no camera shows both.
    """
    best = dict.fromkeys(product(a, b), -inf)
    for camera, difference in px:
        if difference >= least and shown[camera].issuperset((*a, *b)):
            return None
        best.update({two: max(known, difference) for two, known in best.items() if shown[camera].issuperset(two)})
    worst = min(best, key=lambda two: best[two], default=None)
    return (*worst, best[worst]) if worst is not None and best[worst] < least else None


def _unresolved(a: str, b: str, px: float, least: float) -> Finding:
    if isfinite(px):
        what = f"{a!r} and {b!r} go to different bins but differ by {px:.2g} px in the best camera that shows both"
    else:
        what = f"{a!r} and {b!r} go to different bins, and no camera shows both"
    sentence = f"{what} - accepted: a difference of at least {least:g} px in one camera"
    return finding(RESOLVED.name, "unresolved", [a, b], sentence, value=px, limit=least, unit=Unit.PIXEL)


RESOLVED = Check(
    name="look_alikes",
    version=1,
    tier=Tier.OPTICS,
    depends=frozenset({Facet.LAYOUT, Facet.CAMERAS, Facet.SENSOR, Facet.TASK}),
    doc=(
        "Every two look-alikes in the feed that go to different bins differ by `difference_px` or more in a camera "
        "that shows both, from where it stands and through its lens blur."
    ),
    run=_check_resolved,
    limits={"difference_px": ALIKE_PX},
)
