"""A measure of many episodes with its interval, or the admission that it is not known."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from scenegen.record import Real, Record
from scenegen.units import Unit

Count = Annotated[int, Field(ge=0)]


class Estimate(Record):
    """A value with its 95 % interval. None is unknown, and never zero."""

    value: Real | None
    low: Real | None
    high: Real | None
    """None where no interval can be told: of a mean of fewer than two groups, or of values that are all the same."""
    unit: Unit = Unit.NONE
    count: Count
    """How many were counted or averaged: episodes, items, pairs."""
    groups: Count
    """Bases that they came from: what is independent."""
    unknown: Count = 0
    """Episodes of which it was not known."""

    def __str__(self) -> str:
        """Return `value [low, high] unit (n = count)`, with a question mark for what is not known."""
        value, low, high = ("?" if one is None else f"{one:.4g}" for one in (self.value, self.low, self.high))
        unit = "" if self.unit in (Unit.NONE, Unit.SHARE) else f" {self.unit.value}"
        return f"{value} [{low}, {high}]{unit} (n = {self.count})"
