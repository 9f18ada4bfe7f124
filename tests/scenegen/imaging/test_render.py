import numpy as np
import pytest

from scenegen.geometry import Pose, look_at
from scenegen.imaging.lamps import LUMINANCE
from scenegen.imaging.mask import MaskCaster, container_boxes
from scenegen.imaging.pinhole import project
from scenegen.imaging.render import Painter, enlarged, overview, to_srgb, tone
from scenegen.imaging.stage import Solid, Stage, single
from scenegen.nominal import nominal_fixtures
from scenegen.scenario import (
    CameraSensor,
    DistantLight,
    DomeLight,
    Lights,
    Look,
    Sensor,
    ShadowCaster,
    Surface,
    Surfaces,
)

GREY = Look(color=(0.5, 0.5, 0.5), roughness=1.0)
FLOOR = Solid.boxes(np.array([[[-1.0, -1.0, -0.1], [1.0, 1.0, 0.0]]]))
DOWN = single([[0.0, 0.0, -1.0]])


@pytest.fixture(scope="module")
def painter(cell, catalogue):
    return Painter(cell, catalogue)


def overhead(scenario, factor=0.5):
    return enlarged(scenario.cameras.cameras[0], factor)


def lit(scenario, *, share=1.0, kelvin=None):
    """The scenario with every light stronger by a factor or of another colour."""
    lights = []
    for light in scenario.lights.lights:
        amount = "illuminance_lux" if isinstance(light, DistantLight) else "luminance_nit"
        update = {amount: getattr(light, amount) * share, "temperature_k": kelvin or light.temperature_k}
        lights.append(light.model_copy(update=update))
    return scenario.varied(lights=Lights(lights=tuple(lights)))


def seen_from(height_m, lights, *, solids=(), count=400):
    """Mean luminance by colour of the floor's middle, straight from above."""
    things = [("floor", FLOOR), *((f"thing{index}", solid) for index, solid in enumerate(solids))]
    stage = Stage(things, lights, {name: GREY for name, _ in things})
    draws = single(np.random.default_rng(0).random((count, 2)))
    return stage.radiance(single([0.0, 0.0, height_m]), np.repeat(DOWN, count, axis=0), draws).mean(axis=0)


def test_a_matte_floor_under_a_dome_shows_its_reflectance():
    dome = Lights(lights=(DomeLight(name="sky", luminance_nit=200),))
    assert seen_from(1.0, dome) @ LUMINANCE == pytest.approx(0.5 * 200, rel=1e-3)


def test_a_matte_floor_under_a_distant_light_follows_lambert():
    sun = DistantLight(name="sun", illuminance_lux=1000, quat_xyzw=(0.5, 0.0, 0.0, np.sqrt(0.75)))
    expected = 0.5 / np.pi * 1000 * np.cos(np.pi / 3)
    assert seen_from(1.0, Lights(lights=(sun,))) @ LUMINANCE == pytest.approx(expected, rel=0.06)


def test_shadows_are_dark_and_cards_are_not_seen():
    sun = DistantLight(name="sun", illuminance_lux=1000, quat_xyzw=(0.0, 0.0, 0.0, 1.0))
    card = ShadowCaster(name="card", size_m=(0.2, 0.2), pose_to_world=Pose(position_m=(0.0, 0.0, 0.5)))
    plate = Solid.boxes(np.array([[[-0.1, -0.1, 0.4], [0.1, 0.1, 0.41]]]))
    bright = seen_from(0.3, Lights(lights=(sun,))) @ LUMINANCE
    shaded_by_card = Lights(lights=(sun,), shadow_casters=(card,))
    assert seen_from(0.3, shaded_by_card) @ LUMINANCE < 0.05 * bright
    assert seen_from(0.3, Lights(lights=(sun,)), solids=(plate,)) @ LUMINANCE < 0.05 * bright
    # From above, the plate is in sight and lit; the card is not in sight.
    assert seen_from(0.8, shaded_by_card) @ LUMINANCE < 0.05 * bright
    assert seen_from(0.8, Lights(lights=(sun,)), solids=(plate,)) @ LUMINANCE > 0.95 * bright


def test_pictures_are_repeatable_to_the_byte(cell, catalogue, painter, base_scenario):
    view = overview(cell, width_px=96, height_px=60)
    first = painter.picture(base_scenario, view)
    assert first.shape == (60, 96, 3)
    assert np.ptp(first) > 100
    assert (Painter(cell, catalogue).picture(base_scenario, view) == first).all()


