"""Rows as CSV that spreadsheets show and never run.

Text that a spreadsheet would take for a formula gets an apostrophe before it, and so does text that begins with one:
taking one leading apostrophe away gives every text back. Numbers are written as they are, nested columns as JSON.
"""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from scenegen.record import canonical_text

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a formula may begin with, once leading spaces and wide forms of characters are set aside."""
PREFIX = "'"
_BLANK = " \u00a0\u200b\ufeff\v\f\0"


def cell_text(value: object) -> str:
    """Return a value as the text of a CSV cell.

    Example:
        >>> cell_text("=cmd|' /C calc'!A0"), cell_text(-0.5), cell_text("it"), cell_text(None)
        ("'=cmd|' /C calc'!A0", '-0.5', 'it', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return _harmless(value if isinstance(value, str) else canonical_text(value))


def original_text(cell: str) -> str:
    """Return the text that a cell was made of."""
    return cell[1:] if cell.startswith(PREFIX) else cell


def write_csv(file: TextIO, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> int:
    """Write a header and rows; return how many rows there were.

    Args:
        file: A text file that was opened with `newline=""`.
        columns: Which columns, in order.
        rows: The rows; what a row lacks stays empty.
    """
    writer = csv.writer(file)  # ends lines with \r\n: RFC 4180; and a \r in a text is quoted, too
    writer.writerow([cell_text(name) for name in columns])
    count = 0
    for row in rows:
        writer.writerow([cell_text(row.get(name)) for name in columns])
        count += 1
    return count


def _harmless(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).lstrip(_BLANK)
    return PREFIX + text if text.startswith((PREFIX, *FORMULA)) or plain.startswith(FORMULA) else text
