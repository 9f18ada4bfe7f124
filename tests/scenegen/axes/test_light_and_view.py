"""Lamps and cameras of the axes: photometry, shadows, projection."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenegen.axes.lamp import dimmed, direction_to, illuminance_lux, shaded_share, swung, warmed
from scenegen.axes.lighting import LIGHTING
from scenegen.axes.view import in_view, out_of_view, project
from scenegen.geometry import Pose, look_at, quat_between
from scenegen.scenario import DistantLight, DomeLight, Lights, RectLight, ShadowCaster, SphereLight
from scenegen.streams import stream

AIM = np.array([0.5, 0.0, 0.0])
DOWN = quat_between((0, 0, -1), (0, 0, -1))
LAMPS = (
    RectLight(name="key", luminance_nit=3000, size_m=(0.6, 0.3), pose_to_world=look_at((0.4, 0.3, 1.2), AIM)),
    SphereLight(name="key", luminance_nit=9000, radius_m=0.05, position_m=(0.4, 0.3, 1.2)),
    DistantLight(name="key", illuminance_lux=400, quat_xyzw=look_at((0.4, 0.3, 1.2), AIM).quat_xyzw, angle_rad=0.05),
)


@pytest.mark.parametrize("lamp", LAMPS, ids=lambda lamp: lamp.kind)
def test_dimming_and_warming_change_one_thing(lamp):
    assert illuminance_lux(dimmed(lamp, 0.4), AIM) == pytest.approx(0.4 * illuminance_lux(lamp, AIM), rel=1e-6)
    assert warmed(lamp, -1500).temperature_k == 5000
    assert dimmed(warmed(lamp, -1500), 0.4) == warmed(dimmed(lamp, 0.4), -1500)


def test_a_panel_gives_luminance_times_area_over_distance_squared():
    panel = RectLight(name="key", luminance_nit=1000, size_m=(0.2, 0.1), pose_to_world=Pose.of((0.5, 0, 2), DOWN))
    assert illuminance_lux(panel, AIM) == pytest.approx(1000 * 0.02 / 4)
    assert illuminance_lux(DomeLight(name="d", luminance_nit=100), AIM) == pytest.approx(100 * np.pi)


@pytest.mark.parametrize("lamp", LAMPS, ids=lambda lamp: lamp.kind)
@given(x=st.floats(-1, 1), y=st.floats(-1, 1))
def test_a_swung_lamp_shines_as_strongly_from_where_it_was_swung_to(lamp, x, y):
    there = np.array([x, y, 1.0]) / np.linalg.norm([x, y, 1.0])
    moved = swung(lamp, AIM, there)
    assert direction_to(moved, AIM) == pytest.approx(there, abs=1e-5)
    assert illuminance_lux(moved, AIM) == pytest.approx(illuminance_lux(lamp, AIM), rel=1e-4)


@pytest.mark.parametrize("lamp", LAMPS, ids=lambda lamp: lamp.kind)
def test_a_card_at_half_way_of_half_the_size_hides_the_lamp_from_one_point_alone(lamp):
    middle = AIM + 0.4 * direction_to(lamp, AIM)
    turn = quat_between((0, 0, 1), direction_to(lamp, AIM))
    card = ShadowCaster(name="card", size_m=(0.3, 0.3), pose_to_world=Pose.of(middle, turn))
    shares = shaded_share(lamp, (card,), np.array([AIM, AIM + np.array([0.4, 0.4, 0.0])]))
    assert shares.tolist() == [1.0, 0.0]
    assert shaded_share(lamp, (), AIM[None]).tolist() == [0.0]


def test_cards_of_the_lighting_axis_stay_out_of_every_picture(ctx, bases):
    cards = 0
    for seed in range(40):
        scene = LIGHTING.vary(bases[0], 4, ctx=ctx, rng=stream("cards", seed))
        for card in scene.lights.shadow_casters:
            cards += 1
            grid = np.linspace(-0.5, 0.5, 9)
            x, y = np.meshgrid(grid * card.size_m[0], grid * card.size_m[1])
            points = card.pose_to_world.apply(np.stack([x.ravel(), y.ravel(), np.zeros(81)], axis=-1))
            assert not any(in_view(camera, points).any() for camera in scene.cameras.cameras)
    assert cards > 2


def test_every_mode_of_light_comes_up(ctx, bases):
    quantities = [
        LIGHTING.measure(bases[0], LIGHTING.vary(bases[0], 3, ctx=ctx, rng=stream("modes", seed)), ctx=ctx)
        for seed in range(60)
    ]
    factor, shift, turn, shadow = (np.array([q[i].value for q in quantities]) for i in range(4))
    varied = np.stack([factor < 1, factor > 1, shift < 0, shift > 0, turn > 0, shadow > 0])
    assert varied.any(axis=1).all()
    assert (varied.sum(axis=0) == 1).all()


def test_a_dome_as_key_light_varies_in_strength_and_colour_alone(ctx, bases):
    dome = bases[0].varied(lights=Lights(lights=(DomeLight(name="key", luminance_nit=200, temperature_k=5000),)))
    for seed in range(20):
        scene = LIGHTING.vary(dome, 2, ctx=ctx, rng=stream("dome", seed))
        assert scene.lights.shadow_casters == ()
        _, _, turn, shadow = LIGHTING.measure(dome, scene, ctx=ctx)
        assert turn.value == shadow.value == 0.0


def test_the_overhead_camera_sees_a_millimetre_a_pixel(bases):
    camera = bases[0].cameras.cameras[0]
    pixels, depth = project(camera, np.array([[0.5, 0.0, 0.004], [0.51, 0.0, 0.004], [0.5, 0.01, 0.004]]))
    assert depth == pytest.approx([0.8] * 3)
    assert pixels == pytest.approx(np.array([[112, 112], [122, 112], [112, 102]]), abs=1e-3)


@given(x=st.floats(-1, 1), y=st.floats(-1, 1), z=st.floats(-0.5, 1.5))
def test_what_is_in_view_is_never_out_of_view(bases, x, y, z):
    points = np.array([[x, y, z]])
    for camera in bases[0].cameras.cameras:
        assert not (in_view(camera, points)[0] and out_of_view(camera, points, margin_px=0.0))
