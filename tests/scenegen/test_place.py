"""Placement: nothing overlaps, everything lies in its zone, failures are counted, and the exact mode is exact."""

from itertools import combinations

import numpy as np
import pytest
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from scenegen.errors import InvalidRecord, PlacementFailed, UnknownName
from scenegen.footprint import footprint_at, rectangle, stable_footprints
from scenegen.nominal import nominal_fixtures
from scenegen.place import PlaceOptions, place, zone_named
from scenegen.scenario import FixturePose, Layout
from scenegen.streams import stream

SLOTS = (
    "hex_bolt_m6x20_00",
    "hex_bolt_m8x20_00",
    "hex_bolt_m8x20_01",
    "hex_nut_m6_00",
    "hex_nut_m8_00",
    "hex_nut_m8_01",
)


def outlines(items, parts):
    found = []
    for item in items:
        footprint, yaw = footprint_at(parts[item.part], item.pose_to_world.quat)
        found.append(footprint.at(complex(*item.pose_to_world.position_m[:2]), yaw))
    return found


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**31), mode=st.sampled_from(["sequential", "uniform"]), zone=st.sampled_from(["feed", "bin_a"])
)
def test_placed_parts_keep_clear_of_each_other_and_of_the_walls(cell, catalogue, seed, mode, zone):
    options = PlaceOptions(mode=mode, sweeps=3)
    items = place(cell, catalogue, slots=SLOTS, zone=zone, rng=stream(seed), options=options)
    assert tuple(item.name for item in items) == SLOTS
    shapes = outlines(items, catalogue)
    assert min(a.distance(b) for a, b in combinations(shapes, 2)) > options.clearance_m - 1e-6
    box = cell.containers[zone]
    wall = options.wall_m(cell)
    x, y, floor = box.pose_to_world.position_m
    inner = rectangle(complex(x, y), np.array(box.size_m) - 2 * wall + 1e-6, 0.0)
    assert all(inner.contains(shape) for shape in shapes)
    lowest = [i.pose_to_world.apply(catalogue[i.part].collision_vertices)[:, 2].min() - floor for i in items]
    assert np.abs(lowest).max() < 2e-5


def test_a_turned_feed_turns_the_walls(cell, catalogue):
    fixtures = list(nominal_fixtures(cell))
    pose = fixtures[0].pose_to_world.replaced(quat_xyzw=(0.0, 0.0, np.sin(0.3), np.cos(0.3)))
    fixtures[0] = FixturePose(name="feed", pose_to_world=pose)
    occupied = Layout(fixtures=tuple(fixtures), items=())
    items = place(cell, catalogue, slots=SLOTS, zone="feed", rng=stream(3), occupied=occupied)
    inner = rectangle(complex(*pose.position_m[:2]), cell.feed.size_m, 0.6)
    assert all(inner.contains(shape) for shape in outlines(items, catalogue))


def test_the_table_zone_lies_around_the_feed_clear_of_all_fixtures(cell, catalogue):
    items = place(cell, catalogue, slots=SLOTS, zone="table", rng=stream(4))
    fixtures = [
        rectangle(complex(*box.pose_to_world.position_m[:2]), np.array(box.size_m) + 2 * box.wall_thickness_m, 0.0)
        for box in cell.containers.values()
    ]
    for shape in outlines(items, catalogue):
        assert min(shape.distance(fixture) for fixture in fixtures) > 0.0049
    lowest = [i.pose_to_world.apply(catalogue[i.part].collision_vertices)[:, 2].min() for i in items]
    assert np.abs(lowest).max() < 2e-5


def test_what_is_there_already_is_kept_clear_of(cell, catalogue):
    first = place(cell, catalogue, slots=SLOTS[:3], zone="feed", rng=stream(5))
    occupied = Layout(fixtures=nominal_fixtures(cell), items=first)
    second = place(cell, catalogue, slots=SLOTS[3:], zone="feed", rng=stream(6), occupied=occupied)
    shapes = outlines((*first, *second), catalogue)
    assert min(a.distance(b) for a, b in combinations(shapes, 2)) > 0.005 - 1e-6


