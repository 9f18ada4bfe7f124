"""Language: what each class of edit says, and that the task stays decidable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenegen.axes.language import LANGUAGE
from scenegen.axes.phrases import LANGUAGES, SYNONYMS, edit_distance, size_variant
from scenegen.base import sample_base
from scenegen.parts.builtin import builtin_ids, builtin_part
from scenegen.streams import stream
from scenegen.wording import bin_words

few = st.text("abc", max_size=10)


@pytest.fixture(scope="module")
def full(ctx):
    """A base in which all four kinds of targets are present."""
    return sample_base(ctx.cell.replaced(fill=(22, 22)), ctx.parts, rng=stream("full"))


def texts(base, level, ctx, count=12):
    return {LANGUAGE.vary(base, level, ctx=ctx, rng=stream(level, seed)).task.instruction for seed in range(count)}


def table_distance(one, two):
    rows = [list(range(len(two) + 1))]
    for i, a in enumerate(one):
        row = [i + 1]
        for j, b in enumerate(two):
            row.append(min(rows[-1][j + 1] + 1, row[j] + 1, rows[-1][j] + (a != b)))
        rows.append(row)
    return rows[-1][-1]


@given(few, few)
def test_edit_distance_is_that_of_the_table(one, two):
    assert edit_distance(one, two) == table_distance(one, two)


def test_every_text_names_every_bin(ctx, full):
    for level in (1, 2, 3, 4):
        for text in texts(full, level, ctx):
            assert all(bin_words(box) in text for box in ctx.cell.bins)
    for text in texts(full, 5, ctx):
        assert all(f" {box.label}" in text for box in ctx.cell.bins)


def test_typing_errors_spare_names_and_bins(ctx, full):
    for text in texts(full, 1, ctx):
        assert text != full.task.instruction
        assert edit_distance(text, full.task.instruction) <= 4
        for phrase in ("M6 hex bolts", "M8 hex bolts", "M6 hex nuts", "M8 hex nuts"):
            assert phrase in text


def test_other_names_say_the_same_sizes_in_words(ctx, full):
    for text in texts(full, 3, ctx):
        assert "M6" not in text
        assert "six-millimetre hexagon head bolts" in text
        assert "eight-millimetre hexagon nuts" in text


def test_implied_targets_are_told_apart_by_size_alone(ctx, full):
    for text in texts(full, 4, ctx):
        assert not any(character.isdigit() for character in text)
        assert all(f"{rank} hex {kind}" in text for rank in ("smaller", "larger") for kind in ("bolts", "nuts"))


def test_an_only_part_of_its_class_needs_no_size(ctx):
    base = next(
        base
        for base in (sample_base(ctx.cell, ctx.parts, rng=stream("few", seed)) for seed in range(400))
        if "hex_nut_m8" not in {item.part for item in base.layout.items}
    )
    for text in texts(base, 4, ctx, count=3):
        assert " hex nuts" in text
        assert "er hex nuts" not in text


def test_second_languages(ctx, full):
    german = "Sortiere die Teile: Sechskantschrauben M6 in Behälter A, Sechskantschrauben M8 in Behälter B, "
    spanish = "Clasifica las piezas: tornillos hexagonales M6 en la caja A, tornillos hexagonales M8 en la caja B, "
    found = texts(full, 5, ctx)
    assert {text[: len(german)] for text in found if text.startswith("S")} == {german}
    assert {text[: len(spanish)] for text in found if text.startswith("C")} == {spanish}
    assert {LANGUAGE.vary(full, 5, ctx=ctx, rng=stream(seed)).task.language for seed in range(9)} == {"de", "es"}


def test_rules_never_change(ctx, full):
    for level in range(1, 6):
        assert LANGUAGE.vary(full, level, ctx=ctx, rng=stream("rules")).task.rules == full.task.rules


def test_every_target_class_of_the_built_in_parts_has_words():
    labels = {builtin_part(part_id).label for part_id in builtin_ids()} - {"cable", "glove", "chip"}
    assert labels <= set(SYNONYMS)
    assert all(labels <= set(language.kinds) for language in LANGUAGES.values())


@pytest.mark.parametrize(
    ("size", "words"),
    [("M6", "six-millimetre"), ("12 mm", "twelve-millimetre"), ("24-tooth", "twenty-four-tooth"), ("left-hand", "left"),
     ("M42", "42-millimetre"), ("M6 x 20", None)],
)  # fmt: skip
def test_size_variants(size, words):
    assert size_variant(size) == words