def test_items_are_drawn_where_the_mask_has_them(cell, catalogue, painter, base_scenario):
    camera = base_scenario.cameras.cameras[0]
    red, black = Look(color=(0.9, 0.0, 0.0), roughness=1.0), Look(color=(0.0, 0.02, 0.02), roughness=1.0)
    items = {item.name for item in base_scenario.layout.items}
    surfaces = tuple(
        Surface(subject=s.subject, look=red if s.subject in items else black) for s in base_scenario.surfaces.surfaces
    )
    picture = painter.picture(base_scenario.varied(surfaces=Surfaces(surfaces=surfaces)), camera, oversampling=1)
    drawn = picture[..., 0] > picture[..., 1].astype(int) + 10
    mask, names = MaskCaster(cell, catalogue).instance_mask(base_scenario, camera.name)
    expected = np.isin(mask, [index for index, name in enumerate(names) if name in items])
    assert expected.sum() > 500
    assert (drawn & expected).sum() / (drawn | expected).sum() > 0.97


def test_strong_and_dim_light_are_told_apart(painter, base_scenario):
    camera = overhead(base_scenario)
    means = [painter.picture(lit(base_scenario, share=share), camera).mean() for share in (0.1, 0.3, 1.0, 3.0)]
    assert np.diff(means).min() > 15


def test_color_temperature_shows(painter, base_scenario):
    camera = overhead(base_scenario)
    warm, nominal, cold = (
        painter.picture(lit(base_scenario, kelvin=kelvin), camera).mean(axis=(0, 1)) for kelvin in (2700, None, 10000)
    )
    assert warm[0] / warm[2] > 1.5
    assert nominal[0] / nominal[2] == pytest.approx(1.0, abs=0.15)
    assert cold[0] / cold[2] < 0.8


def test_the_sensor_counts_for_its_camera_alone(cell, painter, base_scenario):
    camera = overhead(base_scenario)
    brighter = base_scenario.varied(
        sensor=Sensor(sensors=(CameraSensor(camera=camera.name, exposure_ev=1.0, white_balance_k=9000),))
    )
    before, after = painter.picture(base_scenario, camera), painter.picture(brighter, camera)
    assert after.mean() > before.mean() + 20
    assert after[..., 0].mean() / after[..., 2].mean() > before[..., 0].mean() / before[..., 2].mean()
    view = overview(cell, width_px=64, height_px=40)
    assert (painter.picture(brighter, view) == painter.picture(base_scenario, view)).all()


@pytest.mark.parametrize("size", [(400, 250), (100, 300)])
@pytest.mark.parametrize("name", ["cell", "rings"])
def test_the_overview_holds_feed_and_bins(request, name, size):
    cell = request.getfixturevalue(name)
    view = overview(cell, width_px=size[0], height_px=size[1])
    for fixture in nominal_fixtures(cell):
        corners = fixture.pose_to_world.apply(container_boxes(cell.containers[fixture.name])).reshape(-1, 3)
        seen = project(view, corners)
        assert (seen >= 0).all()
        assert (seen <= np.array(size)).all()


def test_an_enlarged_camera_sees_the_same(base_scenario):
    camera = base_scenario.cameras.cameras[0]
    points = np.array([[0.5, 0.0, 0.0], [0.55, 0.08, 0.01]])
    assert project(enlarged(camera, 2.5), points) == pytest.approx(2.5 * project(camera, points))


def test_the_tone_curve_grows_and_keeps_hue():
    greys = single(np.linspace(0, 5, 50)[:, None] * np.ones(3))
    curve = tone(greys)
    assert np.diff(curve[:, 0]).min() > 0
    assert curve[-1] == pytest.approx(1.0)
    color = single([[0.4, 0.2, 0.1]])
    assert (tone(color) / color).std() < 1e-6


def test_srgb_follows_the_standard():
    assert to_srgb(np.array([0.0, 0.0031308, 0.18, 0.5, 1.0])).tolist() == [0, 10, 118, 188, 255]


def test_surfaces_face_the_viewer_from_inside_too():
    room = Solid.boxes(np.array([[[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]]]))
    stage = Stage([("room", room)], Lights(lights=(DomeLight(name="sky", luminance_nit=100),)), {"room": GREY})
    views = single(look_at((0.0, 0.0, 0.0), (1.0, 0.2, 0.1)).rotation @ np.array([0.0, 0.0, -1.0]))[None]
    assert (stage.radiance(single(np.zeros(3)), views, single([[0.3, 0.6]])) > 0).all()
