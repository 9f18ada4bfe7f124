"""A value that an axis tries to reach: how near to it counts as hit, and what the tries came to."""

from __future__ import annotations

from collections import Counter

import numpy as np

from scenegen.axes.axis import Severity, band, draw, limits
from scenegen.cell import Cell
from scenegen.errors import VariationFailed

HIT_SHARE = 0.2
"""How far a reached value may be off, as a share of what was asked."""
HIT_PX = 2.0
"""How many pixels of a target a share may be off where that is more: outlines and highlights grow by whole pixels."""


class Aim:
    """One call's asked value, with the band of its level about it.

    Example:
        >>> aim = Aim(SATURATED, 2, asked=0.2, band=(0.136, 0.252), axis="glare")  # doctest: +SKIP
        >>> aim.hit(0.21, pixels=150)  # doctest: +SKIP
        True
    """

    def __init__(self, severity: Severity, level: int, *, asked: float, band: tuple[float, float], axis: str) -> None:
        self.asked = asked
        self.near, self.far = band
        self._severity, self._level, self._axis = severity, level, axis
        self._nearest: float | None = None
        self._missed: Counter[str] = Counter()

    @classmethod
    def drawn(cls, severity: Severity, level: int, *, cell: Cell, axis: str, rng: np.random.Generator) -> Aim:
        """Draw what a level asks of a quantity that only grows; see `axis.draw`."""
        asked = draw(severity, level, cell=cell, axis=axis, rng=rng)
        near, far = band(severity, level, cell=cell, axis=axis, upward=True)
        return cls(severity, level, asked=asked, band=(near, far), axis=axis)

    @classmethod
    def within(
        cls, severity: Severity, low: float, high: float, *, cell: Cell, axis: str, rng: np.random.Generator
    ) -> Aim:
        """Draw what a range asks of a quantity; a range narrower than what counts as hit is widened toward that."""
        asked = float(rng.uniform(low, high))
        most = limits(severity, cell=cell, axis=axis)[1]
        near, far = min(low, (1 - HIT_SHARE) * asked), max(high, min(most, (1 + HIT_SHARE) * asked))
        return cls(severity, 0, asked=asked, band=(near, far), axis=axis)

    def hit(self, reached: float, *, pixels: float = float("inf")) -> bool:
        """Tell whether a value is near enough to what was asked, and in the level's band; the nearest is remembered.

        Args:
            reached: The measured value.
            pixels: Of a share: how many pixels make the whole [px].
        """
        if self._nearest is None or abs(reached - self.asked) < abs(self._nearest - self.asked):
            self._nearest = reached
        slack = max(HIT_SHARE * self.asked, HIT_PX / pixels)
        return self.near < reached <= self.far and abs(reached - self.asked) <= slack

    def miss(self, why: str) -> None:
        """Count a try that did not hit."""
        self._missed[why] += 1

    def failed(self, reason: str) -> VariationFailed:
        """Return the error that says what was asked, what came nearest, and why no try hit."""
        unit = self._severity.unit
        reached = "nothing" if self._nearest is None else f"{self._nearest:.3g} at best"
        tries = ", ".join(f"{count} {why}" for why, count in sorted(self._missed.items()))
        detail = f"asked for a {self._severity.name} of {self.asked:.3g} {unit}, reached {reached}; tries: {tries}"
        return VariationFailed(self._axis, self._level, reason, detail)
