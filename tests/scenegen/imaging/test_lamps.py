import numpy as np
import pytest

from scenegen.geometry import Pose, look_at, quat_about
from scenegen.imaging.lamps import LUMINANCE, arrive, dome_luminance, level_illuminance, planckian_color
from scenegen.scenario import DistantLight, DomeLight, RectLight, SphereLight

WHITE_K = 6500.0
RGB_TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
ORIGIN = np.zeros(3)


def panel(height_m, size_m=(0.6, 0.3), nit=1000.0):
    pose = look_at((0.0, 0.0, height_m), (0.0, 0.0, 0.0))
    return RectLight(name="panel", luminance_nit=nit, temperature_k=WHITE_K, size_m=size_m, pose_to_world=pose)


def luminance(color):
    return float(np.asarray(color) @ LUMINANCE)


# Points of the Planckian locus: CIE 15:2004 (illuminant A at 2856 K), Wyszecki and Stiles 1982, table 1(3.11).
@pytest.mark.parametrize(
    ("kelvin", "xy"),
    [(2856, (0.4476, 0.4074)), (4000, (0.3805, 0.3768)), (6500, (0.3135, 0.3237)), (10000, (0.2807, 0.2884))],
)
def test_colors_lie_on_the_planckian_locus(kelvin, xy):
    color = np.array(planckian_color(float(kelvin)))
    xyz = RGB_TO_XYZ @ color
    assert xyz[:2] / xyz.sum() == pytest.approx(xy, abs=2e-3)
    assert luminance(color) == pytest.approx(1.0)


def test_warm_light_is_redder():
    share = [planckian_color(float(kelvin))[0] for kelvin in (1500, 2000, 3000, 4500, 6500, 9000, 15000)]
    assert share == sorted(share, reverse=True)


@pytest.mark.parametrize("height_m", [0.3, 0.8, 1.5])
def test_a_panel_lights_a_point_as_the_view_factor_says(height_m):
    x, y = 0.3 / height_m, 0.15 / height_m
    # View factor from a small plane to a parallel rectangle over it (Howell, A Catalog of Radiation Heat Transfer
    # Configuration Factors, B-3), four quadrants.
    a, b = np.sqrt(1 + x * x), np.sqrt(1 + y * y)
    factor = 4 / (2 * np.pi) * (x / a * np.arctan(y / a) + y / b * np.arctan(x / b))
    assert luminance(level_illuminance((panel(height_m),), ORIGIN)) == pytest.approx(1000 * np.pi * factor, rel=0.03)


def test_a_small_sphere_lights_by_the_inverse_square():
    lamp = SphereLight(name="lamp", luminance_nit=5e4, temperature_k=WHITE_K, radius_m=0.01, position_m=(0.0, 0.0, 2.0))
    expected = 5e4 * np.pi * 0.01**2 / 4
    assert luminance(level_illuminance((lamp,), ORIGIN)) == pytest.approx(expected, rel=1e-3)


def test_distant_light_falls_off_with_the_cosine_alone():
    leaning = quat_about([1.0, 0.0, 0.0], np.pi / 3)
    sun = DistantLight(name="sun", illuminance_lux=800, temperature_k=WHITE_K, quat_xyzw=tuple(leaning.tolist()))
    for point in (ORIGIN, np.array([0.4, -2.0, 0.3])):
        assert luminance(level_illuminance((sun,), point)) == pytest.approx(400, rel=1e-3)


def test_a_dome_gives_pi_times_its_luminance():
    domes = (DomeLight(name="a", luminance_nit=50), DomeLight(name="b", luminance_nit=20, temperature_k=3000))
    assert luminance(dome_luminance(domes)) == pytest.approx(70)
    assert luminance(level_illuminance(domes, ORIGIN)) == pytest.approx(70 * np.pi)


def test_what_arrives_comes_from_the_panel():
    draws = np.random.default_rng(0).random((500, 2)).astype(np.float32)
    points = np.zeros((500, 3), np.float32)
    light = panel(1.0)
    found = arrive(light, points, draws)
    spots = found.directions * found.distances_m[:, None]
    inside = light.pose_to_world.inverse().apply(spots)
    assert np.abs(inside[:, 2]).max() < 1e-5
    assert (np.abs(inside[:, :2]) <= np.array([0.3, 0.15]) + 1e-5).all()
    assert np.ptp(inside[:, 0]) > 0.55


def test_a_panel_sends_nothing_backward():
    turned = panel(1.0).model_copy(update={"pose_to_world": Pose(position_m=(0.0, 0.0, -1.0))})
    assert not level_illuminance((turned,), ORIGIN).any()
