"""A kept scenario as the library describes it, and the rows of tables that come of keeping one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, Self

from scenegen.facet import scenario_frame
from scenegen.provenance import Provenance
from scenegen.record import Record, canonical_text, content_hash
from scenegen.scenario import FACETS, Asset, Facet
from scenegen.verdict import Finding, Status, Verdict

Kind = Literal["base", "variant", "repaired", "imported"]
ROW_HASH = "row_hash"

_ORIGIN = ("base_id", "parent_id", "generator", "seed", "index")
"""Columns that are fields of `Provenance` as they are."""
_REST = ("generator_version", "attempt", "vlm_call_id")
"""The other fields of `Provenance`, in the column `origin`."""


@lru_cache(maxsize=10_000)
def axes_of(text: str) -> tuple[tuple[str, int], ...]:
    """Read axis and level of each setting from the column `axes`."""
    return tuple((one["axis"], one["level"]) for one in json.loads(text))


def facets_of(columns: Mapping[str, Any]) -> dict[Facet, str]:
    """Read the content id of each facet from the columns `layout_id` and `facets`."""
    ids = {**json.loads(columns["facets"]), Facet.LAYOUT: columns["layout_id"]}
    return {facet: ids[facet] for facet in FACETS if ids.get(facet) is not None}


def row_hash(columns: Mapping[str, Any]) -> str:
    """Return the content hash of a row: of all columns that are not null, but for the hash itself."""
    facts = {name: value for name, value in columns.items() if value is not None and name != ROW_HASH}
    return content_hash(canonical_text(facts).encode())


def sealed(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without its nulls and with its hash."""
    facts = {name: value for name, value in columns.items() if value is not None}
    return {**facts, ROW_HASH: row_hash(facts)}


class Row(Record):
    """One kept scenario: what it is, where it came from, and what its USD layers must be."""

    kind: Kind
    scenario_id: str
    cell_id: str
    assets: tuple[Asset, ...] = ()
    facets: dict[Facet, str] = {}
    """Content id of each facet."""
    provenance: Provenance
    expansion: str | None = None
    """Content id of the expansion that made it; none for a base, which any expansion of its seed makes."""
    plan_id: str | None = None
    """Content id of the check plan that it passed before it was kept."""
    layout_sha256: str | None = None
    scene_sha256: str | None = None
    """What its USD layers must be; none where they were not written when it was kept."""

    @property
    def frame(self) -> str:
        """What scenes of one cell and the same part files have in common; see `scenario_frame`."""
        return scenario_frame(self.cell_id, self.assets)

    def columns(self) -> dict[str, Any]:
        """Return the row of the table `scenarios`."""
        origin = self.provenance
        first = next((one for setting in origin.axes for one in setting.severity), None)
        ids = {facet.value: one for facet, one in self.facets.items() if facet is not Facet.LAYOUT}
        rest = {name: getattr(origin, name) for name in _REST}
        return sealed(
            {
                "scenario_id": self.scenario_id,
                "kind": self.kind,
                "cell_id": self.cell_id,
                "assets": canonical_text({asset.part: asset.content for asset in self.assets}),
                "axis": "+".join(setting.axis for setting in origin.axes) or None,
                "level": max((setting.level for setting in origin.axes), default=0),
                "quantity": first.name if first else None,
                "severity": first.value if first else None,
                "unit": first.unit.value if first else None,
                "axes": canonical_text([setting.model_dump(mode="json") for setting in origin.axes]),
                **{name: getattr(origin, name) for name in _ORIGIN},
                "expansion": self.expansion,
                "plan_id": self.plan_id,
                "origin": canonical_text({name: one for name, one in rest.items() if one is not None}),
                "layout_id": self.facets.get(Facet.LAYOUT),
                "facets": canonical_text(ids),
                "layout_sha256": self.layout_sha256,
                "scene_sha256": self.scene_sha256,
            }
        )

    @classmethod
    def of(cls, columns: Mapping[str, Any]) -> Self:
        """Build the row back from its columns; nulls may stand or be left out."""
        known = {name: value for name, value in columns.items() if value is not None}
        rest = {name: one for name, one in json.loads(known["origin"]).items() if name in _REST}
        origin = {name: known[name] for name in _ORIGIN if name in known}
        return cls(
            kind=known["kind"],
            scenario_id=known["scenario_id"],
            cell_id=known["cell_id"],
            assets=tuple(Asset(part=part, content=content) for part, content in json.loads(known["assets"]).items()),
            facets=facets_of({"layout_id": None, **known}),
            provenance=Provenance.model_validate({**origin, **rest, "axes": json.loads(known["axes"])}),
            expansion=known.get("expansion"),
            plan_id=known.get("plan_id"),
            layout_sha256=known.get("layout_sha256"),
            scene_sha256=known.get("scene_sha256"),
        )


class KeptVerdict(Record):
    """What the checks of a plan said of a scenario, as it is kept.

    Whether a result was measured, reused or known by construction is left out: that depends on what a process saw
    before, and a kept verdict does not.
    """

    scenario_id: str
    plan_id: str
    ok: bool
    statuses: dict[str, Status]
    """`check@version` -> status."""
    findings: tuple[Finding, ...] = ()

    @classmethod
    def from_verdict(cls, verdict: Verdict) -> Self:
        """Keep a verdict."""
        return cls(
            scenario_id=verdict.scenario_id,
            plan_id=verdict.plan.content_id,
            ok=verdict.ok,
            statuses={f"{result.check}@{result.version}": result.status for result in verdict.results},
            findings=verdict.findings,
        )

    def columns(self) -> dict[str, Any]:
        """Return the row of the table `verdicts`."""
        data = self.model_dump(mode="json")
        texts = {name: canonical_text(data[name]) for name in ("statuses", "findings")}
        return sealed({**data, **texts})

    @classmethod
    def of(cls, columns: Mapping[str, Any]) -> Self:
        """Build the verdict back from its columns."""
        texts = {name: json.loads(columns[name]) for name in ("statuses", "findings")}
        return cls.model_validate({**{name: columns[name] for name in ("scenario_id", "plan_id", "ok")}, **texts})


def facet_columns(facet: Facet, record: Record) -> dict[str, Any]:
    """Return the row of the table `facets` for one facet."""
    return sealed({"facet_id": record.content_id, "facet": facet.value, "json": record.canonical_json()})


def attempt_columns(expansion: str, index: int, scenario_id: str | None, rejected: Mapping[str, int]) -> dict[str, Any]:
    """Return the row of the table `attempts` for one index of an expansion."""
    reasons = [{"reason": reason, "times": times} for reason, times in sorted(rejected.items())]
    return sealed({"expansion": expansion, "index": index, "scenario_id": scenario_id, "rejected": reasons})


@dataclass(frozen=True)
class Line:
    """What one index of an expansion gave, as rows by table: cheap to hand from process to process."""

    index: int
    scenario_id: str | None
    """None where the index is exhausted."""
    base_id: str | None
    rejected: dict[str, int]
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def text(self) -> str:
        """Return the line of a journal."""
        return canonical_text(
            {
                "index": self.index,
                "scenario_id": self.scenario_id,
                "base_id": self.base_id,
                "rejected": self.rejected,
                "rows": self.rows,
            }
        )

    @classmethod
    def from_text(cls, text: str | bytes) -> Self:
        """Read the line of a journal."""
        return cls(**json.loads(text))
