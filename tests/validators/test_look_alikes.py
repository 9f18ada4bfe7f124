"""By how many pixels look-alikes differ: what distance, blur and coarse pixels do to it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenegen.cell import Role
from scenegen.geometry import Pose, quat_about, quat_multiply
from scenegen.parts.builtin import builtin_catalogue
from scenegen.scenario import SortRule
from validators import look_alikes
from validators.cell_view import camera_of
from validators.look_alikes import difference_px, told_apart


@pytest.fixture(scope="module")
def washers(rings):
    """`washers(factor) -> arguments`: two washers under the overhead camera, at so many times its distance."""
    parts, feed = builtin_catalogue(["flat_washer_m8", "flat_washer_m10"]), rings.feed.pose_to_world
    camera = camera_of(rings.cameras[0])
    pose = camera.pose_to_world

    def arguments(factor=1.0):
        away = (factor - 1) * float(pose.position_m[2] - feed.position_m[2])
        moved = camera.replaced(pose_to_world=Pose.of(pose.position + np.array([0.0, 0.0, away]), pose.quat))
        return parts["flat_washer_m8"], parts["flat_washer_m10"], moved, feed

    return arguments


def test_only_look_alikes_with_different_bins_are_told_apart(cell, catalogue):
    targets = [item.part for item in cell.inventory if item.role is Role.TARGET]
    bolts, nuts = ("hex_bolt_m6x20", "hex_bolt_m8x20"), ("hex_nut_m6", "hex_nut_m8")
    assert list(told_apart(targets, catalogue, cell.rules)) == [bolts, nuts]
    by_class = (SortRule(match="hex_bolt", bin="bin_a"), *cell.rules[2:])
    assert list(told_apart(targets, catalogue, by_class)) == [nuts]
    assert list(told_apart(["hex_nut_m8", "hex_bolt_m8x20"], catalogue, cell.rules)) == []


@given(factor=st.floats(0.5, 4.0))
def test_a_difference_falls_with_the_distance_however_coarse_the_pixels_are(washers, factor):
    """A washer has 5 to 40 pixels across: of the strip between two, one ray a pixel finds half or twice the width."""
    at_hand = difference_px(*washers())
    assert difference_px(*washers(factor)) * factor == pytest.approx(at_hand, rel=0.06)


@given(blur=st.floats(0.0, 30.0), more=st.floats(0.01, 10.0))
def test_blur_makes_parts_more_alike(washers, blur, more):
    sharp, blurred, worse = (difference_px(*washers(), blur_px=px) for px in (0.0, blur, blur + more))
    assert sharp >= blurred > worse > 0


def test_blur_adds_to_sizes_in_quadrature(washers, monkeypatch):
    monkeypatch.setattr(look_alikes, "_sizes_px", lambda part, camera, feed: (16.0 if "m8" in part.id else 20.0,) * 2)
    monkeypatch.setattr(look_alikes, "_strip_px", lambda a, b, camera, feed: 3.0)
    assert difference_px(*washers()) == 4.0
    assert difference_px(*washers(), blur_px=4.0) == pytest.approx((400 + 192) ** 0.5 - (256 + 192) ** 0.5)


def test_shapes_are_compared_only_where_sizes_do_not_suffice(washers):
    exact = difference_px(*washers())
    assert 4.0 < difference_px(*washers(), enough_px=2.0) < 4.1 < exact
    assert difference_px(*washers(), enough_px=4.2) == exact


def test_a_camera_with_its_back_to_the_feed_tells_nothing(washers):
    a, b, camera, feed = washers()
    up = quat_multiply(camera.pose_to_world.quat, quat_about(np.array([1.0, 0.0, 0.0]), np.pi))
    turned = camera.replaced(pose_to_world=Pose.of(camera.pose_to_world.position, up))
    assert np.isnan(difference_px(a, b, turned, feed))
