"""What differs between two records, field by field, with units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scenegen.record import Record, Text

UNITS = {
    "_kg_m2": "kg m2", "_m_s": "m/s", "_kg": "kg", "_hz": "Hz", "_rad": "rad", "_deg": "deg", "_lux": "lx",
    "_nit": "cd/m2", "_px": "px", "_ev": "EV", "_db": "dB", "_m": "m", "_k": "K",
}  # fmt: skip
"""Ending of a field's name -> unit; longer endings first where one ends another."""
NAMES = ("name", "subject", "camera", "match", "part", "axis")
"""Fields by which entries of a list are told apart."""


class FieldChange(Record):
    """One field that differs."""

    path: Text
    """Names from the outside in, for example `lights.key.temperature_k`."""
    before: Any = None
    """None where there was no such field."""
    after: Any = None
    unit: str = ""

    @property
    def text(self) -> str:
        """The change in words."""
        unit = f" {self.unit}" if self.unit else ""
        if self.before is None or self.after is None:
            added = self.before is None
            return (
                f"{self.path}: {'added' if added else 'removed'} {_shown(self.after if added else self.before)}{unit}"
            )
        return f"{self.path}: {_shown(self.before)} -> {_shown(self.after)}{unit}"

    @property
    def mirrored(self) -> FieldChange:
        """The change in the other direction."""
        return self.replaced(before=self.after, after=self.before)


def field_changes(before: Any, after: Any, *, path: str = "") -> Iterator[FieldChange]:
    """Iterate over the fields in which plain data differs.

    Entries of lists are matched by their names where they have any; numbers in a row are one field.

    Args:
        before: Mappings, sequences and scalars.
        after: The same, later.
        path: Where they stand.
    """
    if before == after:
        return
    left, right = _children(before), _children(after)
    if left is None or right is None or (not left and not right):
        yield FieldChange(path=path, before=before, after=after, unit=_unit(path))
        return
    for name in dict.fromkeys([*left, *right]):
        inside = f"{path}.{name}" if path else name
        if name not in left or name not in right:
            entry = left.get(name, right.get(name))
            sides = (entry, None) if name in left else (None, entry)
            yield FieldChange(path=inside, before=sides[0], after=sides[1], unit=_unit(inside))
        else:
            yield from field_changes(left[name], right[name], path=inside)


def _children(data: Any) -> dict[str, Any] | None:
    """Return what is inside, by name; None for scalars and rows of numbers."""
    if isinstance(data, Mapping):
        return {str(name): value for name, value in data.items()}
    if isinstance(data, Sequence) and not isinstance(data, str) and all(isinstance(one, Mapping) for one in data):
        key = next((name for name in NAMES if data and all(name in one for one in data)), None)
        named = {str(one[key]): one for one in data} if key else {}
        return named if len(named) == len(data) else {str(at): one for at, one in enumerate(data)}
    return None


def _unit(path: str) -> str:
    name = path.rpartition(".")[2]
    return next((unit for ending, unit in UNITS.items() if name.endswith(ending)), "")


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple) and value and all(isinstance(one, int | float) for one in value):
        return "(" + ", ".join(f"{one:.5g}" for one in value) + ")"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
