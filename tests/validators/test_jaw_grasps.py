"""Parallel jaws on boxes, prisms and composed parts: widths, friction, heights."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenegen.geometry import quat_about, quat_to_matrix
from scenegen.parts.part import Collider, MassProperties
from validators.jaw_grasps import FRICTION, Jaws, jaw_grasps

JAWS = Jaws(width_m=0.0175, opening_m=0.077, pad_m=0.002)
CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
UP = (0.0, 0.0, 1.0)


def _box(size, center=(0.0, 0.0, 0.0)):
    return Collider("box", CORNERS * size + center, np.empty((0, 3), np.int32))


@pytest.fixture(scope="module")
def made_of(catalogue):
    """Make a part of some colliders."""
    likeness = catalogue["hex_nut_m6"]

    def make(*colliders, center=(0.0, 0.0, 0.0)):
        mass = MassProperties(0.01, center, (1e-6, 1e-6, 1e-6), (0.0, 0.0, 0.0, 1.0))
        return replace(likeness, colliders=tuple(colliders), mass=mass)

    return make


@settings(max_examples=30, deadline=None)
@given(st.tuples(*[st.floats(0.004, 0.06)] * 3), st.floats(0, 6.28))
def test_a_box_is_held_across_its_sides(made_of, size, yaw):
    turn = quat_to_matrix(quat_about(np.array([0.0, 0.0, 1.0]), yaw))
    box = Collider("box", CORNERS * size @ turn.T, np.empty((0, 3), np.int32))
    grasps = jaw_grasps(made_of(box), UP, JAWS)
    assert grasps.widths_m.min() == pytest.approx(min(size[:2]), abs=1e-5)
    assert grasps.widths_m.max() <= np.hypot(*size[:2]) + 1e-9
    np.testing.assert_allclose(grasps.axes[:, 2], 0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(grasps.axes, axis=1), 1)


def test_a_box_wider_than_the_opening_is_not_held(made_of):
    part = made_of(_box((0.09, 0.08, 0.02)))
    assert len(jaw_grasps(part, UP, JAWS).widths_m) == 0
    assert jaw_grasps(part, (0.0, 1.0, 0.0), JAWS).widths_m.min() == pytest.approx(0.02)


def test_a_thin_bar_is_held_across_and_not_askew(made_of):
    """Askew, the contacts lie too far beside each other for friction to hold."""
    grasps = jaw_grasps(made_of(_box((0.1, 0.006, 0.01))), UP, JAWS)
    askew = np.abs(grasps.axes[:, 0])
    assert len(grasps.widths_m)
    assert askew.max() < np.sin(np.arctan(FRICTION))
    assert grasps.widths_m.min() == pytest.approx(0.006)


def test_jaws_stop_at_the_head_where_they_meet_it(made_of):
    """Across a bolt's shaft the jaws close on the shaft only where they pass beside the head."""
    shaft = _box((0.06, 0.006, 0.006), (0.03, 0.0, 0.0))
    head = _box((0.005, 0.013, 0.013), (-0.0025, 0.0, 0.0))
    grasps = jaw_grasps(made_of(shaft, head, center=(0.02, 0.0, 0.0)), UP, JAWS)
    across = np.abs(grasps.axes[:, 1]) > 0.999
    on_shaft = across & (np.abs(grasps.widths_m - 0.006) < 1e-5)
    on_head = across & (np.abs(grasps.widths_m - 0.013) < 1e-5)
    assert on_shaft.any()
    assert on_head.any()
    assert (grasps.centers_m[on_shaft, 0] >= JAWS.width_m / 2 - 1e-6).all()
    assert (grasps.centers_m[on_head, 0] <= JAWS.width_m / 2).all()


def test_what_lies_below_the_tips_is_passed_over(made_of):
    """A wide low foot does not keep the jaws from the narrow post on it."""
    foot, post = _box((0.1, 0.1, 0.004), (0, 0, 0.002)), _box((0.01, 0.01, 0.03), (0, 0, 0.019))
    grasps = jaw_grasps(made_of(foot, post, center=(0, 0, 0.004)), UP, JAWS)
    assert grasps.widths_m.min() == pytest.approx(0.01)
    assert np.isclose(grasps.centers_m[:, 2], 0.019).all()
    assert len(jaw_grasps(made_of(foot), UP, JAWS).widths_m) == 0


@settings(max_examples=20, deadline=None)
@given(st.floats(0, 6.28), st.floats(0, 6.28))
def test_turning_part_and_vertical_together_changes_nothing(made_of, angle, bearing):
    axis = np.array([np.cos(bearing), np.sin(bearing), 0.3])
    turn = quat_to_matrix(quat_about(axis, angle))
    corners = CORNERS * (0.02, 0.012, 0.007)
    up = tuple((turn @ np.array(UP)).tolist())
    turned = made_of(Collider("hull", corners @ turn.T, np.empty((0, 3), np.int32)))
    still = made_of(Collider("hull", corners, np.empty((0, 3), np.int32)))
    ours, theirs = jaw_grasps(turned, up, JAWS), jaw_grasps(still, UP, JAWS)
    assert ours.widths_m.min() == pytest.approx(theirs.widths_m.min(), abs=1e-6)
    np.testing.assert_allclose(ours.axes @ np.array(up), 0, atol=1e-9)


def test_every_part_of_the_cells_can_be_held_in_every_pose(catalogue):
    for part in catalogue.values():
        for rest in part.stable_poses:
            up = quat_to_matrix(np.array(rest.quat_xyzw))[2]
            assert len(jaw_grasps(part, tuple(up.tolist()), JAWS).widths_m) > 0, (part.id, rest)
