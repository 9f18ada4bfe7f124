"""The board: parts are laid down clear of everything, in order, and what was rejected is counted."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from scenegen.board import NONE, Board, Spots
from scenegen.footprint import rectangle, stencils_of
from scenegen.parts.builtin import builtin_part

HALF_M = np.array([0.05, 0.04])
CLEARANCE_M = 0.005
PARTS = tuple(builtin_part(part_id) for part_id in ("hex_bolt_m6x20", "hex_nut_m8", "flat_washer_m8"))


def spots(rng, shape, half_m=HALF_M):
    stencils, _ = stencils_of(PARTS)
    places = rng.uniform(-half_m[0], half_m[0], shape) + 1j * rng.uniform(-half_m[1], half_m[1], shape)
    return Spots(stencils, rng.integers(len(stencils.footprints), size=shape), places, rng.uniform(0, 6.28, shape))


def outline(spots, index):
    return spots.stencils.footprints[spots.kinds[index]].at(complex(spots.places[index]), float(spots.yaws_rad[index]))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**31), count=st.integers(1, 12), options=st.integers(1, 20))
def test_what_is_laid_down_keeps_clear_and_every_attempt_is_accounted_for(seed, count, options):
    candidates = spots(np.random.default_rng(seed), (count, options))
    names = [f"part_{index}" for index in range(count)]
    rejections = [Counter() for _ in names]
    chosen = Board(HALF_M, CLEARANCE_M).lay(names, candidates, rejections).tolist()
    laid = [outline(candidates, (part, index)) for part, index in enumerate(chosen) if index != NONE]
    assert all(a.distance(b) >= CLEARANCE_M for a, b in combinations(laid, 2))
    walls = shapely.box(*-HALF_M - 1e-12, *HALF_M + 1e-12)
    assert all(walls.contains(shape) for shape in laid)
    for part, (index, counts) in enumerate(zip(chosen, rejections, strict=True)):
        assert counts.total() == (options if index == NONE else index)
        for left in range(options if index == NONE else 0):
            shape = outline(candidates, (part, left))
            assert not walls.contains(shape) or min(shape.distance(other) for other in laid) < CLEARANCE_M


def test_a_part_does_not_stand_in_its_own_way_and_frees_its_place():
    board, rng = Board(HALF_M, CLEARANCE_M), np.random.default_rng(1)
    there = Spots(spots(rng, 1).stencils, np.array([0]), np.array([0j]), np.array([0.0]))
    board.put(["a"], there)
    counts = Counter()
    blocked = Spots(there.stencils, np.array([[0]]), np.array([[0.001 + 0j]]), np.array([[0.0]]))
    assert board.lay(["b"], blocked, [counts]).tolist() == [NONE]
    assert +counts == Counter(overlap=1)
    away = Spots(there.stencils, np.array([[0], [0]]), np.array([[0.03 + 0j], [0j]]), np.zeros((2, 1)))
    assert board.lay(["a", "b"], away, [Counter(), Counter()]).tolist() == [0, 0]


def test_fixtures_and_walls_are_told_apart():
    board, rng = Board(HALF_M, CLEARANCE_M), np.random.default_rng(2)
    board.block("fixture", rectangle(0j, (0.02, 0.02), 0.0))
    stencils = spots(rng, 1).stencils
    tried = Spots(stencils, np.array([[0, 0]]), np.array([[0.045 + 0.035j, 0.001j]]), np.zeros((1, 2)))
    counts = Counter()
    assert board.lay(["a"], tried, [counts]).tolist() == [NONE]
    assert counts == Counter(wall=1, fixture=1)


@pytest.mark.parametrize(("gap_m", "touch"), [(0.0002, True), (0.001, False)])
def test_what_touches_is_named(gap_m, touch):
    board, stencils = Board(HALF_M, CLEARANCE_M), stencils_of(PARTS)[0]
    nut = next(kind for kind, one in enumerate(stencils.footprints) if one is stencils_of(PARTS[1:2])[0].footprints[0])
    corners = stencils.footprints[nut].corners
    apart = corners.real.max() - corners.real.min() + gap_m
    kinds, yaws_rad = np.full(3, nut), np.zeros(3)
    board.put(["a", "b", "c"], Spots(stencils, kinds, np.array([0j, apart + 0j, 0.04j]), yaws_rad))
    assert board.touching(0.0005) == (frozenset("ab") if touch else frozenset())
