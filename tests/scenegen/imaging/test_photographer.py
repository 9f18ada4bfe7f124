import numpy as np
import pytest

from scenegen.imaging.close_up import SHARE, close_up
from scenegen.imaging.photographer import Photographer
from scenegen.imaging.render import enlarged, overview
from scenegen.scenario import CameraSensor, Sensor


@pytest.fixture(scope="module")
def photographer(cell, catalogue):
    return Photographer(cell, catalogue)


def test_photos_are_repeatable_and_their_noise_is_the_sensor_s(photographer, base_scenario):
    camera = enlarged(base_scenario.cameras.cameras[0], 0.25)
    first = photographer.picture(base_scenario, camera)
    assert first.shape == (camera.height_px, camera.width_px, 3)
    assert (photographer.picture(base_scenario, camera) == first).all()
    noisy = base_scenario.varied(sensor=Sensor(sensors=(CameraSensor(camera=camera.name, snr_db=15),)))
    assert np.abs(photographer.picture(noisy, camera).astype(int) - first).mean() > 3


def test_blur_stays_as_wide_in_the_scene(photographer, base_scenario):
    """A picture twice as large, averaged over 2 x 2 pixels, is the small picture, blur included."""
    native = base_scenario.cameras.cameras[0]
    sensor = CameraSensor(camera=native.name, blur_px=3.0, snr_db=80)
    blurred = base_scenario.varied(sensor=Sensor(sensors=(sensor,)))
    small, large = (photographer.picture(blurred, enlarged(native, f)).astype(float) for f in (0.5, 1.0))
    halved = large.reshape(*small.shape[:2][:1], 2, small.shape[1], 2, 3).mean(axis=(1, 3))
    assert np.abs(halved - small).mean() < 1.5


def test_a_close_up_is_blurred_as_the_whole_is(photographer, base_scenario):
    native = base_scenario.cameras.cameras[0]
    sensor = CameraSensor(camera=native.name, blur_px=2.0, snr_db=80)
    blurred = base_scenario.varied(sensor=Sensor(sensors=(sensor,)))
    spot = (0.5, 0.5)
    size = round(native.height_px * SHARE)
    near = photographer.picture(blurred, close_up(native, spot, size_px=4 * size)).astype(float)
    near = near.reshape(size, 4, size, 4, 3).mean(axis=(1, 3))
    whole = photographer.picture(blurred, native).astype(float)
    start = round(native.height_px / 2 - size / 2)
    middle = (slice(8, size - 8), slice(8, size - 8))
    whole = whole[start : start + size, start : start + size]
    assert np.abs(near[middle] - whole[middle]).mean() < 4


def test_a_free_view_has_a_sensor_too(cell, photographer, base_scenario):
    view = overview(cell, width_px=64, height_px=40)
    assert np.ptp(photographer.picture(base_scenario, view)) > 80
