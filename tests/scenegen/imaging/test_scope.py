"""Scopes: meters from the pixels of a few items alone are those of whole images."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenegen.errors import UnknownName
from scenegen.imaging.gbuffer import GBuffer
from scenegen.imaging.measure import measure, measure_scopes
from scenegen.imaging.meters import Meters
from scenegen.imaging.scope import scope_of, sums_by_item
from scenegen.scenario import CameraSensor

SENSOR = CameraSensor(camera="overhead", snr_db=30.0)
NAMES = ("bolt", "nut", "pin", "table")


def _gbuffer(instance):
    flat = instance.reshape(1, -1)
    zeros = np.zeros(flat.shape, np.float32)
    alone = np.bincount(flat[flat >= 0], minlength=len(NAMES))[None] + 3
    height, width = instance.shape
    return GBuffer(NAMES, height, width, flat, (zeros,) * 3, (zeros,) * 3, zeros, (zeros[:, :1],) * 3, alone)


@st.composite
def pictures(draw):
    """Random instances, the image and the nominal one."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    size = draw(st.integers(2, 9)), draw(st.integers(2, 9))
    instance = rng.integers(-1, len(NAMES), size).astype(np.int32)
    return _gbuffer(instance), *(rng.random((3, 1, *size)).astype(np.float32) * 1.3 for _ in range(2))


@given(pictures(), st.permutations(["bolt", "nut", "pin"]), st.integers(1, 3))
def test_meters_of_a_scope_are_those_of_the_whole_image(picture, names, count):
    gbuffer, image, nominal = picture
    names = names[:count]
    whole = measure(gbuffer, tuple(image), tuple(nominal), [SENSOR], xp=np).only(names)
    scope = scope_of(gbuffer, names)
    chosen = [plane.reshape(3, -1)[:, scope.pixels] for plane in (image, nominal)]
    alone = measure_scopes([(scope, *chosen, SENSOR)])
    for meter in Meters.model_fields:
        np.testing.assert_allclose(getattr(alone, meter), getattr(whole, meter), rtol=2e-4, atol=2e-5, err_msg=meter)


@given(pictures())
def test_its_pixels_are_the_items_and_what_lies_beside_them(picture):
    gbuffer, *_ = picture
    scope = scope_of(gbuffer, ["nut", "pin"])
    shown = gbuffer.instance[0]
    owners = shown[scope.pixels[: scope.inside]]
    assert owners.tolist() == [1] * scope.visible[0] + [2] * scope.visible[1]
    assert len(set(scope.pixels.tolist())) == len(scope.pixels)
    beside = np.abs(scope.pixels[scope.inner] - scope.pixels[scope.outer])
    assert np.isin(beside, [1, gbuffer.width_px]).all()
    assert (shown[scope.pixels[scope.inner]] != shown[scope.pixels[scope.outer]]).all()


def test_sums_leave_out_items_without_values_and_values_without_item():
    values = np.arange(12, dtype=np.float32).reshape(2, 6)
    np.testing.assert_array_equal(sums_by_item(values, np.array([2, 0, 3])), [[1, 0, 9], [13, 0, 27]])
    np.testing.assert_array_equal(sums_by_item(values[:, :0], np.array([0, 0])), np.zeros((2, 2)))


def test_an_unknown_item_is_named():
    with pytest.raises(UnknownName) as caught:
        scope_of(_gbuffer(np.zeros((3, 3), np.int32)), ["bolts"])
    assert str(caught.value) == "unknown item 'bolts' - did you mean 'bolt'?"
