"""Kept scenes in a few words."""

from __future__ import annotations

from library.row import Row
from scenegen.axes.axis import Severity
from scenegen.axes.registry import AXES
from scenegen.units import Quantity, Unit

ROUNDING = 1e-5
"""Share of a quantity's range that does not count."""


def describe_axes(row: Row) -> tuple[str, str]:
    """Return `axis level, …` and, in words, the severities of a row that are not at their nominal value."""
    settings = row.provenance.axes
    names = ", ".join(f"{setting.axis} {setting.level}" for setting in settings)
    told = [
        (q, _sign(setting.axis, q))
        for setting in settings
        for q in setting.severity
        if not _is_nominal(setting.axis, q)
    ]
    values = ", ".join(
        f"{q.name.replace('_', ' ')} {q.value:{sign}.{3 if abs(q.value) < 100 else 4}g}{_unit(q.unit)}"
        for q, sign in told
    )
    return names, values


def _unit(unit: Unit) -> str:
    return "" if unit in (Unit.NONE, Unit.COUNT, Unit.SHARE, Unit.FACTOR) else f" {unit.value}"


def _is_nominal(axis: str, quantity: Quantity) -> bool:
    """Tell whether a quantity is at its nominal value, but for what rounding leaves of solved ones."""
    severity = _severity(axis, quantity)
    if severity is None:
        return False
    return abs(quantity.value - severity.nominal) <= ROUNDING * (severity.high - severity.low)


def _sign(axis: str, quantity: Quantity) -> str:
    """Return how a number is written: with its sign, whichever that is, where it is a change to either side."""
    severity = _severity(axis, quantity)
    return "+" if severity is not None and severity.low < 0 else ""


def _severity(axis: str, quantity: Quantity) -> Severity | None:
    known = AXES[axis].severities if axis in AXES else ()
    return next((one for one in known if one.name == quantity.name), None)
