"""Light from all around: shares that add up, and neighbours that stand in the way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenegen.imaging.ambient import diffuse_bands, mirror_bands, mirror_open, open_shares
from scenegen.imaging.caster import GBufferCaster
from scenegen.imaging.render import enlarged
from scenegen.scenario import Cameras


@given(st.floats(-1, 1))
def test_form_factors_of_the_bands_add_up(up):
    bands = diffuse_bands(np.array([[up]]), np)
    assert sum(band[0, 0] for band in bands) == pytest.approx(1)
    assert all(-1e-9 <= band[0, 0] <= 1 for band in bands)


def test_a_level_surface_sees_half_ceiling_and_half_wall():
    """A cap of 45 degrees has the form factor sin² 45° = 1/2."""
    floor, wall, ceiling = diffuse_bands(np.array([[1.0]]), np)
    assert (floor[0, 0], wall[0, 0], ceiling[0, 0]) == pytest.approx((0, 0.5, 0.5), abs=1e-6)


@given(st.floats(-1, 1), st.floats(0.02, 1))
def test_shares_of_a_mirror_add_up(up, alpha):
    bands = mirror_bands(np.array([[up]]), alpha, np)
    assert sum(band[0, 0] for band in bands) == pytest.approx(1)
    assert all(-1e-9 <= band[0, 0] <= 1 for band in bands)


def test_a_smooth_mirror_shows_one_band():
    for up, expected in ((-0.9, (1, 0, 0)), (0.4, (0, 1, 0)), (0.95, (0, 0, 1))):
        shares = [band[0, 0] for band in mirror_bands(np.array([[up]]), 0.02, np)]
        assert shares == pytest.approx(expected, abs=1e-6)


@given(st.floats(0.1, 1), st.floats(0.01, 1), st.floats(0.02, 1))
def test_a_mirror_sees_a_share_and_all_of_it_where_nothing_hides(open_share, n_view, alpha):
    assert 0 <= mirror_open(np.array(open_share), n_view, alpha, np) <= 1
    assert mirror_open(np.array(1.0), n_view, alpha, np) == pytest.approx(1)


def test_walls_and_parts_darken_what_lies_beside_them(cell, catalogue, base_scenario):
    gbuffer = GBufferCaster.of(cell, catalogue).cast(base_scenario, "overhead")
    shares = gbuffer.plane(open_shares(gbuffer, xp=np))[0]
    assert shares.shape == (gbuffer.height_px, gbuffer.width_px)
    assert 0 < shares.min() < 0.8
    assert shares.max() == 1
    feed = gbuffer.plane(gbuffer.instance)[0] == gbuffer.names.index("feed")
    floor = feed & (gbuffer.plane(gbuffer.normal[2])[0] > 0.99)
    part = gbuffer.plane(gbuffer.instance)[0] < len(base_scenario.layout.items)
    beside = floor & (np.roll(part, 1, 0) | np.roll(part, -1, 0) | np.roll(part, 1, 1) | np.roll(part, -1, 1))
    assert beside.sum() > 50
    assert shares[beside].mean() < shares[floor].mean() - 0.05


def test_a_larger_image_is_as_dark_beside_walls_and_parts(cell, catalogue, base_scenario):
    native = base_scenario.cameras.cameras[0]
    shares = []
    for factor in (1, 4):
        seen = base_scenario.varied(cameras=Cameras(cameras=(enlarged(native, factor),)))
        gbuffer = GBufferCaster.of(cell, catalogue).cast(seen, native.name)
        image = gbuffer.plane(open_shares(gbuffer, xp=np))[0]
        shares.append(image.reshape(native.height_px, factor, native.width_px, factor).mean(axis=(1, 3)))
    assert (shares[0] < 0.95).mean() > 0.1
    assert (shares[1] < 0.95).mean() == pytest.approx((shares[0] < 0.95).mean(), rel=0.2)
    assert np.corrcoef(shares[0].ravel(), shares[1].ravel())[0, 1] > 0.9
