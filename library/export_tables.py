"""A version's tables as files of tables: Parquet for programs, CSV for spreadsheets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import repeat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from library.export_csv import write_csv
from library.export_selection import Selection, having
from library.snapshot import Snapshot
from library.tables import ATTEMPTS, CURATION, FACET_RECORDS, METERS, SCENARIOS, VERDICTS, Table

GROUP = 50_000
"""Rows of a row group."""
Noted = Callable[[int], None]
"""Is told how many rows were written since it was told last."""


def export_parquet(snapshot: Snapshot, selection: Selection, folder: Path, *, noted: Noted) -> dict[str, int]:
    """Write the chosen scenarios and all rows about them: facets, verdicts, meters, attempts, decisions.

    Args:
        snapshot: The version.
        selection: Which of its scenes.
        folder: Where `<table>.parquet` files go: zstd, with checksums of pages.
        noted: Told of progress.

    Returns:
        Rows by table.

    Raises:
        InvalidOption: The selection cannot be made.
        LibraryError: The version is damaged.
        OSError: A file cannot be written.
    """
    seen: dict[str, set[str]] = {"scenario": set(), "base": set(), "facet": set(), "expansion": set()}
    kept = (_seen(batch, seen) for batch in selection.batches(snapshot))
    counts = {SCENARIOS.name: _write(SCENARIOS, kept, folder, noted)}
    about: Mapping[Table, tuple[str, set[str]]] = {
        FACET_RECORDS: ("facet_id", seen["facet"]),
        VERDICTS: ("scenario_id", seen["scenario"]),
        METERS: ("scenario_id", seen["scenario"]),
        ATTEMPTS: ("expansion", seen["expansion"]),
        CURATION: ("subject", seen["scenario"] | seen["base"]),
    }
    for table, (column, values) in about.items():
        whole = snapshot.table(table.name).batches()
        chosen = map(having, whole, repeat(column), repeat(values))
        counts[table.name] = _write(table, chosen, folder, noted)
    return counts


def export_csv(snapshot: Snapshot, selection: Selection, folder: Path, *, noted: Noted) -> dict[str, int]:
    """Write the chosen scenarios as `scenarios.csv`; see `library.export_csv` for how text is made harmless.

    Raises:
        InvalidOption: The selection cannot be made.
        LibraryError: The version is damaged.
        OSError: The file cannot be written.
    """

    def rows() -> Iterator[Mapping[str, object]]:
        for batch in selection.batches(snapshot):
            yield from batch.to_pylist()
            noted(batch.num_rows)

    with (folder / "scenarios.csv").open("w", encoding="utf-8", newline="") as file:
        return {SCENARIOS.name: write_csv(file, SCENARIOS.schema.names, rows())}


def _seen(batch: pa.RecordBatch, seen: dict[str, set[str]]) -> pa.RecordBatch:
    """Remember what the rows of other tables will be chosen by."""
    seen["scenario"].update(batch["scenario_id"].to_pylist())
    seen["base"].update(batch["base_id"].to_pylist())
    seen["expansion"].update(one for one in batch["expansion"].to_pylist() if one is not None)
    seen["facet"].update(one for one in batch["layout_id"].unique().to_pylist() if one is not None)
    for others in batch["facets"].unique().to_pylist():
        seen["facet"].update(json.loads(others).values())
    return batch


def _write(table: Table, batches: Iterable[pa.RecordBatch], folder: Path, noted: Noted) -> int:
    """Write one table in row groups of one size, whatever the sizes of the batches."""
    count, waiting, rows = 0, list[pa.RecordBatch](), 0
    path = folder / f"{table.name}.parquet"
    with pq.ParquetWriter(path, table.schema, compression="zstd", write_page_checksum=True) as writer:
        for batch in batches:
            waiting.append(batch)
            rows += batch.num_rows
            count += batch.num_rows
            noted(batch.num_rows)
            if rows >= GROUP:
                writer.write_table(pa.Table.from_batches(waiting, table.schema), row_group_size=GROUP)
                waiting, rows = [], 0
        writer.write_table(pa.Table.from_batches(waiting, table.schema), row_group_size=GROUP)
    return count
