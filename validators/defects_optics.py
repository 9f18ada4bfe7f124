"""Planted defects of what the cameras show: targets out of sight, pictures from which nobody could sort."""

from __future__ import annotations

import numpy as np

from scenegen.axes import lighting, sensor
from scenegen.axes.axis import Severity, limits
from scenegen.axes.items import fixture_pose, targets_in, with_poses
from scenegen.axes.lamp import dimmed
from scenegen.geometry import Pose, quat_about, quat_multiply
from scenegen.scenario import Camera, Cameras, Lights, Scenario, Sensor
from validators.check import CheckContext
from validators.defect import Defect
from validators.look_alikes import told_apart


def _under_the_floor(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Push a target through the floor of the feed, into the table or below it."""
    targets = targets_in(scenario, ctx.cell)
    item = targets[int(rng.integers(len(targets)))]
    down = ctx.cell.feed.floor_thickness_m + 2 * ctx.parts[item.part].radius_m + rng.uniform(0.02, 0.1)
    pose = Pose.of(item.pose_to_world.position - np.array([0.0, 0.0, down]), item.pose_to_world.quat)
    return with_poses(scenario, {item.name: pose}, cause=item.cause)


def _backs_turned(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Turn every camera by 2 to 3 rad about some direction in its picture."""

    def turned(camera: Camera) -> Camera:
        bearing = rng.uniform(0, 2 * np.pi)
        turn = quat_about(np.array([np.cos(bearing), np.sin(bearing), 0.0]), rng.uniform(2.0, 3.0))
        pose = Pose.of(camera.pose_to_world.position, quat_multiply(camera.pose_to_world.quat, turn))
        return camera.replaced(pose_to_world=pose)

    return scenario.varied(cameras=Cameras(cameras=tuple(turned(camera) for camera in scenario.cameras.cameras)))


def _every_sensor(scenario: Scenario, **fields: float) -> Scenario:
    return scenario.varied(sensor=Sensor(sensors=tuple(one.replaced(**fields) for one in scenario.sensor.sensors)))


def _every_light(scenario: Scenario, factor: float) -> Scenario:
    lights = tuple(dimmed(light, factor) for light in scenario.lights.lights)
    return scenario.varied(lights=Lights(lights=lights, shadow_casters=scenario.lights.shadow_casters))


def _overexposed(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    return _every_sensor(scenario, exposure_ev=rng.uniform(7.0, 10.0))


def _floodlit(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    return _every_light(scenario, float(np.exp(rng.uniform(*np.log([150.0, 1500.0])))))


def _underexposed(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    return _every_sensor(scenario, exposure_ev=rng.uniform(-15.0, -12.0))


def _night(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    return _every_light(scenario, float(np.exp(rng.uniform(*np.log([2e-5, 2e-4])))))


def _lost_in_noise(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    return _every_sensor(scenario, snr_db=rng.uniform(0.0, 3.0), exposure_ev=rng.uniform(-5.0, -4.0))


def _all_at_once(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario | None:
    """Take light, exposure, noise and vignetting near the limits of their envelopes at once; each alone is sound.

    None where all targets are so bright that they stand out even then.
    """

    def near_limit(severity: Severity, axis: str, end: int) -> float:
        limit = limits(severity, cell=ctx.cell, axis=axis)[end]
        return severity.nominal + rng.uniform(0.97, 1.0) * (limit - severity.nominal)

    dim = near_limit(lighting.FACTOR, lighting.NAME, 0)
    ev, noise = (near_limit(severity, sensor.NAME, 0) for severity in (sensor.EXPOSURE, sensor.NOISE))
    loss, snr = (
        near_limit(sensor.VIGNETTING, sensor.NAME, 1),
        min(one.snr_db for one in scenario.sensor.sensors) + noise,
    )
    varied = _every_sensor(_every_light(scenario, dim), exposure_ev=ev, snr_db=snr, vignetting=loss)
    noisy = [readings.snr_db[0] < ctx.cell.limits.snr_db for readings in ctx.metered.read(varied).values()]
    return varied if np.all(noisy, axis=0).any() else None


def _has_look_alikes(scenario: Scenario, ctx: CheckContext) -> bool:
    present = dict.fromkeys(item.part for item in targets_in(scenario, ctx.cell))
    return any(told_apart(tuple(present), ctx.parts, scenario.task.rules))


def _far_cameras(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario | None:
    """Draw every camera back along its view, until it is 2.4 to 3.2 times as far from the feed."""
    if not _has_look_alikes(scenario, ctx):
        return None
    feed = fixture_pose(scenario.layout, "feed").position

    def moved(camera: Camera) -> Camera:
        pose = camera.pose_to_world
        back = pose.rotation[:, 2]
        away = (rng.uniform(2.4, 3.2) - 1) * float(back @ (pose.position - feed))
        return camera.replaced(pose_to_world=Pose.of(pose.position + away * back, pose.quat))

    return scenario.varied(cameras=Cameras(cameras=tuple(moved(camera) for camera in scenario.cameras.cameras)))


def _out_of_focus(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario | None:
    return _every_sensor(scenario, blur_px=rng.uniform(12.0, 25.0)) if _has_look_alikes(scenario, ctx) else None


OPTICS_DEFECTS: tuple[Defect, ...] = (
    Defect("under_the_floor", "seen", "a target lies below the feed, where no camera sees it", _under_the_floor),
    Defect("backs_turned", "seen", "every camera is turned away by 2 to 3 rad", _backs_turned),
    Defect("overexposed", "exposure", "every camera is overexposed by 7 to 10 EV", _overexposed),
    Defect("floodlit", "exposure", "all lights are 150 to 1,500 times too strong", _floodlit),
    Defect("underexposed", "exposure", "every camera is underexposed by 12 to 15 EV", _underexposed),
    Defect("night", "exposure", "all lights are 5,000 to 50,000 times too weak", _night),
    Defect("lost_in_noise", "exposure", "noise is 0 to 3 dB below mid grey, at 4 to 5 EV less", _lost_in_noise),
    Defect(
        "all_at_once", "exposure", "light, exposure, noise and vignetting are near their limits at once", _all_at_once
    ),
    Defect("far_cameras", "look_alikes", "every camera is 2.4 to 3.2 times as far from the feed", _far_cameras),
    Defect("out_of_focus", "look_alikes", "every lens blurs by 12 to 25 px", _out_of_focus),
)
"""Defects of Layout, Cameras, Lights and Sensor that show in the pictures alone, or there too."""
