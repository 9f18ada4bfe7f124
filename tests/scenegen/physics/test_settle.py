"""Layouts come to rest: where, how far from their start, and the same every time."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from scenegen.geometry import Pose, quat_about
from scenegen.nominal import nominal_fixtures, nominal_matter
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Collider
from scenegen.physics.settle import Settler
from scenegen.scenario import Item, Layout

HALF = 0.0125


@pytest.fixture(scope="module")
def blocks(block_cell, block_parts):
    """Settle a scene of blocks with their nominal masses."""
    settler = Settler(block_cell, block_parts)

    def settle(layout, **options):
        return settler.settle(layout, nominal_matter(layout, block_parts), **options)

    return settle


@pytest.fixture(scope="module")
def pile(cell, catalogue, base_scenario):
    """A base scene whose items were all lifted and crowded together: what lands, lands on others."""
    items = []
    for index, item in enumerate(base_scenario.layout.items):
        x, y, z = item.pose_to_world.position_m
        place = (0.5 + (x - 0.5) * 0.4, y * 0.4, z + 0.005 * index)
        items.append(item.replaced(pose_to_world=Pose.of(place, item.pose_to_world.quat)))
    return base_scenario.layout.replaced(items=tuple(items))


def test_a_block_on_the_floor_stays(blocks, scene):
    settled = blocks(scene(block_00=(0, 0, HALF)))
    assert settled.finite
    assert settled.drift_m["block_00"] < 5e-5
    assert settled.rotation_rad["block_00"] < 1e-3
    assert settled.speed_m_s == 0
    assert settled.penetration_m < 5e-5
    assert settled.seconds < 0.1


def test_a_stack_stays(blocks, scene):
    settled = blocks(scene(block_00=(0, 0, HALF), block_01=(0.001, 0.002, 3 * HALF)))
    assert max(settled.drift_m.values()) < 1e-4


def test_a_leaning_block_falls(blocks, scene):
    lean = quat_about((0, 1, 0), np.radians(40))
    settled = blocks(scene(block_00=(0, 0, 0.014, lean)))
    assert settled.rotation_rad["block_00"] > np.radians(30)
    up = settled.layout.items[0].pose_to_world.rotation[2]
    assert np.abs(up).max() > 0.9999


def test_a_block_balanced_on_an_edge_falls(blocks, scene):
    """In perfect balance nothing moves by itself; the nudge finds it out."""
    angle = np.arctan2(0.01, 0.025)
    height = np.hypot(0.005, 0.0125)
    settled = blocks(scene(block_00=(0, 0, height, quat_about((0, 1, 0), angle))))
    assert settled.rotation_rad["block_00"] > np.radians(15)


def test_a_block_leaning_on_another_one_stays(blocks, scene):
    lean = quat_about((0, 1, 0), np.radians(35))
    layout = blocks(scene(block_00=(0, 0, HALF), block_01=(-0.0164, 0, 0.0132, lean))).layout
    again = blocks(layout)
    assert np.degrees(np.arccos(layout.items[1].pose_to_world.rotation[2, 2])) > 25
    assert max(again.drift_m.values()) < 2e-4


def test_what_still_falls_at_the_limit_has_speed(blocks, scene):
    settled = blocks(scene(block_00=(0, 0, 0.2)), limit_s=0.1)
    assert settled.speed_m_s == pytest.approx(0.981, rel=0.01)
    assert settled.seconds == pytest.approx(0.1)


def test_nothing_settles_at_once(blocks, scene):
    settled = blocks(scene())
    assert settled.drift_m == {}
    assert settled.finite


def test_a_settled_pile_stays_where_it_is(cell, catalogue, settler, pile):
    first = settler.settle(pile, nominal_matter(pile, catalogue))
    assert max(first.drift_m.values()) > 0.01
    again = settler.settle(first.layout, nominal_matter(pile, catalogue))
    assert max(again.drift_m.values()) < 2e-4
    assert again.penetration_m < 5e-4


def test_history_leaves_no_trace(cell, catalogue, settler, base_scenario, pile):
    matter = nominal_matter(pile, catalogue)
    heavy = matter.replaced(items=tuple(one.replaced(mass_kg=one.mass_kg * 3, friction=0.9) for one in matter.items))
    fresh = Settler(cell, catalogue).settle(pile, matter)
    settler.settle(base_scenario.layout, base_scenario.matter)
    settler.settle(pile, heavy)
    assert settler.settle(pile, matter) == fresh


def test_what_slept_elsewhere_takes_its_new_mass(cell, catalogue, pile):
    """Items that were absent, and so asleep, in the last scene weigh what they are told to, to the last bit."""
    matter = nominal_matter(pile, catalogue)
    heavy = matter.replaced(items=tuple(one.replaced(mass_kg=one.mass_kg * 20) for one in matter.items))
    fresh = Settler(cell, catalogue).settle(pile, heavy)
    used = Settler(cell, catalogue)
    used.settle(pile.replaced(items=()), matter.replaced(items=()))
    assert used.settle(pile, heavy) == fresh


def test_absent_slots_do_not_matter(cell, make_cell, catalogue, settler, pile):
    counts = {}
    for item in pile.items:
        counts[item.part] = max(counts.get(item.part, 0), int(item.name.rpartition("_")[2]) + 1)
    ordered = {entry.part: counts[entry.part] for entry in cell.inventory if entry.part in counts}
    small = Settler(make_cell(**ordered), Catalogue(catalogue[part] for part in ordered))
    matter = nominal_matter(pile, catalogue)
    assert small.settle(pile, matter) == settler.settle(pile, matter)


def test_masses_beyond_all_measure_are_reported(block_cell, block, scene, tmp_path, monkeypatch):
    """Numbers that no simulation can digest end as `finite=False`, not as a crash."""
    monkeypatch.chdir(tmp_path)
    parts = Catalogue([replace(block, mass=replace(block.mass, center_of_mass_m=(1e30, 0.0, 0.0)))])
    layout = scene(block_00=(0, 0, HALF - 0.001, quat_about((1, 1, 0), 0.3)))
    settled = Settler(block_cell, parts).settle(layout, nominal_matter(layout, parts))
    assert not settled.finite
    assert settled.layout == layout
    assert settled.drift_m == {"block_00": float("inf")}
    assert list(tmp_path.iterdir()) == []  # MuJoCo's own log would land here


@pytest.fixture(scope="module")
def drop_through_washer(make_cell, cell, catalogue, block):
    """Let a pin fall onto a washer that lies across four blocks; return the heights of pin and washer [m]."""

    def drop(washer):
        pin = catalogue["dowel_pin_6x20"]
        small = make_cell(block=4, flat_washer_m8=1, dowel_pin_6x20=1)
        parts = Catalogue([block, washer, pin])
        reach = 0.0052  # beside the hole, below the rim
        middle = washer.collision_vertices[:, 2].mean()
        places = {
            "block_00": (reach + 0.005, 0, HALF),
            "block_01": (-reach - 0.005, 0, HALF),
            "block_02": (0, reach + 0.0081, HALF),
            "block_03": (0, -reach - 0.0081, HALF),
            "flat_washer_m8_00": (0, 0, 2 * HALF + 0.0009 - middle),
            "dowel_pin_6x20_00": (0, 0, 2 * HALF + 0.013),
        }
        items = tuple(
            Item(
                name=name,
                part=name.rpartition("_")[0],
                zone="feed",
                pose_to_world=cell.feed.pose_to_world.after(Pose.of(place)),
            )
            for name, place in places.items()
        )
        layout = Layout(fixtures=nominal_fixtures(cell), items=items)
        ends = Settler(small, parts).settle(layout, nominal_matter(layout, parts))
        heights = {item.name: item.pose_to_world.position_m[2] - 0.004 for item in ends.layout.items}
        return heights["dowel_pin_6x20_00"], heights["flat_washer_m8_00"]

    return drop


def test_a_pin_falls_through_a_washer(catalogue, drop_through_washer):
    pin, washer = drop_through_washer(catalogue["flat_washer_m8"])
    assert washer > 0.024
    assert pin < 0.0105  # its middle: it stands on the floor, its top below the washer


def test_a_closed_hole_would_have_held_it(catalogue, drop_through_washer):
    washer = catalogue["flat_washer_m8"]
    hull = ConvexHull(washer.collision_vertices)
    closed = replace(washer, colliders=(Collider("hull", hull.points[hull.vertices], np.zeros((0, 3), np.int32)),))
    pin, _ = drop_through_washer(closed)
    assert pin > 0.0125
