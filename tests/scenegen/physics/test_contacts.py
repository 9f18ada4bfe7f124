"""True collision shapes: depth of overlap, gaps, who touches whom."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenegen.geometry import Pose
from scenegen.physics.contacts import ContactFinder

HALF = 0.0125


@pytest.fixture(scope="module")
def finder(block_cell, block_parts):
    return ContactFinder(block_cell, block_parts)


def test_two_overlapping_blocks_give_the_depth(finder, scene):
    (contact,) = finder.contacts(scene(block_00=(0, 0, 0.05), block_01=(0.009, 0.002, 0.055)))
    assert (contact.a, contact.b) == ("block_00", "block_01")
    assert contact.depth_m == pytest.approx(0.001, abs=1e-6)
    assert contact.position_m[0] - 0.5 == pytest.approx(0.0045, abs=1e-4)


def test_blocks_apart_do_not_touch(finder, scene):
    assert finder.contacts(scene(block_00=(0, 0, 0.05), block_01=(0.0101, 0, 0.05))) == ()


@given(gap=st.floats(-0.002, 0.004), axis=st.integers(0, 2), margin=st.floats(0, 0.003))
@settings(max_examples=60, deadline=None)
def test_gap_is_found_up_to_the_margin(finder, scene, gap, axis, margin):
    shift = [0.0, 0.0, 0.05]
    shift[axis] += (0.01, 0.016, 0.025)[axis] + gap
    found = finder.contacts(scene(block_00=(0, 0, 0.05), block_01=tuple(shift)), margin_m=margin)
    if gap > margin + 1e-6:
        assert found == ()
    elif gap < margin - 1e-6:
        assert [contact.depth_m for contact in found] == [pytest.approx(-gap, abs=2e-6)]


def test_the_deepest_contact_of_a_pair_is_kept_fixtures_first(finder, scene):
    found = finder.contacts(scene(block_03=(0, 0, HALF - 0.0002), block_01=(0, 0.0155, HALF)), margin_m=0.0001)
    assert [(c.a, c.b) for c in found] == [("feed", "block_01"), ("feed", "block_03"), ("block_01", "block_03")]
    assert [c.depth_m for c in found] == pytest.approx([0, 0.0002, 0.0005], abs=1e-6)


def test_fixtures_stand_where_the_layout_says(finder, scene):
    layout = scene(block_00=(0, 0, HALF + 0.0005))
    assert finder.contacts(layout) == ()
    raised = tuple(
        f.replaced(pose_to_world=Pose.of((0.5, 0, 0.005))) if f.name == "feed" else f for f in layout.fixtures
    )
    (contact,) = finder.contacts(layout.replaced(fixtures=raised))
    assert (contact.a, contact.b) == ("feed", "block_00")
    assert contact.depth_m == pytest.approx(0.0005, abs=1e-6)
    assert finder.contacts(layout) == ()


def test_a_crowd_has_the_contacts_of_its_pairs(cell, catalogue, base_scenario):
    finder = ContactFinder(cell, catalogue)
    layout = base_scenario.layout
    alone = set()
    for pair in combinations(layout.items, 2):
        alone |= {(c.a, c.b) for c in finder.contacts(layout.replaced(items=pair), margin_m=0.01)}
    assert {(c.a, c.b) for c in finder.contacts(layout, margin_m=0.01)} == alone
    assert len(alone) >= len(layout.items)
