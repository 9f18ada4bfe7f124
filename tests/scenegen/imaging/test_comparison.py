import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenegen.imaging.comparison import brightest, brightest_spot, compare_parts, psnr_db, ssim


@pytest.fixture
def picture():
    return np.random.default_rng(0).random((24, 32))


def test_the_noise_ratio_of_a_known_error():
    assert psnr_db(np.full((4, 4), 0.5), np.full((4, 4), 0.6)) == pytest.approx(20.0)
    assert psnr_db(np.ones((4, 4)), np.ones((4, 4))) == np.inf


@given(st.floats(0, 1), st.floats(0, 1))
def test_structure_of_even_greys_follows_the_definition(one, two):
    expected = (2 * one * two + 1e-4) / (one**2 + two**2 + 1e-4)
    assert ssim(np.full((16, 16), one), np.full((16, 16), two)) == pytest.approx(expected, abs=1e-6)


def test_structure_is_one_for_itself_symmetric_and_falls_with_noise(picture):
    rng = np.random.default_rng(1)
    noisy = [np.clip(picture + sigma * rng.normal(size=picture.shape), 0, 1) for sigma in (0.05, 0.2, 0.6)]
    assert ssim(picture, picture) == pytest.approx(1.0)
    assert ssim(picture, noisy[0]) == pytest.approx(ssim(noisy[0], picture))
    assert np.diff([ssim(picture, one) for one in noisy]).max() < -0.1
    assert ssim(picture, 1 - picture) < 0


def test_parts_are_compared_by_their_own_pixels():
    instance = np.repeat(np.arange(4), 16).reshape(4, 16)
    truth = np.repeat(np.array([0.1, 0.4, 0.8, 1.5]), 16).reshape(4, 16, 1) * np.ones(3)
    same = compare_parts(truth, truth, instance, [0, 1, 2, 3])
    assert (same.parts, same.luminance_spearman, same.luminance_ratio) == (4, pytest.approx(1), 1)
    assert (same.saturated_error, same.saturated_share) == (0, 0.25)
    turned = compare_parts(truth[::-1], truth, instance, [0, 1, 2, 3])
    assert turned.luminance_spearman == pytest.approx(-1)
    assert turned.saturated_error == 0.5
    assert compare_parts(2 * truth, truth, instance, [0, 1]).luminance_ratio == pytest.approx(2)
    assert np.isnan(compare_parts(truth, truth, instance, [0, 1]).luminance_spearman)
    assert compare_parts(truth, truth, instance, [7]).parts == 0


def test_the_brightest_spot_is_the_middle_of_the_brightest_pixels():
    luminance = np.zeros((20, 20))
    luminance[4:6, 10:14] = 3
    luminance[0, 0] = 9
    mask = np.ones((20, 20), bool)
    mask[0, 0] = False
    assert brightest_spot(luminance, mask, share=8 / 399).tolist() == [12, 5]
    assert brightest(luminance, mask, share=8 / 399).sum() == 8
    assert brightest(luminance, mask, share=1e-9).any()