@pytest.mark.parametrize("mode", ["sequential", "uniform"])
def test_the_same_stream_gives_the_same_bytes(cell, catalogue, mode):
    options = PlaceOptions(mode=mode, sweeps=2)
    one, two = (place(cell, catalogue, slots=SLOTS, zone="feed", rng=stream(7), options=options) for _ in range(2))
    assert [i.canonical_json() for i in one] == [i.canonical_json() for i in two]


def test_no_slots_give_no_items(cell, catalogue):
    assert place(cell, catalogue, slots=(), zone="feed", rng=stream(8)) == ()


def test_failure_counts_why_every_candidate_was_rejected(cell, catalogue):
    small = cell.replaced(feed=cell.feed.replaced(size_m=(0.05, 0.05)))
    options = PlaceOptions(attempts=100, wall_clearance_m=0.001)
    with pytest.raises(PlacementFailed) as caught:
        place(small, catalogue, slots=SLOTS, zone="feed", rng=stream(9), options=options)
    failure = caught.value
    assert failure.attempts == 100
    assert failure.rejections.total() == 100
    assert set(+failure.rejections) == {"wall", "overlap"}
    counts = f"wall {failure.rejections['wall']}", f"overlap {failure.rejections['overlap']}"
    assert all(count in str(failure) for count in counts)
    assert str(failure).endswith("- place fewer parts or enlarge the zone")


def test_a_zone_smaller_than_its_clearances_fails_by_walls_alone(cell, catalogue):
    small = cell.replaced(feed=cell.feed.replaced(size_m=(0.015, 0.015)))
    with pytest.raises(PlacementFailed, match=r"^no place for 'hex_nut_m8_00' after 20 attempts \(wall 20"):
        place(small, catalogue, slots=["hex_nut_m8_00"], zone="feed", rng=stream(1), options=PlaceOptions(attempts=20))


def test_fixtures_are_named_as_the_reason(cell, catalogue):
    wide = cell.replaced(feed=cell.feed.replaced(wall_thickness_m=0.1))
    with pytest.raises(PlacementFailed) as caught:
        place(wide, catalogue, slots=["glove_00"], zone="table", rng=stream(1), options=PlaceOptions(attempts=50))
    assert set(+caught.value.rejections) <= {"wall", "fixture"}
    assert caught.value.rejections["fixture"] > 0


def test_unknown_zone_and_slot_are_named(cell, catalogue):
    with pytest.raises(UnknownName, match=r"^unknown zone 'feeed' - did you mean 'feed'"):
        place(cell, catalogue, slots=SLOTS, zone="feeed", rng=stream(1))
    with pytest.raises(UnknownName, match=r"^unknown slot 'hex_nut_m6_99' - did you mean"):
        place(cell, catalogue, slots=["hex_nut_m6_99"], zone="feed", rng=stream(1))
    with pytest.raises(InvalidRecord, match=r"clearance_m: -1\.0 - accepted: greater than or equal to 0"):
        PlaceOptions.from_data({"clearance_m": -1.0})


def test_default_wall_clearance_has_room_for_a_finger(cell):
    assert PlaceOptions().wall_m(cell) == pytest.approx(cell.robot.gripper.finger_thickness_m + 0.001)
    assert PlaceOptions(wall_clearance_m=0.002).wall_m(cell) == pytest.approx(0.002)


def test_stable_poses_come_with_their_probabilities(cell, catalogue):
    part = catalogue["hex_bolt_m6x20"]
    slots = [f"hex_bolt_m6x20_0{index}" for index in range(6)]
    standing = 0
    for seed in range(120):
        for item in place(cell, catalogue, slots=slots, zone="feed", rng=stream("rests", seed)):
            standing += item.pose_to_world.rotation[2, 2] ** 2 > 0.5
    share = sum(p.probability for p in part.stable_poses if abs(zone_up(p)) > 0.7)
    expected = 720 * share / sum(p.probability for p in part.stable_poses)
    # A standing bolt finds room more easily, so sequential insertion has a few more of them.
    assert expected - 3 * np.sqrt(expected) < standing < 1.6 * expected + 3 * np.sqrt(expected)


def zone_up(pose):
    x, y, _, _ = pose.quat_xyzw
    return 1 - 2 * (x * x + y * y)


def test_zone_maps_there_and_back(cell):
    zone = zone_named(cell, "bin_a", nominal_fixtures(cell), wall_m=0.0)
    place_in_zone = zone.to_zone((0.43, 0.2, 0.1))
    assert zone.to_world(np.array([place_in_zone])) == pytest.approx(np.array([0.43 + 0.2j]))


