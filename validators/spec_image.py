"""Specification of what makes the picture: cameras and sensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from scenegen.axes import camera as camera_axis
from scenegen.axes import sensor as sensor_axis
from scenegen.cell import Cell, CellCamera
from scenegen.geometry import Array, Pose, angle_between
from scenegen.imaging.pinhole import project
from scenegen.robot import Arm
from scenegen.scenario import Camera, CameraSensor, Facet, Scenario
from scenegen.units import Unit
from scenegen.verdict import Finding, Tier
from validators.check import Check, CheckContext, Limits, finding
from validators.coverage import coverage
from validators.envelope import Envelope

SHIFT_ENVELOPE = Envelope(camera_axis.NAME, camera_axis.OFFSET)
TURN_ENVELOPE = Envelope(camera_axis.NAME, camera_axis.ROTATION)
SENSOR_ENVELOPES = tuple((Envelope(sensor_axis.NAME, one), field) for one, field in sensor_axis.FIELDS)


def _check_sensor(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    sensors = scenario.sensor.sensors
    yield from coverage(SPEC_SENSOR.name, "sensor", [s.camera for s in sensors], [c.name for c in ctx.cell.cameras])
    for sensor in sensors:
        nominal = CameraSensor(camera=sensor.camera)
        for envelope, field in SENSOR_ENVELOPES:
            change = getattr(sensor, field) - getattr(nominal, field)
            if change:
                code = envelope.severity.name
                what = f"the {code.replace('_', ' ')} of camera {sensor.camera!r} is off its nominal one by"
                yield from envelope.outside(SPEC_SENSOR.name, code, [sensor.camera], what, change, ctx.cell)


SPEC_SENSOR = Check(
    name="spec_sensor",
    version=2,
    tier=Tier.SPECIFICATION,
    depends=frozenset({Facet.SENSOR}),
    doc="Each camera of the cell has one sensor, within the envelope of axis `sensor` about the nominal one.",
    run=_check_sensor,
)


def _check_cameras(scenario: Scenario, ctx: CheckContext, limits: Limits) -> Iterable[Finding]:
    cameras, specs = scenario.cameras.cameras, {c.name: c for c in ctx.cell.cameras}
    yield from coverage(SPEC_CAMERAS.name, "camera", [c.name for c in cameras], list(specs))
    for camera in cameras:
        if camera.name in specs:
            spec = specs[camera.name]
            yield from _against_spec(camera, spec, _nominal_pose(spec, scenario, ctx.arm), ctx.cell, limits)
            if specs[camera.name].mount == "world":
                yield from _frames_feed(camera, ctx.cell, limits)


def _nominal_pose(spec: CellCamera, scenario: Scenario, arm: Arm) -> Pose | None:
    """Where the cell puts a camera; None on a flange whose joints cannot be told."""
    if spec.mount == "world":
        return spec.pose_to_mount
    joints = scenario.motion.robot_start_rad
    return arm.pose_flange_to_world(joints).after(spec.pose_to_mount) if len(joints) == len(arm.robot.joints) else None


def _against_spec(
    camera: Camera, spec: CellCamera, nominal: Pose | None, cell: Cell, limits: Limits
) -> Iterator[Finding]:
    name, subject = SPEC_CAMERAS.name, [camera.name]
    if (camera.width_px, camera.height_px) != (spec.width_px, spec.height_px):
        sentence = (
            f"camera {camera.name!r} has {camera.width_px} x {camera.height_px} px - accepted: {spec.width_px} x "
            f"{spec.height_px} px, as the cell says"
        )
        yield finding(name, "resolution", subject, sentence)
    zoom = float(np.abs(np.array(camera.focal_px) / spec.focal_px - 1).max())
    if zoom > limits["focal_share"]:
        sentence = (
            f"the focal length of camera {camera.name!r} is off by {zoom:.3g} of itself - accepted: at most "
            f"{limits['focal_share']:g}"
        )
        yield finding(name, "focal", subject, sentence, value=zoom, limit=limits["focal_share"], unit=Unit.SHARE)
    if nominal is None:
        return
    shift = float(np.linalg.norm(camera.pose_to_world.position - nominal.position))
    turn = float(np.degrees(angle_between(camera.pose_to_world.quat, nominal.quat)))
    what = f"camera {camera.name!r} is off its mounting by"
    yield from SHIFT_ENVELOPE.outside(name, "camera_shifted", subject, what, shift, cell)
    yield from TURN_ENVELOPE.outside(name, "camera_turned", subject, what, turn, cell)


def _frames_feed(camera: Camera, cell: Cell, limits: Limits) -> Iterator[Finding]:
    """A fixed camera shows the feed: centre and enough of the floor lie inside its picture."""
    inside = _inside(camera, feed_points(cell))
    share = float(inside.mean())
    if share < limits["framed_share"]:
        least = limits["framed_share"]
        sentence = f"camera {camera.name!r} shows {share:.0%} of the feed's floor - accepted: at least {least:.0%}"
        yield finding(
            SPEC_CAMERAS.name,
            "looks_away",
            [camera.name],
            sentence,
            value=share,
            limit=limits["framed_share"],
            unit=Unit.SHARE,
        )


def _inside(camera: Camera, points: Array) -> np.ndarray:
    pixels = project(camera, points)
    with np.errstate(invalid="ignore"):
        return np.all((pixels >= 0) & (pixels <= (camera.width_px, camera.height_px)), axis=1)


def feed_points(cell: Cell) -> Array:
    """Return an 11 by 11 grid over the feed's floor [m], world frame, shape [121, 3]."""
    step = np.linspace(-0.5, 0.5, 11)
    x, y = np.meshgrid(step * cell.feed.size_m[0], step * cell.feed.size_m[1])
    return cell.feed.pose_to_world.apply(np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1))


SPEC_CAMERAS = Check(
    name="spec_cameras",
    version=1,
    tier=Tier.SPECIFICATION,
    depends=frozenset({Facet.CAMERAS, Facet.MOTION}),
    doc=(
        "The cameras are those of the cell, within the envelope of axis `camera` about their mountings, with its "
        "resolution and its focal length (to `focal_share`); fixed ones show `framed_share` of the feed's floor."
    ),
    run=_check_cameras,
    limits={"focal_share": 0.2, "framed_share": 0.6},
)
