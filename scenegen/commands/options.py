"""Options that several commands share, from text to values."""

from __future__ import annotations

import re

from scenegen.errors import InvalidOption


def parse_levels(text: str) -> tuple[int, ...]:
    """Turn `1-5`, `3` or `1,3-4` into sorted, unique levels.

    Raises:
        InvalidOption: The text is of another form, or a level is not 1 to 5.
    """
    levels: set[int] = set()
    for piece in text.split(","):
        match = re.fullmatch(r"\s*([1-5])(?:\s*-\s*([1-5]))?\s*", piece)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise InvalidOption("--levels", text, "levels 1 to 5, for example 3, 3-5 or 1,3")
        levels.update(range(first, last + 1))
    return tuple(sorted(levels))
