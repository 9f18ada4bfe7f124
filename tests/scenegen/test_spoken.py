"""What an instruction speaks of."""

import pytest

from scenegen.parts.builtin import builtin_catalogue
from scenegen.spoken import Vocabulary, leak_in, unlike


@pytest.fixture(scope="module")
def told(rings):
    """`told(text, language) -> codes`: where a text differs from what scenes with all parts of `rings` should say."""
    words = Vocabulary.of(rings, builtin_catalogue([item.part for item in rings.inventory]))

    def codes(text, language="en", spoken=rings.rules):
        return [fault.code for fault in unlike(text, language, words, rings.rules, spoken)]

    return codes


SAID = (
    "M8 washers into the bin marked small, M10 washers to the bin marked large and circlips into the bin marked rings."
)


def test_kinds_sizes_and_bins_are_told_in_either_order_and_by_other_names(told):
    assert told(SAID) == []
    assert told("Small gets the M8 plain washers; large the ten-millimetre flat washers. Bin rings: none") == [
        "missing"
    ]
    assert told("The bin marked rings gets the retaining rings, put M8 washers in small, M10 washers in large.") == []
    german = "Unterlegscheiben M8 in den Behälter mit der Aufschrift small, Unterlegscheiben M10 in large und "
    assert told(f"{german} Sicherungsringe in den Behälter mit der Aufschrift rings", "de") == []
    assert told(german, "es") == ["missing"] * 3


def test_a_bin_whose_label_is_a_thing_needs_a_word_before_it(told):
    assert told(SAID.replace("the bin marked rings", "rings")) == ["missing"]


def test_what_is_elsewhere_or_not_there_is_told(told, rings):
    swapped = SAID.replace("small", "x").replace("large", "small").replace("x", "large")
    assert told(swapped) == ["contradicts", "contradicts", "missing", "missing"]
    assert told(SAID, spoken=rings.rules[:2]) == ["other_part", "other_bin"]


def test_a_size_is_implied_by_its_rank_or_where_it_is_the_only_one(told, rings):
    implied = SAID.replace("M8", "smaller").replace("M10", "larger")
    assert told(implied) == []
    assert told(implied.replace("smaller", "nice")) == ["missing"]
    assert set(told(SAID.replace("M8", "larger").replace("M10", "smaller"))) == {"contradicts", "missing"}
    assert told(SAID.replace("M8 washers", "M8 larger washers")) == ["contradicts"]
    assert told(implied, "de") == ["missing", "missing"]
    alone = "Put the washers into the bin marked small."
    assert told(alone, spoken=rings.rules[:1]) == []
    assert set(told(alone, spoken=rings.rules[:2])) == {"missing"}
    assert told("Put the M10 washers into the bin marked small.", spoken=rings.rules[:1]) == ["other_part"]


def test_leaks_are_told_by_kind_and_words():
    assert leak_in(SAID) is None
    assert leak_in("Sort hex_nut_m6_00 first.") == ("identifier", "hex_nut_m6_00")
    assert leak_in("Read /World now") == ("file", "/World")
