"""Footprints: exact outlines, recognised rests, circles that hold them."""

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from scenegen.footprint import (
    Stencils,
    circle_about,
    footprint_at,
    footprint_of,
    gaps,
    nearer,
    rectangle,
    resting,
    stable_footprints,
    stencils_at,
)
from scenegen.geometry import quat_about, quat_multiply, quat_yaw
from scenegen.parts.builtin import builtin_part

PARTS = ("hex_bolt_m6x20", "hex_nut_m8", "flat_washer_m8", "glove", "chip")
angles = st.floats(-3.1, 3.1)


@pytest.mark.parametrize("part_id", PARTS)
def test_outline_covers_exactly_what_the_colliders_cover(part_id):
    part = builtin_part(part_id)
    for pose, footprint in zip(part.stable_poses, stable_footprints(part), strict=True):
        turned = [c.vertices @ np.asarray(_matrix(pose.quat_xyzw)).T for c in part.colliders]
        pieces = shapely.union_all([shapely.MultiPoint(v[:, :2]).convex_hull for v in turned])
        assert footprint.outline.symmetric_difference(pieces).area < 1e-9
        assert footprint.low_m == pytest.approx(min(v[:, 2].min() for v in turned))


def test_hole_of_a_washer_stays_open():
    part = builtin_part("flat_washer_m8")
    flat = stable_footprints(part)[0]
    assert len(flat.outline.interiors) == 1
    assert not flat.outline.contains(shapely.Point(flat.center.real, flat.center.imag))


@given(yaw=angles, x=st.floats(-0.1, 0.1), y=st.floats(-0.1, 0.1))
def test_turned_outline_is_the_outline_of_the_turned_part(yaw, x, y):
    part = builtin_part("hex_bolt_m8x20")
    pose = part.stable_poses[0]
    there = stable_footprints(part)[0].at(complex(x, y), yaw)
    turned = footprint_of(part, quat_multiply(quat_yaw(yaw), pose.quat_xyzw)).at(complex(x, y), 0.0)
    assert there.hausdorff_distance(turned) < 1e-6


@given(yaw=angles, index=st.integers(0, 7))
def test_resting_recognises_every_stable_pose_at_any_yaw(yaw, index):
    part = builtin_part("hex_nut_m8")
    quat = quat_multiply(quat_yaw(yaw), part.stable_poses[index].quat_xyzw)
    found = resting(part, quat)
    assert found is not None
    assert found[0] == index
    assert abs(np.angle(np.exp(1j * (found[1] - yaw)))) < 1e-6


@given(lean=st.floats(0.01, 0.1), yaw=angles)
def test_a_leaning_part_does_not_rest(lean, yaw):
    part = builtin_part("flat_washer_m8")
    quat = quat_multiply(quat_yaw(yaw), quat_multiply(quat_about((1, 0, 0), lean), part.stable_poses[0].quat_xyzw))
    assert resting(part, quat) is None
    footprint, own_yaw = footprint_at(part, quat)
    assert own_yaw == 0.0
    assert footprint.outline.area < stable_footprints(part)[0].outline.area * 1.05


@pytest.mark.parametrize("part_id", PARTS)
def test_stencils_give_circles_walls_and_outlines_of_single_footprints(part_id):
    footprints = stable_footprints(builtin_part(part_id))
    stencils = Stencils(footprints)
    rng = np.random.default_rng(5)
    kinds = rng.integers(len(footprints), size=40)
    places = rng.uniform(-0.05, 0.05, 40) + 1j * rng.uniform(-0.05, 0.05, 40)
    yaws = rng.uniform(0, 6, 40)
    turns = np.exp(1j * yaws)
    half = np.array([0.06, 0.05])
    outlines = stencils.outlines(kinds, places, turns)
    inside = stencils.inside(kinds, places, turns, half)
    centers = stencils.circles(kinds, places, turns)
    for i, outline in enumerate(outlines):
        assert outline.hausdorff_distance(footprints[kinds[i]].at(complex(places[i]), yaws[i])) < 1e-12
        left, low, right, high = outline.bounds
        assert inside[i] == (max(-left, right) <= half[0] and max(-low, high) <= half[1])
        far = np.abs(shapely.get_coordinates(outline) @ [1, 1j] - centers[i]).max()
        assert far <= stencils.radii_m[kinds[i]] + 1e-12


@given(yaws=st.lists(angles, min_size=1, max_size=6), leaning=st.booleans())
def test_many_parts_are_recognised_as_each_one_is(yaws, leaning):
    parts = [builtin_part(PARTS[index % len(PARTS)]) for index in range(len(yaws))]
    tilt = quat_about((1, 0, 0), 0.05 if leaning else 0.0)
    quats = np.array(
        [
            quat_multiply(quat_yaw(yaw), quat_multiply(tilt, p.stable_poses[-1].quat_xyzw))
            for p, yaw in zip(parts, yaws, strict=True)
        ]
    )
    stencils, kinds, yaws_rad = stencils_at(parts, quats)
    outlines = stencils.outlines(kinds, np.zeros(len(parts), complex), np.exp(1j * yaws_rad))
    for part, quat, outline in zip(parts, quats, outlines, strict=True):
        footprint, yaw = footprint_at(part, quat)
        assert outline.hausdorff_distance(footprint.at(0j, yaw)) < 1e-9


def test_rectangle_circle_and_gaps():
    box = rectangle(1 + 1j, (0.2, 0.1), np.pi / 2)
    assert box.bounds == pytest.approx((0.95, 0.9, 1.05, 1.1))
    center, radius = circle_about(box)
    assert center == pytest.approx(1 + 1j)
    assert radius == pytest.approx(np.hypot(0.1, 0.05))
    others = [rectangle(2 + 1j, (0.1, 0.1), 0.0), box]
    assert gaps(box, others).tolist() == pytest.approx([0.9, 0.0])
    far = np.array([box, box], object), np.array(others, object)
    assert nearer(*far, float(gaps(box, others)[0])).tolist() == [False, True]
    assert nearer(*far, 1.0).tolist() == [True, True]


def _matrix(quat):
    from_quat = np.array(
        [quat_multiply(quat_multiply(quat, (*axis, 0)), np.array(quat) * [-1, -1, -1, 1])[:3] for axis in np.eye(3)]
    )
    return from_quat.T
