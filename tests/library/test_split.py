"""Splits: nothing leaks, shares are met as whole bases allow, and what was assigned stays."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from library.split import BASE, Group, assign, groups_of, parse_shares, strata_of
from scenegen.errors import InvalidOption, LibraryError

SHARES = {"train": 0.7, "hold-out": 0.2, "adversarial": 0.1}


def row(base, scene, layout, *axes):
    return {
        "base_id": base,
        "scenario_id": scene,
        "layout_id": layout,
        "axes": json.dumps([{"axis": axis, "level": level} for axis, level in axes]),
    }


@st.composite
def libraries(draw, *, linked=True):
    """Rows of up to 25 bases with their variants; some share a layout or a scene where `linked`."""
    rows = []
    for number in range(draw(st.integers(1, 25))):
        base = f"b{number:02}"
        layout = f"l{draw(st.integers(0, 30))}" if linked else f"own{number}"
        rows.append(row(base, base, layout))
        for variant in range(draw(st.integers(0, 4))):
            axes = draw(
                st.sets(st.tuples(st.sampled_from(["lighting", "pose"]), st.integers(1, 3)), min_size=1, max_size=2)
            )
            shared = linked and draw(st.integers(0, 30)) == 0
            rows.append(row(base, "shared" if shared else f"{base}v{variant}", f"{layout}v{variant}", *sorted(axes)))
    return rows


def split(rows, shares=SHARES, *, known=None, near=(), seed=0):
    groups = groups_of(rows, near=near, known=known)
    return groups, assign(groups, shares, known=known or {}, rng=np.random.default_rng(seed))


def sides(rows, splits, column):
    found = {}
    for one in rows:
        found.setdefault(one[column], set()).add(splits[one["base_id"]])
    return found


@given(libraries())
def test_every_base_stands_in_one_split_and_nothing_leaks(rows):
    groups, splits = split(rows)
    assert splits.keys() == {one["base_id"] for one in rows}
    assert set(splits.values()) <= SHARES.keys()
    for column in ("scenario_id", "layout_id"):
        assert all(len(found) == 1 for found in sides(rows, splits, column).values())
    assert sorted(base for group in groups for base in group.bases) == sorted(splits)


@settings(max_examples=40)
@given(libraries())
def test_totals_are_within_one_group_of_the_shares(rows):
    groups, splits = split(rows)
    largest = max(len(group.bases) for group in groups)
    counts = Counter(splits.values())
    assert all(abs(counts[name] - share * len(splits)) < largest for name, share in SHARES.items())


@settings(max_examples=40)
@given(libraries(linked=False))
def test_strata_are_within_one_base_of_the_shares_where_a_base_stands_in_one(rows):
    own = [one for one in rows if one["scenario_id"] == one["base_id"]]
    varied = [{**one, "axes": json.dumps([{"axis": "pose", "level": 1 + at % 3}])} for at, one in enumerate(own)]
    groups, splits = split(varied)
    for counts in strata_of(groups, splits).values():
        assert all(abs(counts[name] - share * counts.total()) < 1 for name, share in SHARES.items())


@settings(max_examples=40)
@given(libraries())
def test_strata_stay_near_the_shares(rows):
    groups, splits = split(rows)
    for stratum, counts in strata_of(groups, splits).items():
        largest = max(group.counts.get(stratum, 0) for group in groups)
        for name, share in SHARES.items():
            assert abs(counts[name] - share * counts.total()) <= 4 * largest


@settings(max_examples=30)
@given(libraries(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    assert split(shuffled)[1] == split(rows)[1]


@settings(max_examples=40)
@given(libraries(linked=False), st.integers(1, 25))
def test_bases_keep_their_split_as_the_library_grows(rows, count):
    first = [one for one in rows if one["base_id"] < f"b{count:02}"]
    before = split(first)[1] if first else {}
    _, after = split(rows, known=before)
    assert before.items() <= after.items()
    fresh = Counter(after[base] for base in after.keys() - before.keys())
    kept = Counter(before.values())
    for name, share in SHARES.items():
        room = share * len(after) - kept[name]
        assert fresh[name] <= max(room, 0) + 1


@settings(max_examples=20)
@given(libraries(), st.integers(0, 5))
def test_equal_seeds_give_equal_splits(rows, seed):
    assert split(rows, seed=seed)[1] == split(rows, seed=seed)[1]


def test_seeds_differ():
    rows = [row(f"b{at}", f"b{at}", f"l{at}") for at in range(20)]
    assert len({tuple(split(rows, seed=seed)[1].items()) for seed in range(5)}) > 1


def test_near_duplicates_stay_together():
    rows = [row(f"b{at}", f"b{at}", f"l{at}") for at in range(10)]
    pairs = [("b0", "b5"), ("b5", "b9"), ("b1", "gone")]
    groups, splits = split(rows, {"train": 0.5, "hold-out": 0.5}, near=pairs)
    assert Group(("b0", "b5", "b9"), {BASE: 3}) in groups
    assert len({splits["b0"], splits["b5"], splits["b9"]}) == 1


def test_near_duplicates_in_two_splits_already_stay_there():
    rows = [row(f"b{at}", f"b{at}", f"l{at}") for at in range(3)]
    known = {"b0": "train", "b1": "hold-out"}
    _, splits = split(rows, near=[("b0", "b1"), ("b1", "b2")], known=known)
    assert splits == {**known, "b2": "hold-out"}


def test_a_layout_in_two_splits_is_refused():
    rows = [row("b0", "b0", "one"), row("b1", "b1", "one")]
    with pytest.raises(LibraryError) as error:
        split(rows, known={"b0": "train", "b1": "hold-out"})
    assert str(error.value) == (
        "splits: bases b1 (hold-out) and b0 (train) share a scene or a layout, and stand in two splits"
        " - drop the scenes that join them, or the descendants of one of them"
    )


def test_splits_without_a_share_now_keep_their_bases():
    rows = [row(f"b{at}", f"b{at}", f"l{at}") for at in range(12)]
    known = {"b0": "old", "b1": "old"}
    splits = split(rows, {"train": 0.5, "hold-out": 0.5}, known=known)[1]
    assert Counter(splits.values()) == {"old": 2, "train": 5, "hold-out": 5}


@pytest.mark.parametrize("text", ["train", "train=0.5,train=0.5", "Train=1", "train=-1,hold-out=2", ""])
def test_shares_that_are_none_are_refused(text):
    with pytest.raises(InvalidOption) as error:
        parse_shares(text)
    assert str(error.value) == f"--shares {text} - accepted: names with shares, for example train=0.8,hold-out=0.2"


@pytest.mark.parametrize("text", ["train=0.5,hold-out=0.6", "train=1,hold-out=0"])
def test_shares_that_do_not_sum_to_one_are_refused(text):
    with pytest.raises(InvalidOption) as error:
        parse_shares(text)
    assert str(error.value) == f"--shares {text} - accepted: shares above 0 that sum to 1"


def test_shares_are_read():
    assert parse_shares("train=0.7, hold-out=.3") == {"train": 0.7, "hold-out": 0.3}
