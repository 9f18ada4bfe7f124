"""Kept scenes in a few words."""

from __future__ import annotations

from dataclasses import dataclass

from library.row import Row
from scenegen.axes.axis import Severity
from scenegen.axes.registry import AXES
from scenegen.provenance import Provenance
from scenegen.scenario import Facet, Scenario
from scenegen.units import Quantity, Unit

ROUNDING = 1e-5
"""Share of a quantity's range that does not count."""


@dataclass(frozen=True)
class Departure:
    """A quantity of a scene that is not at its nominal value."""

    axis: str
    quantity: Quantity

    @property
    def name(self) -> str:
        """The quantity in plain words, for example `saturated share`."""
        return self.quantity.name.replace("_", " ")

    @property
    def direction(self) -> str:
        """` up` or ` down` where a quantity may depart to both sides, else nothing."""
        severity = _severity(self.axis, self.quantity)
        if severity is None or not severity.low < severity.nominal < severity.high:
            return ""
        return " up" if self.quantity.value > severity.nominal else " down"

    @property
    def graded(self) -> bool:
        """Whether the quantity makes the level; others are measured besides."""
        severity = _severity(self.axis, self.quantity)
        return severity is None or severity.graded

    @property
    def text(self) -> str:
        """Name, value and unit; the value with its sign, whichever that is, where it is a change to either side."""
        severity, value = _severity(self.axis, self.quantity), self.quantity.value
        sign = "+" if severity is not None and severity.low < 0 else ""
        unit = self.quantity.unit
        shown = "" if unit in (Unit.NONE, Unit.COUNT, Unit.SHARE, Unit.FACTOR) else f" {unit.value}"
        return f"{self.name} {value:{sign}.{3 if abs(value) < 100 else 4}g}{shown}"


def departures(origin: Provenance) -> list[Departure]:
    """Return the severities that are not at their nominal value."""
    return [
        Departure(setting.axis, quantity)
        for setting in origin.axes
        for quantity in setting.severity
        if not _is_nominal(setting.axis, quantity)
    ]


def describe_axes(row: Row) -> tuple[str, str]:
    """Return `axis level, …` and, in words, the severities of a row that are not at their nominal value."""
    names = ", ".join(f"{setting.axis} {setting.level}" for setting in row.provenance.axes)
    return names, ", ".join(departure.text for departure in departures(row.provenance))


def instruction_of(row: Row, scenario: Scenario) -> str:
    """Return the instruction where an axis has changed it, since a picture does not show it; else nothing."""
    worded = any(Facet.TASK in AXES[one.axis].touches for one in row.provenance.axes if one.axis in AXES)
    return scenario.task.instruction if worded else ""


def _is_nominal(axis: str, quantity: Quantity) -> bool:
    """Tell whether a quantity is at its nominal value, but for what rounding leaves of solved ones."""
    severity = _severity(axis, quantity)
    if severity is None:
        return False
    return abs(quantity.value - severity.nominal) <= ROUNDING * (severity.high - severity.low)


def _severity(axis: str, quantity: Quantity) -> Severity | None:
    known = AXES[axis].severities if axis in AXES else ()
    return next((one for one in known if one.name == quantity.name), None)
