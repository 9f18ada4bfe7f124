"""Overlap, floating, zones, reach: where exactly the limits lie."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenegen.geometry import Pose, quat_yaw
from scenegen.nominal import nominal_fixtures, nominal_scenario
from scenegen.scenario import Cause, Item, Layout, Task
from validators.geometry import FLOATING, OVERLAP, supports
from validators.placed import OUTSIDE, REACH
from validators.reach import ReachMap

quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _item(context, slot, x, y, *, z=0.0, pose=0, yaw=0.0, zone="feed", cause=Cause.NOMINAL):
    """An item lying in a stable pose in the feed's frame, `z` above its floor."""
    part = context.cell.slots[slot].part
    rest = context.parts[part].stable_poses[pose]
    local = Pose.of((x, y, rest.height_m + z), rest.quat_xyzw)
    turned = Pose.of((0, 0, 0), quat_yaw(yaw)).after(Pose.of((0, 0, 0), local.quat))
    fixtures = {"feed": context.cell.feed.pose_to_world, **{b.name: b.pose_to_world for b in context.cell.bins}}
    in_world = fixtures[zone].after(Pose.of(local.position, turned.quat))
    return Item(name=slot, part=part, zone=zone, cause=cause, pose_to_world=in_world)


def _scene(context, *items):
    layout = Layout(fixtures=nominal_fixtures(context.cell), items=items)
    return nominal_scenario(context.cell, context.parts, layout, Task(rules=context.cell.rules, instruction="Sort."))


def _codes(check, scenario, context):
    return [found.code for found in check.run(scenario, context, check.limits)]


@quick
@given(st.floats(0.0, 0.05))
def test_an_item_floats_exactly_above_the_gap(check_context, height):
    scenario = _scene(check_context, _item(check_context, "hex_nut_m8_00", 0.0, 0.0, z=height))
    floats = _codes(FLOATING, scenario, check_context) == ["floating"]
    if abs(height - FLOATING.limits["gap_m"]) > 2e-5:
        assert floats == (height > FLOATING.limits["gap_m"])


@quick
@given(st.floats(0.0, 0.003))
def test_an_item_overlaps_exactly_beyond_the_depth(check_context, depth):
    scenario = _scene(check_context, _item(check_context, "hex_nut_m8_00", 0.0, 0.0, z=-depth))
    overlaps = _codes(OVERLAP, scenario, check_context) == ["overlap"]
    if abs(depth - OVERLAP.limits["depth_m"]) > 2e-5:
        assert overlaps == (depth > OVERLAP.limits["depth_m"])


def test_an_overlap_names_both_things_and_its_depth(check_context):
    scenario = _scene(check_context, _item(check_context, "hex_nut_m8_00", 0.0, 0.0, z=-0.002))
    (found,) = OVERLAP.run(scenario, check_context, OVERLAP.limits)
    assert found.subjects == ("feed", "hex_nut_m8_00")
    assert found.value == pytest.approx(0.002, abs=1e-5)
    assert found.sentence == "'hex_nut_m8_00' overlaps 'feed' by 0.002 m - accepted: at most 0.0005 m"


def test_what_lies_on_a_floating_item_floats_too(check_context):
    part = check_context.parts["hex_nut_m8"]
    height = 2 * part.stable_poses[0].height_m
    low = _item(check_context, "hex_nut_m8_00", 0.0, 0.0, z=0.004)
    high = _item(check_context, "hex_nut_m8_01", 0.0, 0.0, z=0.004 + height)
    found = [f.subjects for f in FLOATING.run(_scene(check_context, low, high), check_context, FLOATING.limits)]
    assert found == [("hex_nut_m8_00",), ("hex_nut_m8_01",)]


def test_a_stack_is_carried_by_the_lower_item(check_context):
    part = check_context.parts["hex_nut_m8"]
    height = 2 * part.stable_poses[0].height_m
    low = _item(check_context, "hex_nut_m8_00", 0.0, 0.0)
    high = _item(check_context, "hex_nut_m8_01", 0.001, 0.0, z=height)
    layout = _scene(check_context, low, high).layout
    carried = supports(check_context.posed(layout), check_context.contacts.contacts(layout, margin_m=5e-4))
    assert carried == {"hex_nut_m8_00": ("feed",), "hex_nut_m8_01": ("hex_nut_m8_00",)}


