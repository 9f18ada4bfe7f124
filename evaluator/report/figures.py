"""Numbers as people read them: shares in percent, lengths in millimetres, short times in milliseconds."""

from __future__ import annotations

from evaluator.judging.estimate import Estimate
from evaluator.judging.success_rate import SuccessRate
from scenegen.units import Unit
from validators.intervals import Rate

UNKNOWN = "?"
_MILLI = {Unit.METRE: "mm", Unit.SECOND: "ms"}
_SHORT_S = 1.0
"""Times below it are shown in milliseconds."""


def percent(share: float | None) -> str:
    """Return a share in whole percent; `<1%` and `>99%` where rounding would say none or all."""
    if share is None:
        return UNKNOWN
    if 0 < share < 0.005:
        return "<1%"
    if 0.995 < share < 1:
        return ">99%"
    return f"{share:.0%}"


def points(difference: float | None) -> str:
    """Return a difference of shares in percentage points, with its sign."""
    if difference is None:
        return UNKNOWN
    rounded = round(100 * difference)
    return "0" if rounded == 0 else f"{rounded:+d}".replace("-", "−")


def value(estimate: Estimate) -> str:
    """Return an estimate's value with its unit."""
    return _shown(estimate.value, estimate)


def interval(estimate: Estimate) -> str:
    """Return its interval without the unit; nothing where none can be told."""
    if estimate.low is None and estimate.high is None:
        return ""
    low, high = (_shown(end, estimate, unit=estimate.unit is Unit.SHARE) for end in (estimate.low, estimate.high))
    return f"[{low}, {'∞' if estimate.high is None else high}]"


def both(estimate: Estimate) -> str:
    """Return value and interval."""
    return f"{value(estimate)} {interval(estimate)}".strip()


def difference(estimate: Estimate) -> str:
    """Return a difference of shares in points, and its interval."""
    return f"{points(estimate.value)} [{points(estimate.low)}, {points(estimate.high)}]"


def rate(counted: Rate) -> str:
    """Return a counted share with its interval."""
    share = percent(counted.share) if counted.trials else UNKNOWN
    return f"{share} [{percent(counted.low)}, {percent(counted.high)}]"


def success(rate: SuccessRate) -> str:
    """Return a success rate; where episodes are missing, the interval holds whichever way they went."""
    return f"{percent(rate.rate.value)} [{percent(rate.worst_low)}, {percent(rate.worst_high)}]"


def _shown(number: float | None, estimate: Estimate, *, unit: bool = True) -> str:
    if number is None:
        return UNKNOWN
    if estimate.unit is Unit.SHARE:
        return percent(number)
    largest = max((abs(one) for one in (estimate.value, estimate.low, estimate.high) if one is not None), default=0.0)
    name = estimate.unit.value
    if estimate.unit is Unit.METRE or (estimate.unit is Unit.SECOND and largest < _SHORT_S):
        number, name = 1000 * number, _MILLI[estimate.unit]
    if estimate.unit in (Unit.NONE, Unit.FACTOR, Unit.COUNT):
        name = ""
    text = f"{number:.0f}" if abs(number) >= 1000 else f"{number:.3g}"
    return f"{text.replace('-', '−')} {name}".rstrip() if unit else text.replace("-", "−")
