"""Laws of blur: the mean stays, flat images stay, a point becomes what it should."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from scenegen.imaging.blur import blurred, lens_blur, line_taps, motion_blur

torch.set_num_threads(1)


def _image(height, width, seed=0):
    rng = np.random.default_rng(seed)
    return tuple(rng.random((2, height, width)) for _ in range(3))


def _point(size=41):
    plane = np.zeros((1, size, size))
    plane[0, size // 2, size // 2] = 1.0
    return plane, plane, plane


def _lens(image, sigmas, xp=np):
    return blurred(image, lens_blur(sigmas, like=image[0], xp=xp), xp=xp)


def _motion(image, lengths, angles, xp=np):
    return blurred(image, motion_blur(lengths, angles, like=image[0], xp=xp), xp=xp)


def _spread_px(plane):
    """Standard deviations along rows and columns of a plane of unit sum [px]."""
    at = np.arange(plane.shape[-1]) - plane.shape[-1] // 2
    return np.sqrt(plane[0].sum(axis=1) @ at**2), np.sqrt(plane[0].sum(axis=0) @ at**2)


@settings(max_examples=20)
@given(st.integers(2, 20), st.integers(2, 20), st.floats(0, 8), st.floats(0, 8))
def test_lens_blur_keeps_the_mean(height, width, first, second):
    image = _image(height, width)
    for before, after in zip(image, _lens(image, (first, second)), strict=True):
        assert after.mean(axis=(1, 2)) == pytest.approx(before.mean(axis=(1, 2)), rel=1e-12)


@pytest.mark.parametrize("sigma", [0.7, 1.5, 3.0])
def test_lens_blur_has_the_asked_width(sigma):
    plane = _lens(_point(), (sigma,))[0]
    assert _spread_px(plane) == pytest.approx((sigma, sigma), rel=0.02)


@given(st.floats(0, 30), st.floats(-7, 7))
def test_a_line_weighs_one_and_is_centred(length, angle):
    taps = line_taps(length, angle)
    assert sum(taps.values()) == pytest.approx(1)
    assert sum(weight * shift[0] for shift, weight in taps.items()) == pytest.approx(0, abs=1e-6)
    assert sum(weight * shift[1] for shift, weight in taps.items()) == pytest.approx(0, abs=1e-6)
    assert min(taps.values()) > 0


def test_a_line_along_an_axis_stays_on_it():
    assert {row for row, _ in line_taps(7.5, np.pi)} == {0}
    assert {column for _, column in line_taps(7.5, np.pi / 2)} == {0}


@pytest.mark.parametrize("angle", [0.0, 0.4, np.pi / 2, 2.0])
def test_motion_blur_spreads_along_its_direction_only(angle):
    """A line of length L has a standard deviation of L / sqrt(12) along it."""
    plane = _motion(_point(), (15.0,), (angle,))[0][0]
    rows, columns = np.indices(plane.shape) - plane.shape[0] // 2
    along, across = columns * np.cos(angle) + rows * np.sin(angle), rows * np.cos(angle) - columns * np.sin(angle)
    assert np.sqrt((plane * along**2).sum()) == pytest.approx(15 / np.sqrt(12), rel=0.02)
    assert np.sqrt((plane * across**2).sum()) < 0.5
    assert plane.sum() == pytest.approx(1)


def test_motion_turns_from_right_toward_down():
    plane = _motion(_point(), (10.0,), (np.pi / 4,))[0][0]
    assert plane[23, 23] > 0.05
    assert plane[17, 23] == 0


def test_no_blur_is_the_identity():
    image = _image(5, 7)
    assert _lens(image, (0.0, 0.0)) is image
    assert _motion(image, (0.0,), (1.0,)) is image
    first = _lens(image, (0.0, 2.0))[0][0]
    assert first == pytest.approx(image[0][0], abs=0)


@pytest.mark.parametrize("blur", [lambda i, xp: _lens(i, (1.3,), xp),
                                  lambda i, xp: _motion(i, (6.0,), (0.5,), xp)])  # fmt: skip
def test_flat_images_stay_flat_and_torch_agrees(blur):
    flat = tuple(np.full((1, 9, 12), level) for level in (0.1, 2.0, 30.0))
    for level, plane in zip((0.1, 2.0, 30.0), blur(flat, np), strict=True):
        assert plane == pytest.approx(level)
    image = _image(9, 12)
    found = blur(tuple(torch.asarray(plane) for plane in image), torch)
    for mine, theirs in zip(blur(image, np), found, strict=True):
        assert theirs.numpy() == pytest.approx(mine, abs=1e-12)
