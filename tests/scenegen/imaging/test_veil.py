"""Laws of veiling glare: light is moved, none is made or lost."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from scenegen.imaging.veil import SPREAD, veil_of, veiled

torch.set_num_threads(1)


def _image(height, width):
    rng = np.random.default_rng(3)
    return tuple(rng.random((2, height, width)) ** 8 for _ in range(3))


def _lamp(size=129):
    plane = np.zeros((1, size, size))
    plane[0, size // 2, size // 2] = 1.0
    return plane, plane, plane


def _veiled(image, shares, xp=np):
    return veiled(image, veil_of(shares, like=image[0], xp=xp), xp=xp)


@settings(max_examples=20)
@given(st.integers(2, 60), st.integers(2, 60), st.floats(0, 1), st.floats(0, 1))
def test_light_is_conserved_and_stays_positive(height, width, first, second):
    image = _image(height, width)
    for before, after in zip(image, _veiled(image, (first, second)), strict=True):
        assert after.mean(axis=(1, 2)) == pytest.approx(before.mean(axis=(1, 2)), rel=1e-9)
        assert after.min() > -1e-6 * before.max()


def test_a_lamp_keeps_its_share_and_the_rest_follows_the_kernel():
    plane = _veiled(_lamp(), (0.1,))[0][0]
    radius = SPREAD * 129
    rows, columns = np.indices(plane.shape) - 64
    distance = np.hypot(rows, columns)
    kernel = radius / (2 * np.pi * (distance**2 + radius**2) ** 1.5)
    near = (distance > 0.5) & (distance < 25)
    assert plane[near] == pytest.approx(0.1 * kernel[near], rel=0.1)
    assert plane[64, 64] == pytest.approx(0.9 + 0.1 * kernel[64, 64], rel=0.01)
    assert plane[distance <= np.sqrt(3) * radius].sum() - 0.9 == pytest.approx(0.05, abs=0.006)


def test_glare_falls_with_distance():
    row = _veiled(_lamp(), (0.2,))[0][0, 64, 64:]
    assert (np.diff(row) < 0).all()


def test_glare_is_round_in_wide_images():
    plane = np.zeros((1, 90, 160))
    plane[0, 45, 80] = 1.0
    spread = _veiled((plane, plane, plane), (1.0,))[0][0]
    assert spread[45 - 12, 80] == pytest.approx(spread[45, 80 - 12], rel=0.02)


def test_more_veil_means_less_contrast():
    image = _image(40, 50)
    deviations = [_veiled(image, (share,))[0].std() for share in (0.0, 0.02, 0.1, 0.5)]
    assert deviations == sorted(deviations, reverse=True)
    assert len(set(deviations)) == 4


def test_a_clean_lens_is_the_identity():
    image = _image(4, 5)
    assert _veiled(image, (0.0, 0.0)) is image


def test_numpy_and_torch_agree():
    image = _image(24, 36)
    found = _veiled(tuple(torch.asarray(plane) for plane in image), (0.1, 0.3), torch)
    for mine, theirs in zip(_veiled(image, (0.1, 0.3)), found, strict=True):
        assert theirs.numpy() == pytest.approx(mine, abs=1e-12)
