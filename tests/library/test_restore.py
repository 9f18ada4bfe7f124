"""`restore`: what can be made again is, byte for byte; the rest comes from a copy, or stays named."""

import os
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from library import lance_table
from library import restore as restoring
from library.commit import COPIES
from library.journal import Journal
from library.restore import restore
from library.verify import verify
from library.versioned import VersionedLibrary, marker
from scenegen.commands.exits import EXIT_FINDINGS
from scenegen.commands.library_restore import app
from scenegen.errors import InvalidOption, LibraryError

MADE_AGAIN = ("usd/v1/scenes", "usd/v1/layouts", "usd/v1/assets", "usd/v1/cells")


@pytest.fixture
def copy(kept_folder, tmp_path) -> Path:
    """A copy of the library that nothing happened to."""
    return shutil.copytree(kept_folder, tmp_path / "copy")


def wreck(library: VersionedLibrary, path: str, *, how: str = "rot") -> bytes:
    """Damage a file; return what it was."""
    target = library.files.local(path)
    data = target.read_bytes()
    if how == "remove":
        target.unlink()
    else:
        target.write_bytes(data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 4]) + data[len(data) // 2 + 1 :])
    lance_table._checked.clear()
    return data


def files_of(library: VersionedLibrary, folder: str) -> list[str]:
    return sorted(listed.path for listed in library.files.list(folder))


def test_a_whole_library_stays_as_it_is(kept):
    before = {path: kept.files.local(path).stat().st_mtime_ns for path in files_of(kept, "")}
    result = restore(kept.folder)
    assert (result.mended, result.report.ok) == ({}, True)
    assert {path: kept.files.local(path).stat().st_mtime_ns for path in files_of(kept, "")} == before


@pytest.mark.parametrize("how", ["rot", "remove"])
@pytest.mark.parametrize("folder", MADE_AGAIN)
def test_usd_files_are_made_again_byte_for_byte(kept, folder, how):
    before = {path: wreck(kept, path, how=how) for path in files_of(kept, folder)}
    result = restore(kept.folder)
    assert result.report.ok
    assert result.mended == dict.fromkeys(before, "made again")
    assert {path: kept.files.read(path) for path in before} == before


def test_everything_made_again_at_once(kept):
    before = {path: wreck(kept, path) for folder in MADE_AGAIN for path in files_of(kept, folder)}
    assert restore(kept.folder).report.ok
    assert {path: kept.files.read(path) for path in before} == before


@pytest.mark.parametrize("how", ["rot", "remove"])
def test_commits_tags_and_the_marker_come_from_their_second_copies(kept, how):
    paths = [*files_of(kept, "branches"), *files_of(kept, "tags"), "library.json"]
    before = {path: wreck(kept, path, how=how) for path in paths}
    result = restore(kept.folder)
    assert result.report.ok
    assert result.mended == dict.fromkeys(paths, "its second copy")
    assert {path: kept.files.read(path) for path in before} == before


def test_second_copies_come_from_the_files_themselves(kept):
    paths = files_of(kept, COPIES)
    before = {path: wreck(kept, path) for path in paths[:3]} | {p: wreck(kept, p, how="remove") for p in paths[3:]}
    result = restore(kept.folder)
    assert result.report.ok
    assert result.mended == dict.fromkeys(paths[:3], "the file itself")
    assert {path: kept.files.read(path) for path in before} == before


def test_a_second_copy_of_another_commit_is_not_taken(kept):
    path = "branches/main/00000001.json"
    other = kept.history.read("main", 1).replaced(message="another")
    kept.files.put(f"{COPIES}/{path}", other.to_file())
    wreck(kept, path)
    result = restore(kept.folder)
    assert path in [one.path for one in result.report.damage]
    assert path not in result.mended


def test_without_any_copy_the_marker_is_named_after_the_folder(kept):
    kept.files.delete("library.json")
    kept.files.delete(f"{COPIES}/library.json")
    assert restore(kept.folder).mended == {"library.json": "named after its folder"}
    assert kept.files.read("library.json") == marker("scenes") == kept.files.read(f"{COPIES}/library.json")


def test_tables_and_records_come_from_a_copy(kept, copy):
    paths = [path for path in kept.history.find("main").files if path.startswith(("tables/", "records/"))]
    before = {path: wreck(kept, path) for path in paths}
    result = restore(kept.folder)
    assert (result.mended, len(result.report.damage)) == ({}, len(paths))
    assert result.report.damage[-1].remedy == (
        "take it from a copy: `scenegen library restore --from COPY`; versions that do not need it stay usable"
    )
    result = restore(kept.folder, copy=copy)
    assert (result.report.ok, result.mended) == (True, dict.fromkeys(paths, "the copy"))
    assert {path: kept.files.read(path) for path in before} == before


def test_a_damaged_copy_is_not_taken(kept, copy):
    paths = files_of(kept, "records")
    for path in paths:
        wreck(kept, path)
    (copy / paths[0]).write_bytes(b"{}")
    result = restore(kept.folder, copy=copy)
    assert list(result.mended) == paths[1:]
    assert [one.path for one in result.report.damage] == paths[:1]


def test_layers_are_made_from_an_older_version_where_the_newest_table_is_damaged(kept):
    row = next(kept.at("v1").rows())
    layer = f"usd/v1/scenes/{row.scenario_id[:2]}/{row.scenario_id}.usda"
    head = kept.history.find("main@1")
    table = next(p for p in head.files if "scenarios.lance/data" in p and p not in kept.history.find("v1").files)
    wreck(kept, table)
    before = wreck(kept, layer)
    result = restore(kept.folder)
    assert [one.path for one in result.report.damage] == [table]
    assert kept.files.read(layer) == before


def test_what_would_have_other_bytes_is_not_written(kept, monkeypatch):
    path = files_of(kept, "usd/v1/assets")[0]
    wreck(kept, path, how="remove")
    monkeypatch.setattr(restoring, "part_bytes", lambda part: b"another version of OpenUSD")
    result = restore(kept.folder)
    assert result.refused == {
        path: "made again, it has other bytes than those that were kept: other versions of packages write it otherwise"
    }
    assert not kept.files.local(path).exists()


def test_damaged_lines_of_journals_are_dropped(kept, scene_maker):
    path = scene_maker.journal(kept, range(8, 12))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1].replace(b"a", b"b") + lines[2] + lines[3][:-5])
    result = restore(kept.folder)
    assert result.report.ok
    assert result.mended == {
        f"staging/{path.name}": "2 damaged lines dropped: run `scenegen expand` again, it makes those scenes again"
    }
    assert path.read_bytes() == lines[0] + lines[2]
    assert [line.index for line in Journal(kept.folder, path.stem).lines()] == [8, 10]


