"""A scenario's lights as rectangles: they give the same illuminance as the lamps that they stand for."""

import numpy as np
import pytest

from scenegen.geometry import Pose, quat_between
from scenegen.imaging.lamps import level_illuminance
from scenegen.imaging.quad_light import corners_of, lambert
from scenegen.imaging.scene_lights import scene_lights
from scenegen.imaging.scene_surfaces import scene_surfaces
from scenegen.imaging.vectors import minus, unit
from scenegen.optical import Stain
from scenegen.scenario import (
    DistantLight,
    DomeLight,
    Lights,
    Look,
    RectLight,
    ShadowCaster,
    SphereLight,
    Surface,
    Surfaces,
)

TILTED = quat_between((0, 0, 1), (0.3, -0.2, 1.0))
LAMPS = {
    "rect": RectLight(
        name="key", luminance_nit=3000, size_m=(0.6, 0.3), pose_to_world=Pose.of((0.9, -0.2, 1.2), TILTED)
    ),
    "sphere": SphereLight(name="key", luminance_nit=9000, radius_m=0.05, position_m=(0.6, 0.4, 0.9)),
    "distant": DistantLight(name="key", illuminance_lux=500, angle_rad=0.3, quat_xyzw=tuple(TILTED.tolist())),
    "sun": DistantLight(name="key", illuminance_lux=500, angle_rad=0.0, quat_xyzw=tuple(TILTED.tolist())),
}


def _lit(scenario, *lights, cards=()):
    return scenario.varied(lights=Lights(lights=lights, shadow_casters=cards))


def _point(values):
    return tuple(np.full((1, 1), value, np.float32) for value in values)


@pytest.mark.parametrize("kind", LAMPS)
def test_a_level_plane_receives_what_the_lamp_gives(base_scenario, kind):
    """Against the lamp itself, of which a sphere and a panel near by are sampled at sixteen points."""
    feed = next(f.pose_to_world.position for f in base_scenario.layout.fixtures if f.name == "feed")
    found = scene_lights(_lit(base_scenario, LAMPS[kind]))
    assert found.names == ("key",)
    (light,) = found.areas
    corners = corners_of(minus(light.center, _point(feed)), light.half_u, light.half_v)
    a, b, c, d = (unit(corner, np) for corner in corners)
    shone = np.pi * lambert((a, b, c, d), np)[0, 0] * np.array([band[0, 0] for band in light.radiance])
    np.testing.assert_allclose(shone, level_illuminance((LAMPS[kind],), feed), rtol=0.02)


def test_a_dome_is_walls_and_ceiling_and_the_floor_is_what_it_shines_on(base_scenario):
    dome = DomeLight(name="hall", luminance_nit=100)
    grey = Surfaces(surfaces=(Surface(subject="feed", look=Look(color=(0.5, 0.5, 0.5))),))
    around = scene_lights(_lit(base_scenario, dome).varied(surfaces=grey)).ambient
    weights = np.array([0.2126, 0.7152, 0.0722])
    for band, luminance in ((around.wall, 100), (around.ceiling, 100), (around.floor, 50)):
        assert weights @ [value[0, 0] for value in band] == pytest.approx(luminance, rel=1e-3)


def test_warm_light_is_red(base_scenario):
    warm, cold = (
        scene_lights(_lit(base_scenario, LAMPS["rect"].replaced(temperature_k=kelvin))).areas[0].radiance
        for kelvin in (2700, 10000)
    )
    assert warm[0][0, 0] > 2 * warm[2][0, 0]
    assert cold[2][0, 0] > cold[0][0, 0]


def test_cards_keep_their_size_and_place(base_scenario):
    card = ShadowCaster(name="card", size_m=(0.2, 0.4), pose_to_world=Pose.of((0.1, 0.2, 0.8)))
    (found,) = scene_lights(_lit(base_scenario, LAMPS["rect"], cards=(card,))).cards
    np.testing.assert_allclose([value[0, 0] for value in found.half_u], [0.1, 0, 0], atol=1e-7)
    np.testing.assert_allclose([value[0, 0] for value in found.half_v], [0, 0.2, 0], atol=1e-7)
    np.testing.assert_allclose([value[0, 0] for value in found.center], [0.1, 0.2, 0.8], atol=1e-7)


def test_surfaces_come_in_the_order_of_the_instances(base_scenario):
    stained = Surface(
        subject="feed",
        look=Look(color=(0.2, 0.2, 0.2), metallic=1.0, roughness=0.2),
        stain=Stain(color=(0.6, 0.4, 0.2), metallic=0.0, roughness=0.6, share=0.5, patch_m=0.01),
    )
    plain = Surface(subject="table", look=Look(color=(0.1, 0.2, 0.3), roughness=0.9))
    found = scene_surfaces(base_scenario.varied(surfaces=Surfaces(surfaces=(plain, stained))), ("feed", "bin", "table"))
    red, green, blue = found.color
    np.testing.assert_allclose(red[0], [0.4, 0.5, 0.1], atol=1e-6)
    np.testing.assert_allclose(green[0], [0.3, 0.5, 0.2], atol=1e-6)
    np.testing.assert_allclose(blue[0], [0.2, 0.5, 0.3], atol=1e-6)
    np.testing.assert_allclose(found.metallic[0], [0.5, 0, 0], atol=1e-6)
    np.testing.assert_allclose(found.roughness[0], [0.4, 0.5, 0.9], atol=1e-6)
