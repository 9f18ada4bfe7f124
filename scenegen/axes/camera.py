"""Axis `camera`: the cell's fixed cameras hang elsewhere and look askew."""

from __future__ import annotations

import numpy as np

from scenegen.axes.axis import Axis, AxisContext, Severity, band, draw
from scenegen.axes.items import targets_in
from scenegen.axes.view import in_view, project
from scenegen.errors import VariationFailed
from scenegen.geometry import Array, Pose, angle_between, quat_about, quat_between, quat_multiply
from scenegen.scenario import Camera, Cameras, Facet, Scenario
from scenegen.units import Quantity, Unit

NAME = "camera"
TRIES = 48

OFFSET = Severity("offset", Unit.METRE, 0.0, 0.0, 0.1, "largest displacement of a camera")
ROTATION = Severity("rotation", Unit.DEGREE, 0.0, 0.0, 10.0, "largest rotation of a camera")
SHIFT = Severity("image_shift", Unit.PIXEL, 0.0, 0.0, 224.0, "mean shift of the targets in an image", graded=False)


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Displace and turn the fixed cameras (or those on the flange where none is fixed), the targets still in view."""
    fixed = {camera.name for camera in ctx.cell.cameras if camera.mount == "world"}
    chosen = fixed or {camera.name for camera in scenario.cameras.cameras}
    aim = ctx.cell.feed.pose_to_world.position
    points = np.array([item.pose_to_world.position for item in targets_in(scenario, ctx.cell)] or [aim])
    cameras = tuple(
        _moved(camera, points, level, ctx, rng) if camera.name in chosen else camera
        for camera in scenario.cameras.cameras
    )
    return scenario.varied(cameras=Cameras(cameras=cameras))


def _moved(camera: Camera, points: Array, level: int, ctx: AxisContext, rng: np.random.Generator) -> Camera:
    """Move a camera on its way around what it looks at, and roll it until its rotation is the one asked for."""
    farthest = np.radians(band(ROTATION, level, cell=ctx.cell, axis=NAME, upward=True)[1])
    seen = points[in_view(camera, points)]
    pose = camera.pose_to_world
    view = -pose.rotation[:, 2]
    distance = float(np.median((points - pose.position) @ view))
    pivot = pose.position + distance * view
    for _ in range(TRIES):
        step = rng.normal(size=3)
        offset = draw(OFFSET, level, cell=ctx.cell, axis=NAME, rng=rng) * step / np.linalg.norm(step)
        angle = np.radians(draw(ROTATION, level, cell=ctx.cell, axis=NAME, rng=rng))
        sign = rng.choice([-1.0, 1.0])
        aimed = quat_between(view, pivot - pose.position - offset)
        lean = float(angle_between((0, 0, 0, 1), aimed))
        if lean > farthest:
            continue
        # Leaning and rolling turn about axes at right angles, so half their angles' cosines multiply.
        roll = 2 * np.arccos(np.clip(np.cos(max(angle, lean) / 2) / np.cos(lean / 2), -1, 1))
        turned = quat_multiply(quat_multiply(aimed, quat_about(view, sign * roll)), pose.quat)
        moved = camera.replaced(pose_to_world=Pose.of(pose.position + offset, turned))
        if bool(np.all(in_view(moved, seen))):
            return moved
    raise VariationFailed(
        NAME, level, "out_of_view", f"{TRIES} poses of camera {camera.name!r} lose a target or lean too far"
    )


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Measure displacement, rotation and the shift of the image over the cameras that the axis may move."""
    mounts = {camera.name: camera.mount for camera in ctx.cell.cameras}
    chosen = {name for name, mount in mounts.items() if mount == "world"} or set(mounts)
    before = {camera.name: camera for camera in base.cameras.cameras}
    pairs = [(before[camera.name], camera) for camera in varied.cameras.cameras if camera.name in chosen]
    points = np.array([item.pose_to_world.position for item in targets_in(varied, ctx.cell)]).reshape(-1, 3)
    moved = [float(np.linalg.norm(b.pose_to_world.position - a.pose_to_world.position)) for a, b in pairs]
    turned = [float(np.degrees(angle_between(a.pose_to_world.quat, b.pose_to_world.quat))) for a, b in pairs]
    shifts = [np.linalg.norm(project(b, points)[0] - project(a, points)[0], axis=1) for a, b in pairs if len(points)]
    return (
        Quantity(name=OFFSET.name, value=max(moved, default=0.0), unit=OFFSET.unit),
        Quantity(name=ROTATION.name, value=max(turned, default=0.0), unit=ROTATION.unit),
        Quantity(name=SHIFT.name, value=max((float(s.mean()) for s in shifts), default=0.0), unit=SHIFT.unit),
    )


CAMERA = Axis(
    name=NAME,
    doc="Fixed cameras are displaced and turned, the targets still in view.",
    touches=frozenset({Facet.CAMERAS}),
    severities=(OFFSET, ROTATION, SHIFT),
    aliases=("LIBERO-Plus: Camera Viewpoints", "Colosseum: camera pose", "SimplerEnv: camera", "RoboLab: camera"),
    change=change,
    measure=measure,
)
