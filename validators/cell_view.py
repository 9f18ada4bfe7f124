"""Does the overhead camera of a cell see the feed, finely enough to tell look-alikes apart?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scenegen.cell import Cell, CellCamera, Role
from scenegen.geometry import Array, Pose, quat_multiply, quat_yaw
from scenegen.imaging.mask import RayShape, silhouette
from scenegen.imaging.pinhole import project
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Part
from scenegen.relations import rules_for
from scenegen.scenario import Camera
from scenegen.units import Unit
from scenegen.verdict import Finding
from validators.check import finding
from validators.hidden import CAMERA

NAME = "cell"
PIXEL_M = 0.0015
"""Coarsest pixel on the feed's floor [m]."""
ALIKE_PX = 2.0
"""Least difference of look-alikes that go to different bins [px]."""
YAWS = 24


def check_view(cell: Cell, parts: Catalogue) -> Iterator[Finding]:
    """Yield what is wrong with the overhead camera, and look-alikes that it cannot tell apart.

    Args:
        cell: The cell.
        parts: The parts of its inventory.
    """
    spec = next((camera for camera in cell.cameras if camera.name == CAMERA and camera.mount == "world"), None)
    if spec is None:
        sentence = (
            f"cameras: none is called {CAMERA!r} with mount `world` - accepted: one that frames the feed from above"
        )
        yield finding(NAME, "no_overhead", [], sentence)
        return
    camera = camera_of(spec)
    half = np.array(cell.feed.size_m) / 2
    corners = np.array([[x, y, 0.0] for x in (-half[0], half[0]) for y in (-half[1], half[1])])
    pixels = project(camera, cell.feed.pose_to_world.apply(corners))
    with np.errstate(invalid="ignore"):
        framed = np.all((pixels >= 0) & (pixels <= (camera.width_px, camera.height_px)))
    if not framed:
        sentence = f"cameras: {CAMERA!r} does not frame the whole feed - accepted: all four corners inside its picture"
        yield finding(NAME, "not_framed", [CAMERA], sentence)
        return
    pixel = pixel_m(camera, cell.feed.pose_to_world)
    if pixel > PIXEL_M:
        sentence = f"cameras: a pixel of {CAMERA!r} is {pixel:.4g} m on the feed - accepted: at most {PIXEL_M:g} m"
        yield finding(NAME, "too_coarse", [CAMERA], sentence, value=pixel, limit=PIXEL_M, unit=Unit.METRE)
    yield from _look_alikes(cell, parts, camera)


def camera_of(spec: CellCamera) -> Camera:
    """Return a fixed camera of the cell where the cell puts it."""
    shared = {name: getattr(spec, name) for name in Camera.model_fields if name in CellCamera.model_fields}
    return Camera(pose_to_world=spec.pose_to_mount, **shared)


def pixel_m(camera: Camera, feed: Pose) -> float:
    """Return the size of a pixel on the feed's floor, at its centre [m]: the coarser of two directions."""
    step = 1e-3
    points = feed.apply([[0, 0, 0], [step, 0, 0], [0, step, 0]])
    pixels = project(camera, points)
    return float(step / np.linalg.norm(pixels[1:] - pixels[0], axis=1).min())


def _look_alikes(cell: Cell, parts: Catalogue, camera: Camera) -> Iterator[Finding]:
    targets = [item.part for item in cell.inventory if item.role is Role.TARGET]
    for index, a in enumerate(targets):
        for b in targets[index + 1 :]:
            if b not in parts[a].look_alikes or _bins(a, parts, cell) == _bins(b, parts, cell):
                continue
            difference = difference_px(parts[a], parts[b], camera, cell.feed.pose_to_world)
            if difference < ALIKE_PX:
                sentence = (
                    f"cameras: {a!r} and {b!r} go to different bins but differ by {difference:.2g} px in {CAMERA!r} - "
                    f"accepted: at least {ALIKE_PX:g} px (a longer focal length, more pixels)"
                )
                yield finding(NAME, "look_alikes", [a, b], sentence, value=difference, limit=ALIKE_PX, unit=Unit.PIXEL)


def _bins(part: str, parts: Catalogue, cell: Cell) -> tuple[str, ...]:
    return tuple(rule.bin for rule in rules_for(part, parts[part].label, cell.rules))


def difference_px(a: Part, b: Part, camera: Camera, feed: Pose) -> float:
    """Say by how many pixels two parts differ in a picture, each in its most probable pose at the feed's centre.

    Returns:
        The larger of two numbers: by how much length or breadth of the outlines differ, and how wide a strip the
        outlines do not share when laid over each other at the best yaw [px].
    """
    outlines = [_outline(part, camera, feed) for part in (a, b)]
    (length_a, breadth_a), (length_b, breadth_b) = (_extents(outline) for outline in outlines)
    sizes = max(abs(length_a - length_b), abs(breadth_a - breadth_b))
    still = _laid(a, camera, feed, 0.0)
    apart = min(int((still ^ _laid(b, camera, feed, yaw)).sum()) for yaw in np.arange(YAWS) * 2 * np.pi / YAWS)
    return max(sizes, apart / (length_a + breadth_a))


def _rest(part: Part) -> tuple[tuple[float, ...], float]:
    best = max(part.stable_poses, key=lambda rest: rest.probability)
    return best.quat_xyzw, best.height_m


def _outline(part: Part, camera: Camera, feed: Pose) -> Array:
    """Mesh corners in the picture [px], shape [n, 2]."""
    quat, height = _rest(part)
    pose = feed.after(Pose.of((0, 0, height), quat))
    return project(camera, pose.apply(part.mesh.vertices))


def _extents(pixels: Array) -> tuple[float, float]:
    """Largest and smallest width of a set of points over all directions [px]."""
    angles = np.linspace(0, np.pi, 90, endpoint=False)
    spans = np.ptp(pixels @ np.stack([np.cos(angles), np.sin(angles)]), axis=0)
    return float(spans.max()), float(spans.min())


def _laid(part: Part, camera: Camera, feed: Pose, yaw: float) -> np.ndarray:
    """Mask of a part at the feed's centre, turned by a yaw, the middle of its outline at the centre of the picture."""
    quat, height = _rest(part)
    turned = quat_multiply(quat_yaw(yaw), np.array(quat))
    local = Pose.of((0, 0, height), turned).apply(part.mesh.vertices)
    middle = (local.max(axis=0) + local.min(axis=0)) / 2
    pose = feed.after(Pose.of((-middle[0], -middle[1], height), turned))
    return silhouette(RayShape(part.mesh.vertices, part.mesh.faces), camera, pose)
