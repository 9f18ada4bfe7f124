"""The tables of a library: their columns, what is looked up in them, and how a row is proved.

Every row carries `row_hash`, the content hash of its other columns (those that are null apart): a row that was looked
up is checked by itself, equal rows are kept once, and a column that comes later leaves old hashes as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from library.row import ROW_HASH, row_hash

Columns = Mapping[str, Any]
"""One row as plain data."""


@dataclass(frozen=True)
class Table:
    """One table's name, columns and indices."""

    name: str
    schema: pa.Schema
    lookup: tuple[str, ...] = ()
    """Columns of many values that rows are looked up by (B-tree)."""
    groups: tuple[str, ...] = ()
    """Columns of few values that rows are filtered by (bitmap)."""

    @property
    def path(self) -> str:
        """Folder of the Lance dataset."""
        return f"tables/{self.name}.lance"

    def arrow(self, rows: list[Columns]) -> pa.Table:
        """Return rows as an Arrow table.

        Raises:
            pa.ArrowInvalid, pa.ArrowTypeError: A value does not fit its column.
        """
        return pa.Table.from_pylist([dict(row) for row in rows], schema=self.schema)


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema([*columns.items(), (ROW_HASH, pa.string())])


TEXT, WHOLE, SMALL, REAL = pa.string(), pa.int64(), pa.int8(), pa.float64()

SCENARIOS = Table(
    "scenarios",
    _schema(
        scenario_id=TEXT,
        kind=TEXT,
        cell_id=TEXT,
        assets=TEXT,
        base_id=TEXT,
        parent_id=TEXT,
        axis=TEXT,
        level=SMALL,
        quantity=TEXT,
        severity=REAL,
        unit=TEXT,
        axes=TEXT,
        generator=TEXT,
        seed=WHOLE,
        expansion=TEXT,
        index=WHOLE,
        origin=TEXT,
        plan_id=TEXT,
        layout_id=TEXT,
        facets=TEXT,
        layout_sha256=TEXT,
        scene_sha256=TEXT,
    ),
    lookup=(ROW_HASH, "scenario_id", "base_id"),
    groups=("axis", "level", "expansion"),
)
"""One row a kept scenario and origin: two roads to one scene are two rows.

A look-up costs 0.03 ms a column and 0.2 ms a list. So what questions seldom ask for is JSON: `axes` (each setting with
all its severities; the first is `quantity`, `severity` and `unit`), `origin` (the rest of the provenance) and `facets`
(ids of the facets other than the layout).
"""

FACET_RECORDS = Table("facets", _schema(facet_id=TEXT, facet=TEXT, json=TEXT), lookup=(ROW_HASH, "facet_id"))
"""The facets that scenarios name, each kept once."""

VERDICTS = Table(
    "verdicts",
    _schema(scenario_id=TEXT, plan_id=TEXT, ok=pa.bool_(), statuses=TEXT, findings=TEXT),
    lookup=(ROW_HASH, "scenario_id"),
    groups=("plan_id", "ok"),
)
"""What the checks of a plan said; `statuses` is JSON, `check@version` -> status."""

ATTEMPTS = Table(
    "attempts",
    _schema(
        expansion=TEXT,
        index=WHOLE,
        scenario_id=TEXT,
        rejected=pa.list_(pa.struct([("reason", TEXT), ("times", WHOLE)])),
    ),
    lookup=(ROW_HASH,),
    groups=("expansion",),
)
"""One row an index of an expansion: the scenario it gave, or null, and what rejected its attempts."""

CURATION = Table(
    "curation",
    _schema(subject=TEXT, action=TEXT, value=TEXT, note=TEXT, author=TEXT, time=TEXT),
    lookup=(ROW_HASH, "subject"),
    groups=("action", "value"),
)
"""What people decided: the last row about a subject (a scenario, or a base for splits) and action counts."""

METERS = Table(
    "meters",
    _schema(scenario_id=TEXT, camera=TEXT, version=WHOLE, readings=TEXT),
    lookup=(ROW_HASH, "scenario_id"),
    groups=("version",),
)
"""One row a scenario and camera: what was measured of the targets in its picture, lists by meter as JSON.

In SQL it is one row a target and one column a meter (see `library.query`).
"""

RUNS = Table("runs", _schema(run_id=TEXT, subject=TEXT, conditions=TEXT), lookup=(ROW_HASH, "run_id"))
"""Evaluations: what was evaluated under which conditions, each as JSON."""

EPISODES = Table(
    "episodes",
    _schema(
        run_id=TEXT, scenario_id=TEXT, seed=WHOLE, attempt=WHOLE, outcome=TEXT, category=TEXT, metrics=TEXT, events=TEXT
    ),
    lookup=(ROW_HASH, "scenario_id"),
    groups=("run_id", "outcome"),
)
"""One row a rollout."""

USES = Table("uses", _schema(run_id=TEXT, ended=TEXT, use=TEXT), lookup=(ROW_HASH, "run_id"))
"""One row a command that rolled a part of a run out: what it asked of its machine, as JSON."""

TABLES = {
    table.name: table
    for table in (SCENARIOS, FACET_RECORDS, VERDICTS, ATTEMPTS, CURATION, METERS, RUNS, EPISODES, USES)
}


def is_proved(row: Columns) -> bool:
    """Tell whether a row's columns are the ones that its hash was made of."""
    return row.get(ROW_HASH) == row_hash(row)