# --- the exact mode against whole-scene rejection ---

FEW = ("hex_nut_m8_00", "hex_nut_m8_01", "hex_nut_m8_02", "hex_nut_m6_00", "hex_nut_m6_01")
SIDE_M, CLEARANCE_M = 0.06, 0.004
SCENES = 240


@pytest.fixture(scope="module")
def tight(cell):
    """A feed in which five nuts just fit, so that how they are placed shows in their distances."""
    return cell.replaced(feed=cell.feed.replaced(size_m=(SIDE_M, SIDE_M)))


def whole_scenes(cell, parts, count, rng):
    """Draw whole scenes of independent parts and keep those in which all walls and all distances are respected."""
    chosen = [parts[cell.slots[slot].part] for slot in FEW]
    half = SIDE_M / 2 - CLEARANCE_M
    kept = []
    while len(kept) < count:
        drawn = 60_000
        alive = np.arange(drawn)
        places = np.empty((drawn, len(chosen)), complex)
        yaws, kinds = np.empty((drawn, len(chosen))), np.empty((drawn, len(chosen)), int)
        for j, part in enumerate(chosen):
            weights = np.array([pose.probability for pose in part.stable_poses])
            kinds[alive, j] = rng.choice(len(weights), size=len(alive), p=weights / weights.sum())
            yaws[alive, j] = rng.uniform(0, 2 * np.pi, len(alive))
            places[alive, j] = rng.uniform(-half, half, len(alive)) + 1j * rng.uniform(-half, half, len(alive))
            good = np.ones(len(alive), bool)
            for kind, footprint in enumerate(stable_footprints(part)):
                some = np.flatnonzero(kinds[alive, j] == kind)
                rows = alive[some]
                hull = footprint.hull * np.exp(1j * yaws[rows, j])[:, None] + places[rows, j][:, None]
                good[some] = np.maximum(abs(hull.real), abs(hull.imag)).max(axis=1) <= half
            # Centres nearer than this overlap for sure; the exact test follows for the few scenes that are left.
            good &= (np.abs(places[alive, :j] - places[alive, j][:, None]) > 0.009).all(axis=1)
            alive = alive[good]
        for row in alive:
            shapes = [
                stable_footprints(part)[kinds[row, j]].at(complex(places[row, j]), yaws[row, j])
                for j, part in enumerate(chosen)
            ]
            if all(shapely.distance(a, b) >= CLEARANCE_M for a, b in combinations(shapes, 2)):
                kept.append(places[row])
    return np.array(kept[:count])


def placed_scenes(cell, parts, count, mode, key):
    options = PlaceOptions(clearance_m=CLEARANCE_M, wall_clearance_m=CLEARANCE_M, mode=mode, sweeps=8)
    found, seed, origin = [], 0, complex(*cell.feed.pose_to_world.position_m[:2])
    while len(found) < count:
        seed += 1
        try:
            items = place(cell, parts, slots=FEW, zone="feed", rng=stream(key, seed), options=options)
        except PlacementFailed:
            continue
        found.append([complex(*item.pose_to_world.position_m[:2]) - origin for item in items])
    return np.array(found)


def distances(scenes):
    """One number a scene, so that scenes are independent draws: mean, least and greatest distance of its pairs."""
    first, second = np.triu_indices(scenes.shape[1], 1)
    pairs = np.abs(scenes[:, first] - scenes[:, second])
    return pairs.mean(axis=1), pairs.min(axis=1), pairs.max(axis=1)


def test_uniform_mode_has_the_pair_distances_of_whole_scene_rejection(tight, catalogue):
    exact = distances(whole_scenes(tight, catalogue, SCENES, np.random.default_rng(11)))
    uniform = distances(placed_scenes(tight, catalogue, SCENES, "uniform", "uniform"))
    sequential = distances(placed_scenes(tight, catalogue, 2 * SCENES, "sequential", "sequential"))
    # Three tests at 1 % in all, by Bonferroni; the same power shows that plain insertion is another distribution.
    assert min(ks_2samp(a, b).pvalue for a, b in zip(exact, uniform, strict=True)) > 0.01 / 3
    assert min(ks_2samp(a, b).pvalue for a, b in zip(exact, sequential, strict=True)) < 0.01 / 3
