"""Rest: how far parts lean, what settles, and causes that tell of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenegen.axes.rest import explained, lean_deg, lies_in_feed, lifts_m, settled, symmetry_axis, trial
from scenegen.geometry import Pose, quat_about, quat_multiply, quat_yaw
from scenegen.parts.builtin import builtin_ids, builtin_part
from scenegen.scenario import Cause

angles = st.floats(-3.0, 3.0)


@pytest.mark.parametrize("part_id", builtin_ids())
def test_no_part_leans_in_its_stable_poses(part_id):
    part = builtin_part(part_id)
    assert max(lean_deg(part, pose.quat_xyzw) for pose in part.stable_poses) < 0.1


@given(yaw=angles, lean=st.floats(0.0, 0.7))
def test_a_washer_leans_by_the_angle_it_is_turned(yaw, lean):
    part = builtin_part("flat_washer_m8")
    quat = quat_multiply(quat_about((np.cos(yaw), np.sin(yaw), 0), lean), part.stable_poses[0].quat_xyzw)
    assert lean_deg(part, quat) == pytest.approx(np.degrees(lean), abs=1e-3)


@given(roll=angles, yaw=angles)
def test_a_bolt_that_rolled_does_not_lean(roll, yaw):
    part = builtin_part("hex_bolt_m6x20")
    axis = symmetry_axis(part)
    assert abs(axis[2]) == pytest.approx(1.0)
    rolled = quat_multiply(part.stable_poses[0].quat_xyzw, quat_about(axis, roll))
    assert lean_deg(part, quat_multiply(quat_yaw(yaw), rolled)) == pytest.approx(0.0, abs=0.01)


def test_parts_without_symmetry_have_no_axis():
    assert symmetry_axis(builtin_part("l_bracket_left")) is None
    assert symmetry_axis(builtin_part("glove")) is None


def test_a_base_is_at_rest_and_settling_leaves_it_exactly_where_it_is(ctx, bases):
    assert settled(bases[0], ctx) == bases[0]
    assert explained(bases[0], ctx) == bases[0]
    assert max(lifts_m(bases[0].layout.items, bases[0], ctx).values()) < 2e-5


def test_a_trial_moves_what_was_lifted_and_leaves_the_rest_alone(ctx, bases):
    item = bases[0].layout.items[0]
    lifted = Pose.of(item.pose_to_world.position + np.array([0, 0, 0.003]), item.pose_to_world.quat)
    rested = trial(bases[0], {item.name: lifted}, ctx)
    assert rested is not None
    assert rested.layout.items[1:] == bases[0].layout.items[1:]
    assert np.linalg.norm(rested.item(item.name).pose_to_world.position - item.pose_to_world.position) < 1e-3


def test_what_falls_off_the_table_is_not_at_rest(ctx, bases):
    item = bases[0].layout.items[0]
    assert trial(bases[0], {item.name: Pose.of((5.0, 5.0, 0.5))}, ctx) is None


def test_causes_follow_what_is_there(ctx, bases):
    scene = bases[0]
    item = scene.layout.items[0]
    raised = Pose.of(item.pose_to_world.position + np.array([0, 0, 0.01]), item.pose_to_world.quat)
    leaning = Pose.of(item.pose_to_world.position, quat_multiply(quat_about((1, 0, 0), 0.3), item.pose_to_world.quat))

    def cause(pose, before=Cause.NOMINAL):
        items = (item.replaced(pose_to_world=pose, cause=before), *scene.layout.items[1:])
        return explained(scene.varied(layout=scene.layout.replaced(items=items)), ctx).layout.items[0].cause

    assert cause(raised) is Cause.PILED
    assert cause(leaning) in (Cause.LEANING, Cause.PILED)
    assert cause(item.pose_to_world, Cause.LEANING) is Cause.JOSTLED
    assert cause(item.pose_to_world, Cause.MISFEED) is Cause.MISFEED


def test_the_feed_ends_at_its_walls(ctx, bases):
    scene, item = bases[0], bases[0].layout.items[0]
    assert all(lies_in_feed(scene, one.name, ctx) for one in scene.layout.items)
    feed = ctx.cell.feed

    def moved(x, z):
        pose = Pose.of((feed.pose_to_world.position_m[0] + x, 0.0, item.pose_to_world.position_m[2] + z))
        items = (item.replaced(pose_to_world=pose), *scene.layout.items[1:])
        return lies_in_feed(scene.varied(layout=scene.layout.replaced(items=items)), item.name, ctx)

    assert moved(0.0, 0.0)
    assert not moved(0.1, 0.0)
    assert moved(0.095, 0.05)
    assert not moved(0.13, 0.05)
