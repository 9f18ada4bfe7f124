"""Look-alikes: which parts the sort rules tell apart, and by how many pixels they differ in a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import hypot, sqrt

import numpy as np

from scenegen.geometry import Array, Pose, quat_multiply, quat_yaw
from scenegen.imaging.mask import RayShape, silhouette
from scenegen.imaging.pinhole import project
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Part
from scenegen.record import once_per_value
from scenegen.relations import rules_for
from scenegen.scenario import Camera, SortRule

ALIKE_PX = 2.0
"""Least difference of look-alikes that go to different bins [px]."""
YAWS = 24
"""Turns at which two outlines are laid over each other."""
RAYS = 128
"""Rays along each side of the square, twice as wide as the parts are long, in which outlines are compared.

Where a pixel is 3 mm, one ray a pixel finds the strip between two washers to be 2.6 to 8 mm wide; it is 4.5 mm.
"""


def told_apart(present: Sequence[str], parts: Catalogue, rules: Sequence[SortRule]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of look-alikes that go to different bins, in the order given.

    Args:
        present: Ids of parts, each once.
        parts: Those parts.
        rules: The sort rules.
    """
    bins = {part: [rule.bin for rule in rules_for(part, parts[part].label, rules)] for part in present}
    for index, a in enumerate(present):
        for b in present[index + 1 :]:
            if (b in parts[a].look_alikes or a in parts[b].look_alikes) and bins[a] != bins[b]:
                yield a, b


def difference_px(
    a: Part, b: Part, camera: Camera, feed: Pose, *, blur_px: float = 0.0, enough_px: float = np.inf
) -> float:
    """Say by how many pixels two parts differ in a picture, each in its most probable pose at the feed's centre.

    What an outline measures in a blurred picture grows with the blur: the variance of a Gaussian adds to that of an
    even line, so that a size s appears as sqrt(s² + 12 σ²), and two sizes differ by less. Motion blur is left out:
    across its direction it changes nothing.

    Args:
        a: A part.
        b: Another one.
        camera: The camera with its pose.
        feed: Pose of the feed to the world.
        blur_px: Standard deviation σ of the lens blur [px].
        enough_px: Where the sizes differ by that much, shapes are not compared [px].

    Returns:
        The larger of two numbers: by how much length or breadth of the outlines differ, and how wide a strip the
        outlines do not share when laid over each other at the best yaw [px]. NaN for a camera that has its back to the
        feed.
    """
    sizes_a, sizes_b = (_sizes_px(part, camera, feed) for part in (a, b))
    sizes = max(abs(_apparent(x, blur_px) - _apparent(y, blur_px)) for x, y in zip(sizes_a, sizes_b, strict=True))
    if not sizes < enough_px:
        return sizes
    size = sum(sizes_a) / 2
    strip = _apparent(size + _strip_px(a, b, camera, feed), blur_px) - _apparent(size, blur_px)
    return max(sizes, strip)


def _apparent(size_px: float, blur_px: float) -> float:
    return hypot(size_px, sqrt(12) * blur_px)


def _rest(part: Part) -> tuple[tuple[float, ...], float]:
    best = max(part.stable_poses, key=lambda rest: rest.probability)
    return best.quat_xyzw, best.height_m


@once_per_value
def _sizes_px(part: Part, camera: Camera, feed: Pose) -> tuple[float, float]:
    """Length and breadth of a part's outline: largest and smallest width over all directions [px]."""
    quat, height = _rest(part)
    pixels = project(camera, feed.after(Pose.of((0, 0, height), quat)).apply(part.mesh.vertices))
    angles = np.linspace(0, np.pi, 90, endpoint=False)
    spans = np.ptp(pixels @ np.stack([np.cos(angles), np.sin(angles)]), axis=0)
    return float(spans.max()), float(spans.min())


@once_per_value
def _strip_px(a: Part, b: Part, camera: Camera, feed: Pose) -> float:
    """Width of the strip that two outlines do not share, laid over each other at the best yaw [px]."""
    side_px = 2 * max(_sizes_px(part, camera, feed)[0] for part in (a, b))
    near = _close_up(camera, feed.position, side_px)
    still = _laid(a, near, feed, 0.0)
    apart = min(int((still ^ _laid(b, near, feed, yaw)).sum()) for yaw in np.arange(YAWS) * 2 * np.pi / YAWS)
    return apart * (side_px / RAYS) ** 2 / sum(_sizes_px(a, camera, feed))


def _close_up(camera: Camera, point_m: Array, side_px: float) -> Camera:
    """Return a camera of `RAYS` by `RAYS` pixels that shows a square about a point [m] as the given one does."""
    scale = RAYS / side_px
    shift = np.array(camera.principal_px) - project(camera, point_m[None])[0] + side_px / 2
    focal, principal = np.array(camera.focal_px) * scale, shift * scale
    return camera.replaced(
        width_px=RAYS, height_px=RAYS, focal_px=tuple(focal.tolist()), principal_px=tuple(principal.tolist())
    )


def _laid(part: Part, camera: Camera, feed: Pose, yaw: float) -> np.ndarray:
    """Mask of a part at the feed's centre, turned by a yaw, the middle of its outline at the centre."""
    quat, height = _rest(part)
    turned = quat_multiply(quat_yaw(yaw), np.array(quat))
    local = Pose.of((0, 0, height), turned).apply(part.mesh.vertices)
    middle: Array = (local.max(axis=0) + local.min(axis=0)) / 2
    pose = feed.after(Pose.of((-middle[0], -middle[1], height), turned))
    return silhouette(_shape(part), camera, pose)


@lru_cache(maxsize=64)
def _shape(part: Part) -> RayShape:
    return RayShape(part.mesh.vertices, part.mesh.faces)
