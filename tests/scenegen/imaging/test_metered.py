"""Meters of whole scenes: nothing differs from nominal on a base, and each optical departure moves its own meter."""

import pytest

from scenegen.imaging.mask import MaskCaster
from scenegen.imaging.metered import Metered
from scenegen.imaging.renderer import Renderer
from scenegen.scenario import Look


@pytest.fixture(scope="module")
def metered(cell, catalogue):
    return Metered(cell, Renderer(cell, catalogue))


def test_every_camera_is_read_and_a_base_looks_nominal(metered, base_scenario):
    read = metered.read(base_scenario)
    assert list(read) == [camera.name for camera in base_scenario.cameras.cameras]
    names = read["overhead"].names
    assert set(names) <= {item.name for item in base_scenario.layout.items}
    for name in names:
        assert read["overhead"].meters(name).color_difference == pytest.approx(0.0, abs=1e-4)


def test_hidden_shares_are_the_mask_casters(metered, base_scenario, cell, catalogue):
    shares = MaskCaster(cell, catalogue).hidden_shares(base_scenario)
    readings = metered.read(base_scenario)["overhead"]
    assert len(readings.names) > 2
    for name in readings.names:
        assert readings.meters(name).hidden_share == pytest.approx(shares[name])


def test_a_painted_part_differs_in_colour_and_a_short_exposure_is_dark(metered, base_scenario):
    first = metered.read(base_scenario)["overhead"].names[0]
    painted = [
        one.replaced(look=Look(color=(0.6, 0.05, 0.05))) if one.subject == first else one
        for one in base_scenario.surfaces.surfaces
    ]
    varied = base_scenario.varied(surfaces=base_scenario.surfaces.replaced(surfaces=tuple(painted)))
    short = [one.replaced(exposure_ev=-2.0) for one in base_scenario.sensor.sensors]
    dark = base_scenario.varied(sensor=base_scenario.sensor.replaced(sensors=tuple(short)))
    base, red, dim = (metered.read(one)["overhead"].meters(first) for one in (base_scenario, varied, dark))
    assert red.color_difference is not None
    assert red.color_difference > 15
    assert dim.luminance is not None
    assert base.luminance is not None
    assert dim.luminance < 0.5 * base.luminance
    assert dim.saturated_share <= base.saturated_share
