"""Noise: what it is like, that it repeats, and that array libraries agree on it to the bit."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from scenegen.imaging.exposure import MID_GREY
from scenegen.imaging.noise import at_frames, noise_seed, noise_variance, normals, seed_words

torch.set_num_threads(1)

SINGLE = np.zeros(1, np.float32)
WORDS = st.integers(0, 2**32 - 1)
GOLDEN_SEED = (2898201248, 2203635539)
GOLDEN_DRAWS = (-0.117067084, 0.468203604, -0.038497269, 0.546816587)


def _draw(count, *seeds):
    return normals(count, seed_words(seeds, like=SINGLE, xp=np), like=SINGLE, xp=np)


@pytest.mark.parametrize("seed", [(0, 0), (1, 0), (0, 1), (2**32 - 1, 2**32 - 1), noise_seed("a", "overhead")])
def test_numbers_are_nearly_normal(seed):
    drawn = _draw(200_000, seed)[0].astype(float)
    assert drawn.mean() == pytest.approx(0, abs=0.01)
    assert drawn.std() == pytest.approx(1, abs=0.01)
    assert (drawn**3).mean() == pytest.approx(0, abs=0.03)
    assert (drawn**4).mean() == pytest.approx(2.8, abs=0.06)
    assert np.mean(np.abs(drawn) < 1) == pytest.approx(0.6742, abs=0.005)


def test_neighbours_channels_and_cameras_are_independent():
    first, second = _draw(200_000, noise_seed("a", "overhead"), noise_seed("a", "wrist")).astype(float)
    assert np.mean(first * second) == pytest.approx(0, abs=0.01)
    for lag in (1, 2, 3, 128, 640, 16384):
        assert np.mean(first[lag:] * first[:-lag]) == pytest.approx(0, abs=0.01)


def test_numbers_that_were_drawn_once_stay():
    """Golden: the noise of a kept scenario must not change."""
    assert noise_seed("4f", "overhead") == GOLDEN_SEED
    assert _draw(4, (7, 9))[0] == pytest.approx(GOLDEN_DRAWS, abs=1e-6)


@given(WORDS, WORDS)
def test_numpy_and_torch_agree_to_the_bit(first, second):
    seeds = [(first, second), (second, first)]
    like = torch.zeros(1)
    found = normals(64, seed_words(seeds, like=like, xp=torch), like=like, xp=torch).numpy()
    assert found.dtype == np.float32
    assert np.array_equal(found, _draw(64, *seeds))


def test_seeds_tell_scenarios_and_cameras_apart():
    seeds = {noise_seed(scenario, camera) for scenario in ("a", "b", "ab") for camera in ("overhead", "wrist", "b")}
    assert len(seeds) == 9
    assert noise_seed("a", "bc") != noise_seed("ab", "c")


@given(st.floats(0, 80))
def test_mid_grey_has_the_asked_ratio(snr_db):
    deviation = np.sqrt(noise_variance(MID_GREY, snr_db))
    assert 20 * np.log10(MID_GREY / deviation) == pytest.approx(snr_db, abs=1e-9)


def test_the_dark_is_not_free_of_noise_and_light_improves_the_ratio():
    levels = np.array([0.0, 0.01, 0.1, 0.5, 1.0])
    variance = noise_variance(levels, 40.0)
    assert variance[0] > 0
    assert (np.diff(variance) > 0).all()
    assert (np.diff(levels**2 / variance) > 0).all()


def test_frames_have_noise_of_their_own_and_the_first_keeps_its_seed():
    seeds = [noise_seed("scene", "overhead"), noise_seed("other", "overhead")]
    found = {}
    for xp in (np, torch):
        like = xp.zeros((2, 1), dtype=xp.float32)
        words = seed_words(seeds, like=like, xp=xp)
        frames = [xp.asarray([[k], [k]], dtype=xp.int64) for k in (0, 1, 2)]
        found[xp] = [normals(20_000, at_frames(words, one, xp=xp), like=like, xp=xp) for one in frames]
        assert (np.asarray(found[xp][0]) == np.asarray(normals(20_000, words, like=like, xp=xp))).all()
    assert all((np.asarray(a) == np.asarray(b)).all() for a, b in zip(found[np], found[torch], strict=True))
    for a, b in ((0, 1), (1, 2), (0, 2)):
        assert abs(np.corrcoef(found[np][a][0], found[np][b][0])[0, 1]) < 0.03
