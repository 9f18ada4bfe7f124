"""Kept scenes in a few words."""

from __future__ import annotations

from library.row import Row
from scenegen.axes.registry import AXES
from scenegen.units import Unit


def describe_axes(row: Row) -> tuple[str, str]:
    """Return `axis level, …` and, in words, the severities of a row that are not at their nominal value."""
    settings = row.provenance.axes
    names = ", ".join(f"{setting.axis} {setting.level}" for setting in settings)
    values = ", ".join(
        f"{q.name.replace('_', ' ')} {q.value:.{3 if abs(q.value) < 100 else 4}g}{_unit(q.unit)}"
        for setting in settings
        for q in setting.severity
        if q.value != _nominal(setting.axis, q.name)
    )
    return names, values


def _unit(unit: Unit) -> str:
    return "" if unit in (Unit.NONE, Unit.COUNT, Unit.SHARE, Unit.FACTOR) else f" {unit.value}"


def _nominal(axis: str, quantity: str) -> float | None:
    known = AXES[axis].severities if axis in AXES else ()
    return next((severity.nominal for severity in known if severity.name == quantity), None)
