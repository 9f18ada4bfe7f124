"""One line of a library's manifest: a kept scenario, or an index at which none could be made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from scenegen.provenance import Provenance
from scenegen.record import Record
from scenegen.scenario import Facet
from scenegen.verdict import Finding, Status

Kind = Literal["base", "variant", "repaired", "exhausted"]


class Row(Record):
    """One scenario of the library, or an exhausted index of an expansion."""

    kind: Kind
    expansion: str
    """Content id of the expansion that made it."""
    index: int
    """Index in the expansion; a base carries the base's index."""
    scenario_id: str | None
    """None only where the index is exhausted."""
    cell_id: str
    facets: dict[Facet, str] = {}
    """Content id of each facet."""
    provenance: Provenance | None = None
    plan_id: str | None = None
    """Content id of the check plan behind `results`."""
    results: dict[str, Status] = {}
    """`check@version` -> status. Whether a result was measured, reused or known by
    construction is left out: that depends on what a process saw before, and a row does not."""
    findings: tuple[Finding, ...] = ()
    files: dict[str, str] = {}
    """Path in the library -> content hash of the file's bytes."""
    rejected: dict[str, int] = {}
    """How often each reason rejected an attempt at this index before it was kept or given up."""


@dataclass(frozen=True)
class Line:
    """A row as the text of its line, with what a run counts of it: cheap to hand from process to process."""

    kind: Kind
    expansion: str
    index: int
    scenario_id: str | None
    rejected: dict[str, int]
    text: str

    @classmethod
    def of(cls, row: Row) -> Self:
        """Write a row's line."""
        return cls(row.kind, row.expansion, row.index, row.scenario_id, row.rejected, row.canonical_json())
