"""Questions in SQL over one version: DuckDB reads the Lance tables themselves, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from library.curated import Action, Curated
from library.metering import READINGS
from library.snapshot import Snapshot
from library.tables import EPISODES, METERS, RUNS, SCENARIOS, TABLES
from scenegen.errors import InvalidOption, UnknownName

BATCH = 2_000
"""Rows that are handed out at a time."""
EVERY, MEMBERS, SEVERITIES = "all_scenarios", SCENARIOS.name, "severities"
CERTIFICATES = "certificates"
ORACLE = "oracle"
"""The policy whose successes certify that a scene can be solved."""
QUESTION = "one SELECT"

_KNOWN: dict[str, list[str]] = {
    MEMBERS: [*SCENARIOS.schema.names, "split", "review"],
    EVERY: [*SCENARIOS.schema.names],
    SEVERITIES: ["scenario_id", "axis", "level", "quantity", "value", "unit"],
    CERTIFICATES: ["scenario_id", "solved", "takt_s", "run_id", "seed", "device", "simulator", "scenegen"],
    **{name: list(table.schema.names) for name, table in TABLES.items() if name != SCENARIOS.name},
    **{METERS.name: ["scenario_id", "camera", *READINGS, "version"]},
}
"""Columns by table, as a question names them."""

_SEVERITIES_SQL = """
SELECT scenario_id, setting.axis AS axis, setting.level AS level,
       one.name AS quantity, one.value AS value, one.unit AS unit
