"""A version's tables as Parquet and CSV, read by other programs."""

import csv

import duckdb
import pyarrow.parquet as pq
import pytest

from library.export_csv import original_text
from library.export_selection import Selection
from library.export_tables import export_csv, export_parquet
from library.tables import SCENARIOS
from scenegen.errors import LibraryError


def quiet(_count):
    pass


def ids(snapshot):
    return [row.scenario_id for row in snapshot.rows()]


def test_parquet_for_other_programs(kept, tmp_path):
    told = []
    counts = export_parquet(kept.at(), Selection(), tmp_path, noted=told.append)
    assert counts == {"scenarios": 8, "facets": 15, "verdicts": 8, "meters": 16, "attempts": 7, "curation": 2}
    assert sum(told) == sum(counts.values())
    for name, count in counts.items():
        found = duckdb.sql(f"SELECT count(*) FROM '{tmp_path / name}.parquet'").fetchall()
        assert found == [(count,)]
    table = pq.read_table(tmp_path / "scenarios.parquet")
    assert table.schema.equals(SCENARIOS.schema)
    assert table["scenario_id"].to_pylist() == ids(kept.at())
    joined = duckdb.sql(
        f"SELECT count(*) FROM '{tmp_path}/scenarios.parquet' s JOIN '{tmp_path}/facets.parquet' f"
        " ON json_extract_string(s.facets, '$.lights') = f.facet_id WHERE s.level = 2 AND s.axis = 'lighting'"
    ).fetchall()
    assert joined == [(2,)]


def test_pages_are_compressed_and_carry_checksums(kept, tmp_path):
    export_parquet(kept.at(), Selection(), tmp_path, noted=quiet)
    path = tmp_path / "facets.parquet"
    column = pq.ParquetFile(path).metadata.row_group(0).column(2)
    assert column.compression == "ZSTD"
    data = bytearray(path.read_bytes())
    data[column.data_page_offset + column.total_compressed_size // 2] ^= 4
    path.write_bytes(bytes(data))
    with pytest.raises(OSError, match="CRC checksum"):
        pq.read_table(path, page_checksum_verification=True)


def test_only_rows_about_the_chosen_scenes(kept, tmp_path):
    counts = export_parquet(kept.at(), Selection(where="level = 0"), tmp_path, noted=quiet)
    assert counts == {"scenarios": 1, "facets": 8, "verdicts": 1, "meters": 2, "attempts": 0, "curation": 0}


def test_equal_versions_give_equal_bytes(kept, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        export_parquet(kept.at(), Selection(), tmp_path / name, noted=quiet)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_csv_of_the_scenes(kept, tmp_path):
    assert export_csv(kept.at(), Selection(), tmp_path, noted=quiet) == {"scenarios": 8}
    with (tmp_path / "scenarios.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["scenario_id"] for row in rows] == ids(kept.at())
    for row, columns in zip(rows, kept.at().columns(), strict=True):
        assert int(row["level"]) == columns["level"]
        assert (float(row["severity"]) if row["severity"] else None) == columns["severity"]
        assert original_text(row["assets"]) == columns["assets"]


def test_a_damaged_table_is_refused(kept, tmp_path):
    name = next(name for name in kept.at().commit.files if name.startswith("tables/scenarios.lance/data/"))
    path = kept.folder / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(LibraryError, match=rf"{path.name}: damaged: its SHA-256 is not"):
        export_parquet(kept.at(), Selection(), tmp_path, noted=quiet)
