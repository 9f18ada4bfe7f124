"""Can the cameras, as they stand in this scene, tell its look-alikes apart?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from scenegen.axes.items import targets_in
from scenegen.geometry import Array, Pose
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
    shown, least = shown_targets(ctx.metered.read(scenario)), limits["difference_px"]
    somewhere = np.any(tuple(shown.values()), axis=0)
    for pair in pairs:
        rows, columns = ([i for i, item in enumerate(items) if item.part == part and somewhere[i]] for part in pair)
        if not rows or not columns:
            continue
        both = {camera: np.outer(seen[rows], seen[columns]) for camera, seen in shown.items()}
        best = _best_px(ctx.parts[pair[0]], ctx.parts[pair[1]], both, scenario, ctx.cell.feed.pose_to_world, least)
        row, column = np.unravel_index(np.argmin(best), best.shape)
        if best[row, column] < least:
            yield _unresolved(items[rows[row]].name, items[columns[column]].name, float(best[row, column]), least)


def _best_px(
    a: Part, b: Part, both: Mapping[str, NDArray[np.bool_]], scenario: Scenario, feed: Pose, enough_px: float
) -> Array:
    """Return by how much each item of one part differs from each of another in the best camera that shows both [px].

    Args:
        a: The first part.
        b: The second part.
        both: For each camera whether it shows both items, shape [n, m].
        scenario: The scene.
        feed: Pose of the feed to the world.
        enough_px: Cameras are not gone on through once all differ by that much.

    Returns:
        Differences, -infinite where no camera shows both, shape [n, m].
    """
    blur = {sensor.camera: sensor.blur_px for sensor in scenario.sensor.sensors}
    best = np.full(next(iter(both.values())).shape, -np.inf)
    for camera in scenario.cameras.cameras:
        if both[camera.name].any() and best.min() < enough_px:
            px = difference_px(a, b, camera, feed, blur_px=blur.get(camera.name, 0.0), enough_px=enough_px)
            best = np.where(both[camera.name], np.fmax(best, px), best)
    return best


def _unresolved(a: str, b: str, px: float, least: float) -> Finding:
    if np.isfinite(px):
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
