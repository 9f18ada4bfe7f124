"""Windows around items: what is measured in them is what is measured in the whole image."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenegen.errors import UnknownName
from scenegen.imaging.crop import cropped, window_around, window_pixels
from scenegen.imaging.gbuffer import GBuffer
from scenegen.imaging.measure import measure
from scenegen.scenario import CameraSensor

NAMES = ("bolt", "nut", "table")
PLAIN = CameraSensor(camera="overhead")


def _gbuffer(seed=0, images=2, height=14, width=18):
    rng = np.random.default_rng(seed)
    instance = np.full((images, height, width), 2)
    for index in (0, 1):
        for image in range(images):
            row, column = rng.integers(0, height), rng.integers(0, width)
            instance[image, row : row + 4, column : column + 5] = index
    flat = instance.reshape(images, -1)
    numbers = [rng.random(flat.shape) for _ in range(7)]
    eye = (np.zeros((images, 1)),) * 3
    return GBuffer(
        NAMES, height, width, flat, tuple(numbers[:3]), tuple(numbers[3:6]), numbers[6], eye, np.full((images, 3), 20)
    )


@given(st.integers(0, 300), st.sampled_from([("bolt",), ("nut",), ("bolt", "nut")]))
def test_items_measure_the_same_in_their_window(seed, names):
    gbuffer = _gbuffer(seed)
    rng = np.random.default_rng(seed)
    image = tuple(1.2 * rng.random((2, gbuffer.height_px, gbuffer.width_px)) for _ in range(3))
    nominal = tuple(rng.random((1, gbuffer.height_px, gbuffer.width_px)) for _ in range(3))
    rows, columns = window = window_around(gbuffer, names)
    whole = measure(gbuffer, image, nominal, [PLAIN], xp=np)
    part = measure(
        cropped(gbuffer, window),
        tuple(plane[:, rows, columns] for plane in image),
        tuple(plane[:, rows, columns] for plane in nominal),
        [PLAIN],
        xp=np,
    )
    for name in names:
        for index in (0, 1):
            found = part.meters(name, image=index).known()
            assert found == pytest.approx(whole.meters(name, image=index).known(), rel=1e-6, abs=1e-6)


def test_a_window_is_small_and_its_pixels_are_those_of_the_crop():
    gbuffer = _gbuffer(seed=4, images=1)
    window = window_around(gbuffer, ["nut"])
    small, pixels = cropped(gbuffer, window), window_pixels(gbuffer, window)
    assert small.height_px * small.width_px == len(pixels) < gbuffer.height_px * gbuffer.width_px / 3
    assert np.array_equal(small.instance[0], gbuffer.instance[0, pixels])
    assert np.array_equal(small.position[1][0], gbuffer.position[1][0, pixels])
    assert np.array_equal(small.depth[0], gbuffer.depth[0, pixels])


def test_items_out_of_sight_get_one_pixel():
    gbuffer = _gbuffer()
    gbuffer.instance[:] = 2
    assert window_around(gbuffer, ["nut"]) == (slice(0, 1), slice(0, 1))
    assert window_around(gbuffer, ["table"]) == (slice(0, 14), slice(0, 18))


def test_unknown_items_are_named():
    with pytest.raises(UnknownName, match=r"unknown item 'bolts' - did you mean 'bolt'\?"):
        window_around(_gbuffer(), ["bolts"])
