"""Bases: nominal scenes with a fair draw of the inventory."""

from collections import Counter

import numpy as np
import pytest

from scenegen.base import draw_slots, sample_base
from scenegen.cell import Role
from scenegen.errors import PlacementFailed
from scenegen.nominal import nominal_scenario
from scenegen.place import PlaceOptions
from scenegen.scenario import Cause, Scenario
from scenegen.streams import stream


@pytest.fixture(scope="module")
def bases(cell, catalogue):
    return [sample_base(cell, catalogue, rng=stream("base", index)) for index in range(60)]


def test_targets_lie_in_the_feed_within_fill(cell, bases):
    slots = cell.slots
    counts = Counter(len(base.layout.items) for base in bases)
    assert set(counts) == set(range(cell.fill[0], cell.fill[1] + 1))
    for base in bases:
        assert all(i.zone == "feed" and i.cause is Cause.NOMINAL for i in base.layout.items)
        assert all(slots[i.name].role is Role.TARGET and slots[i.name].part == i.part for i in base.layout.items)


def test_look_alikes_are_always_among_them(catalogue, bases):
    for base in bases:
        present = {item.part for item in base.layout.items}
        assert any(set(catalogue[part].look_alikes) & present for part in present)


def test_everything_else_is_nominal(cell, catalogue, bases):
    for base in bases[:5]:
        assert base == nominal_scenario(cell, catalogue, base.layout, base.task)
        assert base.task.rules == cell.rules


def test_the_instruction_names_what_is_there(cell, bases):
    words = {"hex_bolt_m6x20": "M6 hex bolts into bin A", "hex_bolt_m8x20": "M8 hex bolts into bin B",
             "hex_nut_m6": "M6 hex nuts into bin C", "hex_nut_m8": "M8 hex nuts into bin D"}  # fmt: skip
    for base in bases:
        present = {item.part for item in base.layout.items}
        assert {part for part, phrase in words.items() if phrase in base.task.instruction} == present
        assert "{" not in base.task.instruction


def test_bytes_depend_on_the_stream_alone(cell, catalogue):
    one, two, other = (sample_base(cell, catalogue, rng=stream("same", key)) for key in (1, 1, 2))
    assert one.canonical_json() == two.canonical_json()
    assert one.id != other.id
    assert Scenario.from_json(one.canonical_json()) == one


def test_counts_never_exceed_the_inventory(cell, catalogue):
    full = cell.replaced(fill=(22, 22))
    drawn = draw_slots(full, catalogue, rng=np.random.default_rng(0))
    assert list(drawn) == [slot for slot, item in cell.slots.items() if item.role is Role.TARGET]
    one = cell.replaced(fill=(1, 1))
    assert len(draw_slots(one, catalogue, rng=np.random.default_rng(0))) == 1


def test_slots_are_the_first_ones_of_each_part(cell, catalogue):
    for seed in range(20):
        drawn = draw_slots(cell, catalogue, rng=np.random.default_rng(seed))
        counts = Counter(cell.slots[slot].part for slot in drawn)
        expected = [slot for item in cell.inventory for slot in item.slots()[: counts[item.part]]]
        assert list(drawn) == expected


def test_a_feed_that_is_too_small_fails_with_a_reason(cell, catalogue):
    small = cell.replaced(feed=cell.feed.replaced(size_m=(0.06, 0.06)))
    with pytest.raises(PlacementFailed, match=r"^no place for 'hex_.*' after 50 attempts \(wall \d+, overlap \d+"):
        sample_base(small, catalogue, rng=stream("small"), options=PlaceOptions(attempts=50))
