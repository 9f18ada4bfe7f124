"""Designs of levels: what each row holds, and that coverage is counted right."""

import subprocess
import sys
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenegen.design import Coverage, DesignKind, LevelDesign, coverage, design_rows
from scenegen.errors import InvalidOption

AXES = ("pose", "lighting", "tilt", "camera", "contact")
LEVELS = (1, 3, 5)


def by_hand(rows, axes, levels, strength):
    """All combinations that no row holds, looked for one by one."""
    missing = []
    for some in combinations(axes, strength):
        for values in product(levels, repeat=strength):
            wanted = tuple(zip(some, values, strict=True))
            if not any(set(wanted) <= set(row) for row in rows):
                missing.append(wanted)
    return missing


def test_one_at_a_time_varies_one_axis_a_row_and_every_axis_at_every_level():
    rows = design_rows(AXES, LEVELS, kind=DesignKind.ONE_AT_A_TIME)
    assert len(rows) == len(AXES) * len(LEVELS)
    varied = [tuple((axis, level) for axis, level in row if level) for row in rows]
    assert sorted(varied) == sorted(((axis, level),) for axis in AXES for level in LEVELS)


def test_any_run_of_rows_shares_the_axes_evenly():
    design = LevelDesign(AXES, LEVELS)
    first = [next(axis for axis, level in design.row(index) if level) for index in range(len(AXES))]
    assert sorted(first) == sorted(AXES)


def test_finite_designs_begin_again():
    design = LevelDesign(AXES, LEVELS, DesignKind.PAIRWISE)
    assert design.row(len(design.rows) + 2) == design.rows[2]


@pytest.mark.parametrize(("kind", "strength"), [(DesignKind.PAIRWISE, 2), (DesignKind.T_WISE, 3)])
def test_covering_designs_hold_every_combination_in_far_fewer_rows(kind, strength):
    design = LevelDesign(AXES, LEVELS, kind, strength=strength)
    assert by_hand(design.rows, AXES, LEVELS, strength) == []
    assert coverage(design.rows, AXES, LEVELS, strength=strength).missing == ()
    assert len(design.rows) < len(LEVELS) ** len(AXES) / 4


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_coverage_counts_what_counting_by_hand_counts(data):
    axes = AXES[: data.draw(st.integers(2, 4))]
    strength = data.draw(st.integers(1, len(axes)))
    row = st.tuples(*(st.tuples(st.just(axis), st.sampled_from(LEVELS)) for axis in axes))
    rows = data.draw(st.lists(row, max_size=12))
    found = coverage(rows, axes, LEVELS, strength=strength)
    assert sorted(found.missing) == sorted(by_hand(rows, axes, LEVELS, strength))
    assert found.total == len(list(combinations(axes, strength))) * len(LEVELS) ** strength
    assert found.covered == found.total - len(found.missing)


def test_coverage_of_nothing_misses_everything():
    assert coverage([], ("a", "b"), (1, 2), strength=2) == Coverage(
        4, tuple((("a", x), ("b", y)) for x in (1, 2) for y in (1, 2))
    )


def test_random_rows_depend_on_seed_and_index_alone():
    design = LevelDesign(AXES, LEVELS, DesignKind.RANDOM, seed=4)
    later = design.row(1000)
    assert LevelDesign(AXES, LEVELS, DesignKind.RANDOM, seed=4).row(1000) == later
    assert {level for index in range(50) for _, level in design.row(index)} == set(LEVELS)
    assert [design.row(i) for i in range(9)] != [
        LevelDesign(AXES, LEVELS, DesignKind.RANDOM, seed=5).row(i) for i in range(9)
    ]


def test_covering_designs_depend_on_the_seed_but_not_on_the_process():
    code = "from scenegen.design import *; print(LevelDesign(('a','b','c'),(1,2,3),DesignKind.PAIRWISE,seed=7).rows)"
    run = [sys.executable, "-c", code]
    found = {subprocess.run(run, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True).stdout
             for seed in ("0", "1")}  # fmt: skip
    assert found == {f"{LevelDesign(('a', 'b', 'c'), (1, 2, 3), DesignKind.PAIRWISE, seed=7).rows}\n"}
    assert (
        LevelDesign(("a", "b", "c"), (1, 2, 3), DesignKind.PAIRWISE, seed=8).rows
        != LevelDesign(("a", "b", "c"), (1, 2, 3), DesignKind.PAIRWISE, seed=7).rows
    )


@pytest.mark.parametrize(
    ("kind", "strength", "sentence"),
    [
        (DesignKind.PAIRWISE, 2, "--design pairwise of strength 2 - accepted: at least 2 axes"),
        (DesignKind.T_WISE, 3, "--design t-wise of strength 3 - accepted: at least 3 axes"),
    ],
)
def test_too_few_axes_are_refused(kind, strength, sentence):
    with pytest.raises(InvalidOption) as caught:
        LevelDesign(("pose",), LEVELS, kind, strength=strength)
    assert str(caught.value) == sentence
