"""Planted departures that nobody can see: each is no variation, whatever its records say."""

from __future__ import annotations

import numpy as np

from scenegen.axes.items import targets_in, with_surfaces
from scenegen.geometry import Pose, quat_about
from scenegen.scenario import Cameras, Lights, RectLight, Scenario, Sensor, ShadowCaster
from validators.check import CheckContext
from validators.defect import Defect


def _lamp_away(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Hang a bright panel that shines at the ceiling, so that its light never meets the line."""
    place = ctx.cell.table.pose_top_to_world.apply((*rng.uniform(-0.5, 0.5, 2), rng.uniform(1.0, 2.0)))
    upward = quat_about([1, 0, 0], np.pi)
    lamp = RectLight(name="stray", luminance_nit=2e4, size_m=(0.3, 0.3), pose_to_world=Pose.of(place, upward))
    lights = scenario.lights
    return scenario.varied(lights=Lights(lights=(*lights.lights, lamp), shadow_casters=lights.shadow_casters))


def _card_aside(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Hold a card where it stands between no light and anything."""
    place = ctx.cell.table.pose_top_to_world.apply((*rng.uniform(3.0, 5.0, 2), 1.0))
    card = ShadowCaster(name="stray", size_m=(0.1, 0.1), pose_to_world=Pose.of(place))
    return scenario.varied(lights=Lights(lights=scenario.lights.lights, shadow_casters=(card,)))


def _hair_exposure(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Change the exposure by less than anybody could measure."""
    step = float(rng.uniform(1e-5, 5e-5))
    sensors = (one.replaced(exposure_ev=one.exposure_ev + step) for one in scenario.sensor.sensors)
    return scenario.varied(sensor=Sensor(sensors=tuple(sensors)))


def _hair_color(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario | None:
    """Paint a target in its own colour but for a millionth."""
    targets = targets_in(scenario, ctx.cell)
    if not targets:
        return None
    name = targets[int(rng.integers(len(targets)))].name
    surface = next(one for one in scenario.surfaces.surfaces if one.subject == name)
    red, green, blue = surface.look.color
    look = surface.look.replaced(color=(red, green, blue + 1e-6 if blue < 0.5 else blue - 1e-6))
    return with_surfaces(scenario, [surface.replaced(look=look)])


def _hair_lens(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Give the cameras a distortion that moves nothing."""
    step = float(rng.uniform(1e-7, 1e-6))
    cameras = (
        one.replaced(distortion=(one.distortion[0] + step, *one.distortion[1:])) for one in scenario.cameras.cameras
    )
    return scenario.varied(cameras=Cameras(cameras=tuple(cameras)))


OBSERVABLE_DEFECTS: tuple[Defect, ...] = (
    Defect("lamp_away", "observable", "A lamp is added whose light meets nothing.", _lamp_away),
    Defect("card_aside", "observable", "A card is added that shades nothing.", _card_aside),
    Defect("hair_exposure", "observable", "The exposure changes by less than the noise.", _hair_exposure),
    Defect("hair_color", "observable", "A target's colour changes by less than the noise.", _hair_color),
    Defect("hair_lens", "observable", "The lens changes by less than a pixel.", _hair_lens),
)
