"""Close-ups: they find the place that changed most and show it as the camera does, from near."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenegen.geometry import look_at
from scenegen.imaging.close_up import SHARE, changed_spot, close_up
from scenegen.imaging.pinhole import project
from scenegen.scenario import Camera

NOWHERE = np.empty((0, 2))


def changed(*spots, by=60, all_by=0):
    """A grey picture and another, in which patches of 6 px about some spots (column, row) changed."""
    before = np.full((100, 120, 3), 100, np.uint8)
    after = before + np.uint8(all_by)
    for column, row in spots:
        after[row - 3 : row + 3, column - 3 : column + 3] += np.uint8(by)
    return before, after


def test_the_patch_that_changed_is_found_whatever_the_light_does():
    for all_by in (0, 40):
        column, row = changed_spot(*changed((70, 40), all_by=all_by), NOWHERE)
        assert (column, row) == (pytest.approx(0.7, abs=0.02), pytest.approx(0.4, abs=0.02))


def test_a_part_is_preferred_unless_another_place_changed_far_more():
    before, after = changed((30, 30), (80, 70))
    after[67:73, 77:83] -= 20
    assert changed_spot(before, after, np.array([[0.8, 0.7]])) == (0.8, 0.7)
    assert changed_spot(before, after, np.array([[0.55, 0.2]]))[0] == pytest.approx(0.3, abs=0.02)
    assert changed_spot(before, after, np.array([[7.0, -1.0]]))[0] == pytest.approx(0.3, abs=0.02)


def test_close_ups_stay_within_the_image():
    column, row = changed_spot(*changed((5, 95)), NOWHERE)
    assert column >= SHARE / 2
    assert row <= 1 - SHARE / 2


@given(st.floats(0.2, 0.8), st.floats(0.2, 0.8), st.floats(-0.1, 0.1), st.floats(-0.1, 0.1))
def test_a_close_up_is_the_enlarged_part_of_the_image(column, row, x, y):
    camera = Camera(
        name="eye",
        pose_to_world=look_at((0.1, -0.2, 0.5), (0.0, 0.0, 0.0)),
        width_px=120,
        height_px=100,
        focal_px=(140.0, 150.0),
        principal_px=(58.0, 52.0),
        distortion=(-0.05, 0.01, 0.0, 0.0, 0.0),
    )
    near = close_up(camera, (column, row), size_px=150)
    there, here = (project(one, np.array([[x, y, 0.0]]))[0] for one in (camera, near))
    moved = (there / 100 - (column, row)) / SHARE
    assert (here / 150 - 0.5).tolist() == pytest.approx(moved.tolist(), abs=1e-6)
