"""The nominal exposure, against light that can be computed by hand."""

import numpy as np
import pytest

from scenegen.geometry import Pose
from scenegen.imaging.exposure import GREY_CARD, MID_GREY, nominal_gain
from scenegen.imaging.lamps import planckian_color
from scenegen.scenario import DomeLight, RectLight

FACING_DOWN = (0.0, 0.0, 0.0, 1.0)


def test_a_grey_card_under_a_dome_is_mid_grey(cell):
    """A level card under a dome of luminance L receives pi L and shines with reflectance times L."""
    lit = cell.replaced(lights=(DomeLight(name="sky", luminance_nit=120.0, temperature_k=4000.0),))
    card = GREY_CARD * 120.0 * np.array(planckian_color(4000.0))
    assert np.array(nominal_gain(lit)) * card == pytest.approx(MID_GREY, rel=1e-5)


def test_a_grey_card_under_a_panel_is_mid_grey(cell):
    """A small panel straight above: E = L A / h² for a level card facing it."""
    x, y, z = cell.feed.pose_to_world.position_m
    panel = RectLight(
        name="key",
        luminance_nit=5000.0,
        temperature_k=6500.0,
        size_m=(0.02, 0.02),
        pose_to_world=Pose(position_m=(x, y, z + 1.0), quat_xyzw=FACING_DOWN),
    )
    card = GREY_CARD / np.pi * 5000.0 * 0.02**2 * np.array(planckian_color(6500.0))
    assert np.array(nominal_gain(cell.replaced(lights=(panel,)))) * card == pytest.approx(MID_GREY, rel=1e-3)


def test_a_white_sheet_leaves_half_a_stop():
    assert MID_GREY / GREY_CARD == pytest.approx(0.7071, abs=1e-4)


def test_twice_the_light_asks_for_half_the_exposure(cell):
    light = DomeLight(name="sky", luminance_nit=100.0)
    brighter = cell.replaced(lights=(light.replaced(luminance_nit=200.0),))
    once = np.array(nominal_gain(cell.replaced(lights=(light,))))
    assert np.array(nominal_gain(brighter)) == pytest.approx(once / 2, rel=1e-6)


def test_a_dark_cell_has_an_exposure_too(cell):
    assert np.isfinite(nominal_gain(cell.replaced(lights=(DomeLight(name="off", luminance_nit=0.0),)))).all()
