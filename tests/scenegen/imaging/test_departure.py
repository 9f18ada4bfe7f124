"""Departures: what no camera could tell is 0, known steps have their known clearness, and clearer ones have more."""

import numpy as np
import pytest

from scenegen.imaging.departure import departed, detectability, moved_pixels
from scenegen.imaging.metered import Metered
from scenegen.imaging.noise import noise_variance
from scenegen.imaging.renderer import Renderer
from scenegen.scenario import Facet


@pytest.fixture(scope="module")
def metered(cell, catalogue):
    return Metered(cell, Renderer(cell, catalogue))


def _sensed(scenario, **fields):
    sensors = tuple(one.replaced(**fields) for one in scenario.sensor.sensors)
    return scenario.varied(sensor=scenario.sensor.replaced(sensors=sensors))


def _brightened(scenario, factor):
    key, *others = scenario.lights.lights
    lights = (key.replaced(luminance_nit=factor * key.luminance_nit), *others)
    return scenario.varied(lights=scenario.lights.replaced(lights=lights))


def _refocused(scenario, factor):
    cameras = tuple(
        one.replaced(focal_px=(factor * one.focal_px[0], factor * one.focal_px[1])) for one in scenario.cameras.cameras
    )
    return scenario.varied(cameras=scenario.cameras.replaced(cameras=cameras))


def test_a_base_departs_in_nothing(base_scenario, metered):
    assert departed(base_scenario, metered) == ()
    assert moved_pixels(base_scenario, metered) == 0
    assert all(detectability(base_scenario, facet, metered) == 0 for facet in (Facet.LIGHTS, Facet.SENSOR))


def test_what_departs_is_named(base_scenario, metered):
    varied = _refocused(_brightened(_sensed(base_scenario, blur_px=1.0), 1.2), 1.1)
    assert departed(varied, metered) == (Facet.LIGHTS, Facet.SENSOR, Facet.CAMERAS)


def test_brighter_lights_and_other_exposures_are_clearer_the_stronger_they_are(base_scenario, metered):
    for facet, make in (
        (Facet.LIGHTS, lambda share: _brightened(base_scenario, 1 + share)),
        (Facet.SENSOR, lambda share: _sensed(base_scenario, exposure_ev=share)),
        (Facet.SENSOR, lambda share: _sensed(base_scenario, blur_px=0.3 + share)),
    ):
        seen = [detectability(make(share), facet, metered) for share in (0.01, 0.1, 0.4)]
        assert 0 < seen[0] < seen[1] < seen[2]


def test_a_noisier_sensor_is_told_by_its_noise(base_scenario, metered):
    """The images are the same, so that the divergence is that of the variances alone."""
    varied = _sensed(base_scenario, snr_db=34.0)
    known = []
    for camera in base_scenario.cameras.cameras:
        level = np.minimum(metered.exposed(base_scenario, camera.name), 1.0)
        share = noise_variance(level, 34.0) / noise_variance(level, 40.0)
        each = 0.5 * (share + 1 / share - 2).sum(axis=0)
        start = 0
        for count in metered.scope(base_scenario, camera.name).visible:
            known.append(each[start : start + count].sum())
            start += count
    assert detectability(varied, Facet.SENSOR, metered) == pytest.approx(max(known) ** 0.5, rel=1e-4)


def test_a_longer_focal_length_moves_pixels(base_scenario, metered):
    few, many = (moved_pixels(_refocused(base_scenario, factor), metered) for factor in (1.01, 1.1))
    assert 2 < few < many