def test_a_full_disk_leaves_the_library_as_it_was(kept, monkeypatch):
    path = files_of(kept, "usd/v1/scenes")[0]
    wreck(kept, path, how="remove")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(LibraryError, match="the disk is full"):
            restore(kept.folder)
    assert [one.path for one in verify(kept).damage] == [path]
    assert restore(kept.folder).report.ok


def test_the_command_tells_and_exits(kept, copy):
    layer, record = files_of(kept, "usd/v1/scenes")[0], files_of(kept, "records")[0]
    wreck(kept, layer)
    wreck(kept, record)
    run = CliRunner().invoke(app, [str(kept.folder)])
    assert run.exit_code == EXIT_FINDINGS
    assert f"restored {layer}: made again\n" in run.stdout
    assert f"DAMAGED {record}: its SHA-256 is not" in run.stdout
    assert run.stdout.endswith("1 files restored, 1 are damaged still\n")
    run = CliRunner().invoke(app, [str(kept.folder), "--from", str(copy)])
    assert (run.exit_code, run.stdout) == (
        0,
        f"restored {record}: the copy\n1 files restored, 0 are damaged still\n",
    )


def test_the_command_refuses_what_is_no_copy(kept):
    for given in ("nowhere", str(kept.folder)):
        with pytest.raises(InvalidOption, match="another folder, with a copy of the library"):
            CliRunner().invoke(app, [str(kept.folder), "--from", given], catch_exceptions=False)
