"""The options of a policy as they are typed: `?name=value&name=value`."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from urllib.parse import parse_qsl

from scenegen.errors import InvalidOption

OPTION = "--policy"


class Options:
    """Takes options out one by one; what nobody took is an error.

    Args:
        text: The policy's whole text, for errors.
        query: What stands after the `?`.

    Raises:
        InvalidOption: It is no list of `name=value`, or a name stands twice.
    """

    def __init__(self, text: str, query: str) -> None:
        self._text = text
        try:
            pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
        except ValueError:
            raise InvalidOption(OPTION, text, "options as ?name=value&name=value") from None
        self._given = dict(pairs)
        if len(self._given) != len(pairs):
            raise InvalidOption(OPTION, text, "each option once")
        self._known: list[str] = []

    def take(self, name: str, default: str = "") -> str:
        """Return an option's text, or the default."""
        self._known.append(name)
        return self._given.get(name, default)

    def choice(self, name: str, default: str, accepted: Sequence[str]) -> str:
        """Return one of some words.

        Raises:
            InvalidOption: It is none of them.
        """
        if (value := self.take(name, default)) not in accepted:
            raise InvalidOption(OPTION, self._text, f"{name}={'|'.join(accepted)}")
        return value

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """Return a finite number within a range.

        Raises:
            InvalidOption: It is not.
        """
        try:
            value = float(self.take(name, str(default)))
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise InvalidOption(OPTION, self._text, f"{name}= a number, {low:g} to {high:g}")
        return value

    def count(self, name: str, default: int, low: int, high: int) -> int:
        """Return a whole number within a range.

        Raises:
            InvalidOption: It is not.
        """
        value = self.number(name, default, low, high)
        if value != int(value):
            raise InvalidOption(OPTION, self._text, f"{name}= a whole number, {low} to {high}")
        return int(value)

    def under(self, prefix: str) -> dict[str, str]:
        """Return all options whose names begin with a prefix, by the rest of their names."""
        found = {name: value for name, value in self._given.items() if name.startswith(prefix)}
        self._known += [*found, f"{prefix}NAME"]
        return {name.removeprefix(prefix): value for name, value in found.items()}

    def rest(self) -> dict[str, str]:
        """Return all options."""
        self._known += self._given
        return dict(self._given)

    def end(self) -> None:
        """Say that all options were taken.

        Raises:
            InvalidOption: One was not.
        """
        for name in self._given:
            if name not in self._known:
                close = difflib.get_close_matches(name, self._known, n=1)
                accepted = f"the options {', '.join(self._known)}" if self._known else "no options"
                hint = f" - did you mean {close[0]}=?" if close else ""
                raise InvalidOption(OPTION, self._text, f"{accepted}, not {name}{hint}")
