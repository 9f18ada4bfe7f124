"""CSV that spreadsheets show and never run: the law of cells, and what a file of them reads back as."""

import csv
import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from library.export_csv import cell_text, original_text, write_csv

ATTACKS = st.sampled_from(
    [
        "=1+1",
        "+1",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "'=1",
        "\uff1d1",
        " =1",
        "\ufeff=1",
        "''",
        "=cmd|' /C calc'!A0",
    ]
)
TEXTS = st.text() | st.builds(str.__add__, ATTACKS, st.text())
VALUES = TEXTS | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none()


def starts_a_formula(cell: str) -> bool:
    plain = unicodedata.normalize("NFKC", cell).lstrip(" \u00a0\u200b\ufeff\v\f\0")
    return cell[:1] in tuple("=+-@\t\r") or plain[:1] in tuple("=+-@\t\r")


@given(TEXTS)
def test_no_text_starts_a_formula_and_every_text_comes_back(text):
    cell = cell_text(text)
    assert not starts_a_formula(cell)
    assert original_text(cell) == text
    assert cell in (text, "'" + text)


@given(st.lists(st.fixed_dictionaries({"a": VALUES, "b": VALUES}), max_size=5))
def test_a_file_of_any_values_reads_back(rows):
    file = io.StringIO(newline="")
    assert write_csv(file, ["a", "b"], rows) == len(rows)
    header, *cells = list(csv.reader(io.StringIO(file.getvalue(), newline="")))
    assert header == ["a", "b"]
    assert len(cells) == len(rows)
    for row, line in zip(rows, cells, strict=True):
        for value, cell in zip((row["a"], row["b"]), line, strict=True):
            if isinstance(value, str):
                assert not starts_a_formula(cell)
                assert original_text(cell) == value
            elif value is None:
                assert cell == ""
            elif isinstance(value, bool):
                assert cell == str(value).lower()
            else:
                assert type(value)(cell) == value


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+49", "'+49"),
        ("-x", "'-x"),
        ("@a", "'@a"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("'x", "''x"),
        ("\uff1d1", "'\uff1d1"),
        ("it's", "it's"),
        (-0.5, "-0.5"),
        (-7, "-7"),
        ([{"axis": "pose", "level": 1}], '[{"axis":"pose","level":1}]'),
        (None, ""),
    ],
)
def test_cells(value, cell):
    assert cell_text(value) == cell


def test_a_header_that_is_a_formula_is_harmless_too():
    file = io.StringIO()
    write_csv(file, ["=a"], [{"=a": 1}])
    assert file.getvalue() == "'=a\r\n1\r\n"
