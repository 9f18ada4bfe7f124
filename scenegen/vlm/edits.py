"""What a model may propose to change in one scene: one record a kind of edit, told apart by `op`."""

from __future__ import annotations

import unicodedata
from typing import Annotated, ClassVar, Literal, Self, get_args

from pydantic import AfterValidator, Field, model_validator

from scenegen.record import Name, Record

LETTERS = 300
"""Most letters of an instruction."""
_INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
"""Unicode's categories of what prints nothing: controls, zero-width and bidirectional marks, breaks, surrogates."""


def plain(text: str) -> str:
    """Return a text that people see whole.

    Raises:
        ValueError: It is blank, or holds control, zero-width or bidirectional characters.
    """
    hidden = next((letter for letter in text if unicodedata.category(letter) in _INVISIBLE), None)
    if hidden is not None:
        raise ValueError(f"text with U+{ord(hidden):04X} - accepted: characters that can be seen")
    if not text.strip():
        raise ValueError("blank text - accepted: words")
    return text


def latin(text: str) -> str:
    """Return a text whose letters are Latin ones, so that none looks like another.

    Raises:
        ValueError: A letter is of another script.
    """
    other = next((x for x in text if x.isalpha() and not unicodedata.name(x, "").startswith("LATIN")), None)
    if other is not None:
        raise ValueError(f"text with U+{ord(other):04X} - accepted: Latin letters")
    return text


Whole = Annotated[int, Field(ge=-100_000, le=100_000)]


class Change(Record):
    """One edit; amounts are ranges from which the sampler draws, in whole numbers of the unit in their names."""

    axis: ClassVar[str]
    """The axis that the edit belongs to."""

    @property
    def subject(self) -> str:
        """What is edited: the first id that it names; empty where there is none."""
        names = [name for name in type(self).model_fields if name in ("item", "part", "fixture")]
        return getattr(self, names[0]) if names else ""

    @model_validator(mode="after")
    def _low_to_high(self) -> Self:
        for name in (name.removeprefix("low_") for name in type(self).model_fields if name.startswith("low_")):
            low, high = getattr(self, f"low_{name}"), getattr(self, f"high_{name}")
            if low > high:
                raise ValueError(f"low_{name} {low} is above high_{name} {high} - accepted: low <= high")
        return self


class Move(Change):
    """Move a part to elsewhere in the feed."""

    axis: ClassVar[str] = "pose"
    op: Literal["move"] = "move"
    item: Name
    low_mm: Whole
    high_mm: Whole


class Turn(Change):
    """Turn a part about the vertical."""

    axis: ClassVar[str] = "pose"
    op: Literal["turn"] = "turn"
    item: Name
    low_deg: Whole
    high_deg: Whole


class Tilt(Change):
    """Lean a part on something, so many degrees out of how it would lie."""

    axis: ClassVar[str] = "tilt"
    op: Literal["tilt"] = "tilt"
    item: Name
    low_deg: Whole
    high_deg: Whole


class Stack(Change):
    """Lay a part onto another one."""

    axis: ClassVar[str] = "stacking"
    op: Literal["stack"] = "stack"
    item: Name
    onto: Name

    @model_validator(mode="after")
    def _two_items(self) -> Self:
        if self.item == self.onto:
            raise ValueError(f"item and onto are both {self.item} - accepted: two different items")
        return self


class Cover(Change):
    """Hide a share of a part from the overhead camera under an occluder, or under a neighbour."""

    axis: ClassVar[str] = "occlusion"
    op: Literal["cover"] = "cover"
    item: Name
    by: Name
    low_percent: Whole
    high_percent: Whole


class AddForeign(Change):
    """Put parts into the feed that are foreign to the line."""

    axis: ClassVar[str] = "misplacement"
    op: Literal["add_foreign"] = "add_foreign"
    part: Name
    count: Whole


class Misplace(Change):
    """Leave a part on the table beside the feed."""

    axis: ClassVar[str] = "misplacement"
    op: Literal["misplace"] = "misplace"
    item: Name


class WrongBin(Change):
    """Put one more part into a bin that is not its own."""

    axis: ClassVar[str] = "misplacement"
    op: Literal["wrong_bin"] = "wrong_bin"
    part: Name
    bin: Name


class Swap(Change):
    """Put a look-alike in a part's place, as in a mixed lot."""

    axis: ClassVar[str] = "misplacement"
    op: Literal["swap"] = "swap"
    item: Name
    part: Name


class ShiftDatum(Change):
    """Shift and turn the feed or a bin, with what lies in it."""

    axis: ClassVar[str] = "datum"
    op: Literal["shift_datum"] = "shift_datum"
    fixture: Name
    low_mm: Whole
    high_mm: Whole
    low_deg: Whole
    high_deg: Whole

    @model_validator(mode="after")
    def _shifts(self) -> Self:
        if self.high_mm == self.high_deg == 0:
            raise ValueError("it stays where it is - accepted: high_mm or high_deg above 0")
        return self


class ChangeSurface(Change):
    """Paint, oxidise or stain a part, to a colour difference in the picture (CIEDE2000)."""

    axis: ClassVar[str] = "color_shift"
    op: Literal["change_surface"] = "change_surface"
    item: Name
    coat: Name
    low_difference: Whole
    high_difference: Whole


class ChangeLight(Change):
    """Change the light: its strength (100 percent stays), the key light's colour temperature, and its direction."""

    axis: ClassVar[str] = "lighting"
    op: Literal["change_light"] = "change_light"
    low_percent: Whole
    high_percent: Whole
    low_kelvin: Whole
    """Change of colour temperature; below zero is warmer."""
    high_kelvin: Whole
    low_deg: Whole
    high_deg: Whole

    @model_validator(mode="after")
    def _changes(self) -> Self:
        amounts = (self.low_percent, self.high_percent, self.low_kelvin, self.high_kelvin, self.low_deg, self.high_deg)
        if amounts == (100, 100, 0, 0, 0, 0):
            raise ValueError("the light stays as it is - accepted: not 100 percent, 0 kelvin and 0 deg at once")
        return self


class RelabelBin(Change):
    """Exchange two bins in the sort rules; the instruction follows."""

    axis: ClassVar[str] = "language"
    op: Literal["relabel_bin"] = "relabel_bin"
    bin: Name
    other: Name

    @model_validator(mode="after")
    def _two_bins(self) -> Self:
        if self.bin == self.other:
            raise ValueError(f"bin and other are both {self.bin} - accepted: two different bins")
        return self


class Rephrase(Change):
    """Say the same task in other words, by implication, or in another language.

    The same parts go into the same bins, each in a clause of its own.
    """

    axis: ClassVar[str] = "language"
    op: Literal["rephrase"] = "rephrase"
    language: Name
    instruction: Annotated[str, Field(min_length=1, max_length=LETTERS), AfterValidator(plain), AfterValidator(latin)]


_Any = (
    Misplace | Swap | WrongBin | AddForeign | Move | Turn | Tilt | Cover | Stack | ShiftDatum | ChangeSurface
    | ChangeLight | RelabelBin | Rephrase
)  # fmt: skip
Edit = Annotated[_Any, Field(discriminator="op")]
EDITS: dict[str, type[Change]] = {kind.model_fields["op"].default: kind for kind in get_args(_Any)}
"""Every kind of edit by its op, in the order in which edits are applied: the layout first, then looks, light and task.

What takes items out of the feed comes before what moves them, and what lies on others last.
"""
