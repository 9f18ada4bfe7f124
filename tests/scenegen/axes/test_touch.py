"""Contacts from above: gaps between bodies, and what stays where it is laid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenegen.axes.drop import PLAY_M, drop
from scenegen.axes.touch import balances, body_of, box_body, gap_above
from scenegen.geometry import Pose, quat_about
from scenegen.parts.builtin import builtin_part


def cube(x, y, z, half=0.01):
    return box_body(np.array([x - half, y - half, z - half]), np.array([x + half, y + half, z + half]))


@given(x=st.floats(-0.018, 0.018), y=st.floats(-0.018, 0.018), height=st.floats(-0.01, 0.1))
def test_gap_between_boxes_is_their_vertical_distance(x, y, height):
    assert gap_above(cube(x, y, height + 0.02), cube(0, 0, 0)) == pytest.approx(height, abs=1e-9)


def test_nothing_lies_below_what_is_beside():
    assert gap_above(cube(0.03, 0, 0.05), cube(0, 0, 0)) == np.inf
    assert not balances(cube(0.03, 0, 0.05), cube(0, 0, 0), np.array([0.03, 0.0]))


def test_edges_that_cross_touch_first():
    edge = quat_about((0, 1, 0), np.pi / 4)
    upper = box_body(np.array([-0.005, -0.02, -0.005]), np.array([0.005, 0.02, 0.005])).at(Pose.of((0, 0, 0.03), edge))
    lower = box_body(np.array([-0.02, -0.005, -0.005]), np.array([0.02, 0.005, 0.005])).at(
        Pose.of((0, 0, 0), quat_about((1, 0, 0), np.pi / 4))
    )
    assert gap_above(upper, lower) == pytest.approx(0.03 - 2 * 0.005 * np.sqrt(2), abs=1e-9)


@pytest.mark.parametrize(("offset", "stays"), [(0.0, True), (0.009, True), (0.011, False), (0.018, False)])
def test_a_box_stays_while_its_weight_is_over_the_other(offset, stays):
    assert balances(cube(offset, 0, 0.03), cube(0, 0, 0), np.array([offset, 0.0])) is stays


def test_a_pin_falls_through_the_hole_of_a_washer_but_not_past_its_rim():
    washer, pin = builtin_part("flat_washer_m8"), builtin_part("dowel_pin_6x20")
    flat, upright = Pose.of((0, 0, 0), washer.stable_poses[0].quat_xyzw), pin.stable_poses[-1].quat_xyzw
    ring = body_of(washer).at(flat)
    assert gap_above(body_of(pin).at(Pose.of((0, 0, 0.03), upright)), ring) == np.inf
    assert gap_above(body_of(pin).at(Pose.of((0.006, 0, 0.03), upright)), ring) < 0.03


def test_an_item_drops_to_the_floor_or_onto_what_is_below(ctx, bases):
    scene, item = bases[0], bases[0].layout.items[0]
    carrier = scene.layout.items[1]
    floor = ctx.cell.feed.pose_to_world.position_m[2]
    part = ctx.parts[item.part]
    lying = np.array(part.stable_poses[0].quat_xyzw)
    corner = np.array(ctx.cell.feed.pose_to_world.position_m[:2]) + 1.0
    on_floor = drop(scene, item, corner, lying, ctx=ctx)
    assert on_floor.onto is None
    lowest = on_floor.pose.apply(part.collision_vertices)[:, 2].min()
    assert lowest == pytest.approx(floor + PLAY_M, abs=1e-6)
    piled = drop(scene, item, carrier.pose_to_world.position[:2], lying, ctx=ctx)
    assert piled.onto == carrier.name
    gap = gap_above(body_of(part).at(piled.pose), body_of(ctx.parts[carrier.part]).at(carrier.pose_to_world))
    assert gap == pytest.approx(PLAY_M, abs=1e-6)
