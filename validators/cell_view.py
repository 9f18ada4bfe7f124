"""Does the overhead camera of a cell see the feed, finely enough to tell look-alikes apart?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scenegen.cell import Cell, CellCamera, Role
from scenegen.geometry import Pose
from scenegen.imaging.pinhole import project
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Camera
from scenegen.units import Unit
from scenegen.verdict import Finding
from validators.check import finding
from validators.hidden import CAMERA
from validators.look_alikes import ALIKE_PX, difference_px, told_apart

NAME = "cell"
PIXEL_M = 0.0015
"""Coarsest pixel on the feed's floor [m]."""


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
    for a, b in told_apart(targets, parts, cell.rules):
        difference = difference_px(parts[a], parts[b], camera, cell.feed.pose_to_world)
        if difference < ALIKE_PX:
            sentence = (
                f"cameras: {a!r} and {b!r} go to different bins but differ by {difference:.2g} px in {CAMERA!r} - "
                f"accepted: at least {ALIKE_PX:g} px (a longer focal length, more pixels)"
            )
            yield finding(NAME, "look_alikes", [a, b], sentence, value=difference, limit=ALIKE_PX, unit=Unit.PIXEL)