FROM (SELECT scenario_id, setting, unnest(setting.severity) AS one
      FROM (SELECT scenario_id, unnest(from_json(axes, '[{"axis": "VARCHAR", "level": "TINYINT",
            "severity": [{"name": "VARCHAR", "value": "DOUBLE", "unit": "VARCHAR"}]}]')) AS setting FROM scenarios))
"""
_READINGS_SQL = f"""
SELECT scenario_id, camera, {", ".join(f"unnest(all_of.{name}) AS {name}" for name in READINGS)}, version
FROM (SELECT scenario_id, camera, version, from_json(readings, '{json.dumps({k: [v] for k, v in READINGS.items()})}')
      AS all_of FROM _meters)
"""
_CERTIFICATES_SQL = f"""
SELECT scenario_id, outcome = 'success' AS solved,
       list_avg(from_json(json_extract(metrics, '$.task.takt_s'), '["DOUBLE"]')) AS takt_s, run_id, seed,
       json_extract_string(conditions, '$.device') AS device,
       CAST(json_extract(conditions, '$.simulator') AS VARCHAR) AS simulator,
       json_extract_string(conditions, '$.scenegen') AS scenegen
FROM episodes JOIN runs USING (run_id)
WHERE subject = '{ORACLE}' AND outcome IN ('success', 'failure') AND json_extract(conditions, '$.explains') IS NULL
"""
_LOCKED = (
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "temp_directory = ''",
    "enable_external_access = false",
    "lock_configuration = true",
)
"""No file is read or written, no extension is loaded, and the question cannot change that."""


@dataclass(frozen=True)
class Answer:
    """The rows that a question gave."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]
    """Once through; read from the tables as they are asked for."""


def ask(snapshot: Snapshot, sql: str) -> Answer:
    """Answer a question in SQL about one version.

    Tables are `scenarios` (the members of the set: without what was dropped, is in quarantine or was rejected; with the
    columns `split` and `review`), `all_scenarios`, `severities` (one row a scenario, axis and quantity), `meters` (one
    row a scenario, camera and target, a column a meter), `certificates` (one row an episode of the oracle that was
    judged: whether it sorted the scene, its mean takt [s], and under what) and `facets`, `verdicts`, `attempts`,
    `curation`, `runs`, `episodes`, `uses` (one row a command of a run: what it asked of its machine). The files of the
    tables that the question names are held against their hashes first.

    Args:
        snapshot: The version.
        sql: One SELECT in DuckDB's SQL.

    Raises:
        InvalidOption: It is no single SELECT, reads or writes files, or means nothing to DuckDB.
        UnknownName: It names a table or a column that is not there.
        LibraryError: A file of a table is damaged or missing.

    Example:
        >>> ask(library.at("v1"), "SELECT axis, count(*) FROM scenarios GROUP BY axis")  # doctest: +SKIP
    """
    connection = duckdb.connect(":memory:")
    named = frozenset[str]()
    try:
        for setting in _LOCKED:  # before DuckDB sees the question: already its analysis would open files
            connection.execute(f"SET {setting}")
        _require_select(connection, sql)
        named = _named(connection, sql)
        _offer(connection, snapshot, named)
        connection.execute(sql)
        columns = tuple(str(one[0]) for one in connection.description or ())
    except duckdb.Error as error:
        raise _explained(error, named) from None
    return Answer(columns, _rows(connection, named))


def _named(connection: duckdb.DuckDBPyConnection, sql: str) -> frozenset[str]:
    """Name the tables of a question; where DuckDB needs their columns to tell (`USING`), all that it might mean."""
    try:
        return frozenset(name.lower() for name in connection.get_table_names(sql))
    except duckdb.BinderException:
        return frozenset(re.findall(r"\w+", sql.lower())) & _KNOWN.keys()


def _require_select(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise InvalidOption("query", f"of {len(statements)} statements", QUESTION)
    kind = statements[0].type
    if kind != duckdb.StatementType.SELECT:
        raise InvalidOption("query", f"that begins with {kind.name.replace('_', ' ')}", QUESTION)


def _offer(connection: duckdb.DuckDBPyConnection, snapshot: Snapshot, named: frozenset[str]) -> None:
    """Make the named tables known: Lance's own data sets, so that filters and columns are pushed down to them."""
    needed = named | ({EPISODES.name, RUNS.name} if CERTIFICATES in named else set())
    for name in sorted(needed & TABLES.keys() - {MEMBERS, METERS.name}):
        _register(connection, snapshot, name, name)
    if CERTIFICATES in named:
        connection.execute(f"CREATE TEMP VIEW {CERTIFICATES} AS {_CERTIFICATES_SQL}")
    if METERS.name in named:
        _register(connection, snapshot, METERS.name, "_meters")
        connection.execute(f"CREATE TEMP VIEW {METERS.name} AS {_READINGS_SQL}")
    if named & {MEMBERS, EVERY, SEVERITIES}:
        _register(connection, snapshot, MEMBERS, EVERY)
    if named & {MEMBERS, SEVERITIES}:
        connection.execute(f"CREATE TEMP VIEW {MEMBERS} AS {_members(connection, snapshot.curated)}")
    if SEVERITIES in named:
        connection.execute(f"CREATE TEMP VIEW {SEVERITIES} AS {_SEVERITIES_SQL}")


def _register(connection: duckdb.DuckDBPyConnection, snapshot: Snapshot, table: str, name: str) -> None:
    dataset = snapshot.table(table).dataset
    connection.register(name, dataset if dataset is not None else TABLES[table].schema.empty_table())


def _members(connection: duckdb.DuckDBPyConnection, curated: Curated) -> str:
    """Return the SELECT behind `scenarios`; without decisions it is the table itself, which is read fastest."""
    columns, joins, where = [], "", ""
    decided = {
        "split": ("base_id", curated.splits),
        "review": ("scenario_id", _values(curated, Action.REVIEW)),
    }
    for name, (key, values) in decided.items():
        if values:
            facts = pa.table({"subject": list(values.keys()), "value": list(values.values())})
            connection.register(f"_{name}", facts)
            joins += f" LEFT JOIN _{name} ON _{name}.subject = every.{key}"
        columns.append(f"{f'_{name}.value' if values else 'NULL::VARCHAR'} AS {name}")
    if curated.hidden:
        connection.register("_hidden", pa.table({"subject": sorted(curated.hidden)}))
        where = " WHERE every.scenario_id NOT IN (SELECT subject FROM _hidden)"
    return f"SELECT every.*, {', '.join(columns)} FROM {EVERY} AS every{joins}{where}"


def _values(curated: Curated, action: Action) -> Mapping[str, str]:
    return {subject: row["value"] for subject, row in curated.latest.get(action, {}).items()}


def _rows(connection: duckdb.DuckDBPyConnection, named: frozenset[str]) -> Iterator[tuple[Any, ...]]:
    try:
        while rows := connection.fetchmany(BATCH):
            yield from rows
    except duckdb.Error as error:
        raise _explained(error, named) from None
    finally:
        connection.close()


def _explained(error: duckdb.Error, named: frozenset[str]) -> InvalidOption | UnknownName:
    """Turn DuckDB's message into a sentence."""
    text = str(error)
    if table := re.search(r"Table with name (\S+) does not exist", text):
        return UnknownName("table", table[1], _KNOWN)
    if column := re.search(r'(?:Referenced column|column named) "([^"]+)"', text):
        tables = sorted(named & _KNOWN.keys())
        return UnknownName("column", column[1], {one for table in tables for one in _KNOWN[table]})
    if isinstance(error, duckdb.PermissionException):
        return InvalidOption("query", "that reads or writes files", f"{QUESTION} over {', '.join(_KNOWN)}")
    reason = text.splitlines()[0].partition(": ")[2] or text.splitlines()[0]
    return InvalidOption("query", f"not understood ({reason[:160]})", f"{QUESTION} over {', '.join(_KNOWN)}")