def test_zones_are_between_walls_and_above_floors(check_context):
    half = check_context.cell.feed.size_m[0] / 2
    inside = _item(check_context, "hex_nut_m8_00", half - 0.012, 0.0)
    in_wall = _item(check_context, "hex_nut_m8_00", half - 0.002, 0.0)
    beyond = _item(check_context, "hex_nut_m8_00", half + 0.03, 0.0)
    sunk = _item(check_context, "hex_nut_m8_00", 0.0, 0.0, z=-0.003)
    codes = [_codes(OUTSIDE, _scene(check_context, one), check_context) for one in (inside, in_wall, beyond, sunk)]
    assert codes == [[], ["outside"], ["outside"], ["below"]]


def test_an_item_belongs_to_the_zone_that_it_names(check_context):
    lying = _item(check_context, "hex_nut_m8_00", 0.0, 0.0)
    said = lying.model_copy(update={"zone": "bin_b"})
    there = _item(check_context, "hex_nut_m8_00", 0.0, 0.0, zone="bin_b")
    assert _codes(OUTSIDE, _scene(check_context, said), check_context) == ["outside"]
    assert _codes(OUTSIDE, _scene(check_context, there), check_context) == []


def test_the_table_is_a_zone_too(check_context):
    table = check_context.cell.table
    top = table.pose_top_to_world.position_m[2] - check_context.cell.feed.pose_to_world.position_m[2]
    beside = _item(check_context, "hex_nut_m8_00", 0.0, 0.125, z=top).model_copy(update={"zone": "table"})
    past_edge = _item(check_context, "hex_nut_m8_00", 0.0, 0.597, z=top).model_copy(update={"zone": "table"})
    assert _codes(OUTSIDE, _scene(check_context, beside), check_context) == []
    assert _codes(OUTSIDE, _scene(check_context, past_edge), check_context) == ["overhang"]
    in_feed = _item(check_context, "hex_nut_m8_00", 0.0, 0.0).model_copy(update={"zone": "table"})
    assert _codes(OUTSIDE, _scene(check_context, in_feed), check_context) == ["outside"]


@pytest.mark.parametrize("yaw", [0.0, 0.3, 1.2])
def test_zones_turn_with_their_fixture(check_context, yaw):
    """Rotating feed and item together changes nothing."""
    half = check_context.cell.feed.size_m[0] / 2
    for x, expected in ((half - 0.012, []), (half - 0.002, ["outside"])):
        scene = _scene(check_context, _item(check_context, "hex_nut_m8_00", x, 0.0))
        center = check_context.cell.feed.pose_to_world.position
        turn = Pose.of(center, quat_yaw(yaw)).after(Pose.of(-center))
        fixtures = tuple(
            f.model_copy(update={"pose_to_world": turn.after(f.pose_to_world)}) if f.name == "feed" else f
            for f in scene.layout.fixtures
        )
        items = tuple(i.model_copy(update={"pose_to_world": turn.after(i.pose_to_world)}) for i in scene.layout.items)
        turned = scene.varied(layout=Layout(fixtures=fixtures, items=items))
        assert _codes(OUTSIDE, turned, check_context) == expected


def test_reach_ends_where_the_arm_ends(check_context):
    reach = ReachMap(check_context.arm)
    points = np.array([[0.5, 0.0, 0.01], [0.3, 0.3, 0.05], [0.84, 0.0, 0.01], [2.0, 0.0, 0.0]])
    assert reach.reaches(points).tolist() == check_context.arm.reaches_top_down(points).tolist()
    assert reach.reaches(points).tolist()[0] is True
    assert reach.reaches(points).tolist()[-1] is False
    assert reach.reaches(np.empty((0, 3))).shape == (0,)


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32 - 1))
def test_the_grid_errs_only_within_a_grid_step_of_points_that_the_arm_reaches(check_context, seed):
    rng = np.random.default_rng(seed)
    points = rng.uniform((0.1, -0.7, 0.0), (0.95, 0.7, 0.12), (200, 3))
    arm = check_context.arm
    grid, exact = ReachMap(arm).reaches(points), arm.reaches_top_down(points)
    assert grid[exact].all()
    wrong = points[grid & ~exact]
    assert len(wrong) <= 4
    for point in wrong:
        assert arm.reaches_top_down(point + rng.uniform(-0.02, 0.02, (200, 3))).any()


def test_a_target_out_of_reach_is_named(check_context):
    feed = check_context.cell.feed.pose_to_world
    far = _item(check_context, "hex_nut_m8_00", 0.0, 0.0)
    far = far.model_copy(update={"pose_to_world": Pose.of(feed.position + np.array([0.7, 0, 0.01]))})
    (found,) = REACH.run(_scene(check_context, far), check_context, REACH.limits)
    assert found.subjects == ("hex_nut_m8_00",)
    assert found.sentence.startswith("the robot does not reach 'hex_nut_m8_00' from above, 1.2 m from its base")
