"""Grasps from above: opening, height, walls, neighbours, order."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenegen.cell import Tray
from scenegen.geometry import Pose, quat_yaw
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Collider, StablePose
from scenegen.posed import Posed
from scenegen.scenario import Item
from validators.grasp import GRASP, pick_order

TRAY = Tray(pose_to_world=Pose(), size_m=(0.3, 0.3), wall_height_m=0.012, wall_thickness_m=0.003)
LIMITS = GRASP.limits


@pytest.fixture(scope="module")
def gripper(cell):
    return cell.robot.gripper


def _posed(catalogue, *places):
    """Items from (part, x, y) or (part, x, y, yaw, z) at rest on the floor."""
    items = []
    for index, (part, x, y, *rest) in enumerate(places):
        yaw, z = [*rest, 0.0, 0.0][:2]
        stable = catalogue[part].stable_poses[0]
        turned = Pose.of((x, y, stable.height_m + z), quat_yaw(yaw)).after(Pose.of((0, 0, 0), stable.quat_xyzw))
        items.append(Item(name=f"item_{index}", part=part, zone="feed", pose_to_world=turned))
    return Posed.of(items, catalogue)


def _taken(posed, gripper, limits=LIMITS, box=TRAY):
    return pick_order(posed, limits, gripper, box, box.pose_to_world).taken.tolist()


def test_a_part_alone_can_be_taken(catalogue, gripper):
    for part in ("hex_bolt_m6x20", "hex_nut_m8", "flat_washer_m8", "dowel_pin_6x20", "chip"):
        assert _taken(_posed(catalogue, (part, 0.0, 0.0)), gripper) == [True]


def test_a_narrow_gripper_takes_nothing(catalogue, gripper):
    tight = gripper.model_copy(update={"opening_m": 0.005})
    order = pick_order(_posed(catalogue, ("hex_nut_m8", 0, 0)), LIMITS, tight, TRAY, TRAY.pose_to_world)
    assert order.taken.tolist() == [False]
    assert order.has_grasp.tolist() == [False]


def test_a_flat_part_slips_out_below_the_pads(catalogue, gripper):
    posed = _posed(catalogue, ("flat_washer_m8", 0.0, 0.0))
    thick = float(np.ptp(catalogue["flat_washer_m8"].collision_vertices, axis=0).min())
    for least, expected in ((thick * 0.9, [True]), (thick * 1.1, [False])):
        assert _taken(posed, gripper.model_copy(update={"min_grasp_height_m": least})) == expected


def test_a_tall_part_meets_the_palm(catalogue, gripper):
    posed = _posed(catalogue, ("hex_nut_m8", 0.0, 0.0))
    assert _taken(posed, gripper.model_copy(update={"finger_depth_m": 0.003})) == [False]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(0.0, 0.03), st.floats(0.0, 6.28))
def test_walls_leave_room_or_not(catalogue, gripper, gap, yaw):
    """In a corner a nut can be taken if a finger fits on both sides, and cannot where it touches both walls."""
    radius = catalogue["hex_nut_m6"].radius_m
    at = 0.15 - radius - gap
    taken = _taken(_posed(catalogue, ("hex_nut_m6", at, at, yaw)), gripper)
    if gap > gripper.finger_width_m + gripper.finger_thickness_m + LIMITS["play_m"]:
        assert taken == [True]
    if gap == 0.0:
        assert taken == [False]


def test_above_the_walls_there_is_room(catalogue, gripper):
    shallow = TRAY.model_copy(update={"wall_height_m": 0.0})
    posed = _posed(catalogue, ("hex_nut_m6", 0.14, 0.14))
    assert _taken(posed, gripper) == [False]
    assert _taken(posed, gripper, box=shallow) == [True]


def _ring(part, count, radius):
    angles = np.arange(count) * 2 * np.pi / count
    return [(part, radius * np.cos(a), radius * np.sin(a)) for a in angles]


def test_neighbours_are_taken_first(catalogue, gripper):
    """A nut between four nuts is blocked while they are there; taken one after the other, all come out."""
    ring = _ring("hex_nut_m8", 4, 0.017)
    assert all(_taken(_posed(catalogue, ("hex_nut_m8", 0, 0), *ring), gripper))


@pytest.fixture(scope="module")
def with_blocks(catalogue):
    """The catalogue and a block that is wider than the gripper opens."""
    size = np.array([0.09, 0.09, 0.012])
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size
    likeness = catalogue["hex_nut_m8"]
    collider = Collider("box", corners, np.empty((0, 3), np.int32))
    mass = replace(likeness.mass, center_of_mass_m=(0.0, 0.0, 0.0))
    rest = StablePose((0.0, 0.0, 0.0, 1.0), 0.006, 1.0)
    return Catalogue(
        [*catalogue.values(), replace(likeness, id="block", colliders=(collider,), mass=mass, stable_poses=(rest,))]
    )


def test_what_cannot_be_taken_away_blocks(with_blocks, gripper):
    """Blocks that the gripper cannot take stand around a nut: it cannot be taken, and they are named."""
    near = _posed(with_blocks, ("hex_nut_m8", 0, 0), *_ring("block", 4, 0.055))
    order = pick_order(near, LIMITS, gripper, TRAY, TRAY.pose_to_world)
    assert not order.taken.any()
    assert order.has_grasp.tolist() == [True] + [False] * 4
    assert order.has_room.tolist() == [True] + [False] * 4
    assert order.blockers[0]
    assert set(order.blockers[0]) <= {1, 2, 3, 4}
    far = _posed(with_blocks, ("hex_nut_m8", 0, 0), *_ring("block", 4, 0.075))
    assert _taken(far, gripper) == [True, False, False, False, False]


def test_what_lies_on_top_goes_first(with_blocks, gripper):
    height = 2 * with_blocks["hex_nut_m8"].stable_poses[0].height_m
    stacked = _posed(with_blocks, ("hex_nut_m8", 0, 0), ("hex_nut_m6", 0, 0, 0.0, height))
    assert _taken(stacked, gripper) == [True, True]
    covered = _posed(with_blocks, ("hex_nut_m8", 0, 0), ("block", 0, 0, 0.0, height))
    assert _taken(covered, gripper) == [False, False]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(0.0, 6.28), st.integers(0, 1000))
def test_turning_the_feed_changes_nothing(catalogue, gripper, yaw, seed):
    rng = np.random.default_rng(seed)
    places = [("hex_nut_m6", *rng.uniform(-0.14, 0.14, 2), rng.uniform(0, 6)) for _ in range(4)]
    posed = _posed(catalogue, *places)
    turn = Pose.of((0.1, 0.2, 0.05), quat_yaw(yaw))
    items = [item.model_copy(update={"pose_to_world": turn.after(item.pose_to_world)}) for item in posed.items]
    turned = pick_order(Posed.of(items, catalogue), LIMITS, gripper, TRAY, turn)
    still = pick_order(posed, LIMITS, gripper, TRAY, TRAY.pose_to_world)
    # Walls are exact; between items, outlines are compared along a fan of directions that does not turn with them.
    assert turned.has_room.tolist() == still.has_room.tolist()


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 1000))
def test_taking_an_item_away_never_blocks_another(catalogue, gripper, seed):
    rng = np.random.default_rng(seed)
    places = [("hex_bolt_m6x20", *rng.uniform(-0.05, 0.05, 2), rng.uniform(0, 6)) for _ in range(6)]
    all_of_them, fewer = _taken(_posed(catalogue, *places), gripper), _taken(_posed(catalogue, *places[1:]), gripper)
    assert all(after or not before for before, after in zip(all_of_them[1:], fewer, strict=True))


def test_the_sentence_says_why(base_scenario, check_context):
    feed = check_context.cell.feed
    item = next(i for i in base_scenario.layout.items if i.part.startswith("hex_nut"))
    corner = np.array(feed.size_m) / 2 - check_context.parts[item.part].radius_m - 0.0002
    height = item.pose_to_world.position_m[2]
    pose = Pose.of((*(feed.pose_to_world.position[:2] + corner), height), item.pose_to_world.quat)
    moved = item.model_copy(update={"pose_to_world": pose})
    items = tuple(moved if one.name == item.name else one for one in base_scenario.layout.items)
    scenario = base_scenario.varied(layout=base_scenario.layout.model_copy(update={"items": items}))
    (found,) = GRASP.run(scenario, check_context, LIMITS)
    assert found.code == "walls"
    assert found.sentence == (
        f"'{item.name}' cannot be picked: the walls leave no room for the fingers - accepted: each target can be "
        "picked in some order"
    )
