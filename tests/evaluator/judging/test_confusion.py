"""The matrix of parts by places."""

from evaluator.judging.confusion import Confusion
from evaluator.judging.success import ItemEnd
from scenegen.cell import Role

TARGET, FOREIGN, OCCLUDER = Role.TARGET, Role.FOREIGN, Role.OCCLUDER


def end(part, ended, *, role=TARGET, wanted=("bin_a",), began="feed"):
    return ItemEnd(name=f"{part}_00", part=part, role=role, wanted=wanted, began=began, ended=ended)


ENDS = [
    end("bolt_m6", "bin_a"),
    end("bolt_m6", "bin_a"),
    end("bolt_m6", "bin_b"),
    end("bolt_m6", "in-grip"),
    end("bolt_m8", "feed", wanted=("bin_b",)),
    end("washer", "bin_b", role=FOREIGN, wanted=()),
    end("glove", "feed", role=OCCLUDER, wanted=()),
]


def test_items_are_counted_by_part_and_place():
    matrix = Confusion.of(ENDS)
    assert matrix.rows == {
        "bolt_m6": {"bin_a": 2, "bin_b": 1, "in-grip": 1},
        "bolt_m8": {"feed": 1},
        "washer": {"bin_b": 1},
    }
    assert matrix.missorted == 2
    assert str(matrix.rate("bolt_m6", "bin_a")) == "2/4 = 0.500 [0.150, 0.850]"
    assert matrix.count("bolt_m8", "bin_a") == 0
    assert str(matrix.rate("nothing", "bin_a")) == "0/0 = ? [0.000, 1.000]"


def test_columns_are_bins_and_what_is_no_bin():
    places = ("feed", "on-rim", "off-bins", "in-motion", "in-grip")
    assert Confusion.of(ENDS).places(["bin_a", "bin_b", "bin_c"]) == ("bin_a", "bin_b", "bin_c", *places)
    assert Confusion.of(ENDS).places(["bin_a"]) == ("bin_a", "bin_b", *places)
    assert Confusion.of([]).places([]) == places


def test_matrices_add_up():
    for cut in range(len(ENDS) + 1):
        assert Confusion.of(ENDS[:cut]) + Confusion.of(ENDS[cut:]) == Confusion.of(ENDS)


def test_what_belongs_and_what_intrudes():
    assert [one.placed for one in ENDS] == [True, True, False, False, False, False, False]
    assert [one.intrudes for one in ENDS] == [False, False, True, False, False, True, False]
    assert not end("washer", "bin_b", role=FOREIGN, wanted=(), began="bin_b").intrudes
    assert not end("bolt_m6", "bin_a", began="bin_a").to_sort
