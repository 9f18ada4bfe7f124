"""Is a quantity inside what the plant allows: the cell's envelope, or else the axis' own range?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scenegen.axes.axis import Severity
from scenegen.axes.axis import limits as allowed
from scenegen.cell import Cell
from scenegen.verdict import Finding
from validators.check import finding

SLACK_SHARE = 0.02
"""How far beyond the range a value may lie, as a share of the range: rounding and measuring."""


@dataclass(frozen=True)
class Envelope:
    """The allowed range of one quantity of one axis."""

    axis: str
    severity: Severity

    def outside(
        self, check: str, code: str, subjects: Sequence[str], what: str, value: float, cell: Cell
    ) -> Iterator[Finding]:
        """Yield a finding if a value is outside.

        Args:
            check: Name of the check.
            code: Short code of the finding.
            subjects: What is concerned.
            what: The thing and its quantity, as a phrase to which the value is added.
            value: The measured value, in the severity's unit.
            cell: The cell with its envelope.
        """
        low, high = allowed(self.severity, cell=cell, axis=self.axis)
        low, high = min(low, self.severity.nominal), max(high, self.severity.nominal)
        slack = SLACK_SHARE * (high - low) + 1e-6
        if low - slack <= value <= high + slack:
            return
        unit = self.severity.unit
        sentence = f"{what} {value:.4g} {unit} - accepted: {low:g} to {high:g} {unit} (envelope of axis {self.axis!r})"
        yield finding(check, code, subjects, sentence, value=value, limit=low if value < low else high, unit=unit)
