"""Wording: names that people use, and instructions that speak of what is there."""

import pytest

from scenegen.parts.builtin import builtin_part
from scenegen.wording import (
    bin_words,
    enumeration,
    instruct,
    kind_words,
    part_names,
    plural,
    rules_present,
    size_words,
    target_names,
)


@pytest.mark.parametrize(
    ("part_id", "words"),
    [
        ("hex_bolt_m6x20", "M6 hex bolt"),
        ("flat_washer_m8", "M8 flat washer"),
        ("dowel_pin_6x20", "6 mm dowel pin"),
        ("spur_gear_z20_m1", "20-tooth spur gear"),
        ("ball_bearing_608", "608 ball bearing"),
        ("l_bracket_left", "left-hand L bracket"),
        ("retaining_ring_12", "12 mm retaining ring"),
    ],
)
def test_part_names(part_id, words):
    part = builtin_part(part_id)
    assert part_names((part,)) == {part_id: words}
    assert words.startswith(size_words(part))
    assert words.endswith(kind_words(part.label))


def test_parts_of_one_size_are_told_apart_by_all_their_sizes():
    names = part_names((builtin_part("hex_bolt_m6x16"), builtin_part("hex_bolt_m6x20"), builtin_part("hex_nut_m6")))
    assert list(names.values()) == ["M6 x 16 hex bolt", "M6 x 20 hex bolt", "M6 hex nut"]
    names = part_names((builtin_part("bushing_8x11x10"), builtin_part("bushing_8x12x10")))
    assert len(set(names.values())) == 2


@pytest.mark.parametrize(
    ("one", "many"),
    [("bolt", "bolts"), ("bush", "bushes"), ("box", "boxes"), ("assembly", "assemblies"), ("key", "keys")],
)
def test_plural(one, many):
    assert plural(one) == many


def test_enumeration():
    assert [enumeration(list("abc")[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert enumeration(["a", "b"], "und") == "a und b"


def test_bins_are_called_by_their_labels(cell, rings):
    assert bin_words(cell.bins[0]) == "bin A"
    assert bin_words(rings.bins[0]) == "the bin marked small"


def test_an_instruction_speaks_of_what_is_present_alone(cell, catalogue):
    present = ["hex_bolt_m6x20", "hex_nut_m8"]
    text = instruct(cell, catalogue, cell.rules, present=present, template="Sort {parts}: {rules}.")
    assert text == "Sort M6 hex bolts and M8 hex nuts: M6 hex bolts into bin A and M8 hex nuts into bin D."
    assert [rule.match for rule in rules_present(cell.rules, catalogue, present)] == present


def test_target_names_of_a_cell_are_unique(cell, catalogue):
    names = target_names(cell, catalogue)
    assert len(set(names.values())) == len(names) == 4
