"""`scenegen library export` as a user types it."""

import json

import pytest
from typer.testing import CliRunner

from scenegen.commands.library_export import app
from scenegen.errors import InvalidOption, UnknownName


def export(*arguments, expect=0):
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == expect, result.output
    return result.stdout


@pytest.mark.parametrize(
    ("kind", "files"),
    [
        ("usd", ["assets", "cells", "layouts", "provenance.json", "scenes", "scenes.csv"]),
        (
            "parquet",
            [f"{name}.parquet" for name in ("attempts", "curation", "facets", "meters", "scenarios", "verdicts")],
        ),
        ("csv", ["scenarios.csv"]),
    ],
)
def test_formats(kept, tmp_path, kind, files):
    assert export(kept.folder, "-o", tmp_path / "out", "--format", kind).startswith(f"wrote {tmp_path / 'out'}: ")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == files


def test_packages_and_a_report_for_machines(kept, tmp_path):
    said = json.loads(export(kept.folder, "-o", tmp_path / "out", "--format", "usdz", "--limit", "1", "--json"))
    assert (said["event"], said["scenes"], said["output"]) == ("done", 1, str(tmp_path / "out"))
    assert len(list((tmp_path / "out").glob("*.usdz"))) == 1


def test_filters_and_versions(kept, tmp_path):
    def count(*arguments):
        return json.loads(export(*arguments, "-o", tmp_path / "out", "--format", "csv", "--force", "--json"))[
            "scenarios"
        ]

    assert count(kept.folder) == 8
    assert count(kept.folder, "--version", "v1") == 5
    assert count(f"{kept.folder}@trial") == 6
    assert count(kept.folder, "--axis", "lighting") == 7
    assert count(kept.folder, "--level", "2-3") == 4
    assert count(kept.folder, "--level", "2-3", "--where", "level = 2 OR level = 0") == 2
    assert count(kept.folder, "--limit", "3") == 3


def test_what_is_there_is_refused_unless_forced(kept, tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(InvalidOption, match="or --force to replace what is there"):
        export(kept.folder, "-o", tmp_path / "out")
    export(kept.folder, "-o", tmp_path / "out", "--format", "csv", "--force")
    assert (tmp_path / "out" / "scenarios.csv").is_file()


def test_a_bad_condition_leaves_nothing(kept, tmp_path):
    with pytest.raises(InvalidOption, match=r"^--where \(nope = 1\)"):
        export(kept.folder, "-o", tmp_path / "out", "--where", "nope = 1")
    assert not (tmp_path / "out").exists()
    with pytest.raises(UnknownName, match="unknown version 'v9'"):
        export(kept.folder, "-o", tmp_path / "out", "--version", "v9")
