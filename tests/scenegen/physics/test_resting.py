"""Which layouts rest without being simulated, and that they really do."""

import numpy as np
import pytest

from scenegen.base import sample_base
from scenegen.cells.loader import BUILTIN, load_cell
from scenegen.geometry import Pose, quat_about, quat_multiply
from scenegen.parts.builtin import builtin_catalogue
from scenegen.physics.contacts import ContactFinder
from scenegen.physics.resting import rests_by_construction
from scenegen.physics.settle import Settler
from scenegen.streams import stream

HALF = 0.0125


@pytest.fixture(scope="module")
def rests(block_cell, block_parts):
    finder = ContactFinder(block_cell, block_parts)

    def check(layout):
        return rests_by_construction(layout, block_parts, block_cell, finder=finder)

    return check


def test_blocks_apart_rest(rests, scene):
    assert rests(scene(block_00=(0, 0, HALF), block_01=(0.0106, 0, HALF)))


@pytest.mark.parametrize(
    "place",
    [
        (0, 0, HALF + 0.001),
        (0, 0, HALF - 0.0005),
        (0, 0, HALF, quat_about((1, 0, 0), 0.01)),
        (0, 0, 0.008, quat_about((1, 0, 0), np.pi / 2)),
        (0.0962, 0, HALF),
        (0.2, 0, HALF),
    ],
    ids=["floating", "sunk", "leaning", "no_known_pose", "in_the_wall", "outside"],
)
def test_what_may_move_does_not_rest_by_construction(rests, scene, place):
    assert not rests(scene(block_00=place))


def test_neighbours_that_nearly_touch_do_not(rests, scene):
    assert not rests(scene(block_00=(0, 0, HALF), block_01=(0.0104, 0, HALF)))


def test_an_item_on_the_table_does_not(rests, scene):
    layout = scene(block_00=(0, 0, HALF))
    assert not rests(layout.replaced(items=(layout.items[0].replaced(zone="table"),)))


def test_a_sloping_floor_does_not_count(rests, scene):
    layout = scene(block_00=(0, 0, HALF))
    slope = Pose.of((0, 0, 0), quat_about((0, 1, 0), 0.02))
    feed = layout.fixtures[0]
    tilted = feed.replaced(pose_to_world=Pose.of(feed.pose_to_world.position, slope.quat))
    (item,) = layout.items
    moved = item.replaced(
        pose_to_world=Pose.of(item.pose_to_world.position, quat_multiply(slope.quat, item.pose_to_world.quat))
    )
    assert not rests(layout.replaced(fixtures=(tilted, *layout.fixtures[1:]), items=(moved,)))


@pytest.mark.parametrize("name", BUILTIN)
def test_what_rests_by_construction_stays_when_simulated(name):
    cell = load_cell(name)
    parts = builtin_catalogue([item.part for item in cell.inventory])
    finder, settler = ContactFinder(cell, parts), Settler(cell, parts)
    drifts = []
    for index in range(10):
        base = sample_base(cell, parts, rng=stream("resting", index))
        assert rests_by_construction(base.layout, parts, cell, finder=finder)
        drifts += settler.settle(base.layout, base.matter).drift_m.values()
    assert max(drifts) < 2e-4
