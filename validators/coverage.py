"""Does a list of named things cover exactly what exists?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from scenegen.verdict import Finding
from validators.check import finding


def coverage(check: str, what: str, present: Sequence[str], expected: Collection[str]) -> Iterator[Finding]:
    """Yield a finding for each name that is missing, unknown or given twice.

    Args:
        check: Name of the check that asks.
        what: What the names stand for, in the singular, for example `mass entry`.
        present: The names that there are.
        expected: The names that there must be, each once.
    """
    if list(present) == list(expected):
        return
    counts = Counter(present)
    for name in expected:
        if name not in counts:
            yield finding(check, "missing", [name], f"{name!r} has no {what} - accepted: exactly one")
    for name, count in counts.items():
        if name not in expected:
            known = ", ".join(expected) or "none"
            yield finding(check, "unknown", [name], f"{what} for {name!r}, which is not there - accepted: {known}")
        elif count > 1:
            yield finding(check, "duplicate", [name], f"{name!r} has {count} entries as {what} - accepted: exactly one")
