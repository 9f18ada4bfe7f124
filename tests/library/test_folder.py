"""The folder library: what is published is whole, what is not does not matter, and errors are sentences."""

import errno
import json
import os

import pytest

from library.folder import FolderLibrary, library_error
from library.row import Line, Row
from scenegen.errors import LibraryError
from scenegen.record import content_hash


def row(index: int) -> Row:
    return Row(kind="variant", expansion="e", index=index, scenario_id=f"{index:024x}", cell_id="c")


def line(index: int) -> Line:
    return Line.of(row(index))


@pytest.fixture
def library(tmp_path):
    return FolderLibrary.create(tmp_path / "lib")


def test_rows_come_back_in_the_order_of_their_commits(library):
    library.commit([line(0), line(1)])
    library.commit([])
    library.commit([line(2)])
    assert [r.index for r in FolderLibrary.open(library.folder).rows()] == [0, 1, 2]


def test_files_are_written_whole_and_hashed(library):
    assert library.write("scenes/ab/x.usda", b"text") == content_hash(b"text")
    assert library.path("scenes/ab/x.usda").read_bytes() == b"text"
    assert [p.name for p in library.path("scenes/ab").iterdir()] == ["x.usda"]


def test_a_torn_last_line_is_not_published_and_the_next_writer_cuts_it(library):
    library.commit([line(0)])
    manifest = library.folder / "manifest.jsonl"
    with manifest.open("ab") as file:
        file.write(row(1).canonical_json().encode()[:50])
    assert [r.index for r in library.rows()] == [0]
    library.lock()
    library.commit([line(2)])
    library.close()
    assert [r.index for r in library.rows()] == [0, 2]


def test_the_next_writer_clears_what_a_killed_one_was_writing(library):
    library.path("scratch").mkdir(exist_ok=True)
    library.path("scratch/4711").write_bytes(b"half")
    library.lock()
    library.close()
    assert list(library.path("scratch").iterdir()) == []


def test_a_manifest_of_only_a_torn_line_is_cut_to_nothing(library):
    (library.folder / "manifest.jsonl").write_bytes(b'{"kind"')
    library.lock()
    library.close()
    assert (library.folder / "manifest.jsonl").read_bytes() == b""


def test_a_damaged_line_is_named(library):
    library.commit([line(0), line(1)])
    manifest = library.folder / "manifest.jsonl"
    manifest.write_bytes(b"x" + manifest.read_bytes())
    with pytest.raises(LibraryError) as caught:
        list(library.rows())
    assert str(caught.value) == f"{manifest}: line 1 is damaged - restore the manifest from a backup"


def test_there_is_one_writer(library):
    library.lock()
    with pytest.raises(LibraryError) as caught:
        FolderLibrary.create(library.folder).lock()
    assert str(caught.value) == (
        f"{library.folder}: another process writes to this library - wait for it, or choose another folder"
    )
    library.close()
    other = FolderLibrary.create(library.folder)
    other.lock()
    other.close()


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "photo.jpg").write_bytes(b"x")
    with pytest.raises(LibraryError) as caught:
        FolderLibrary.create(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: the folder holds other files and is no library - choose an empty or a new folder"
    )
    assert [p.name for p in tmp_path.iterdir()] == ["photo.jpg"]


def test_no_library_is_told(tmp_path):
    with pytest.raises(LibraryError) as caught:
        FolderLibrary.open(tmp_path / "none")
    assert str(caught.value) == f"{tmp_path / 'none'}: no library there - make one with `scenegen expand`"


def test_a_newer_format_is_refused(library):
    (library.folder / "library.json").write_text(json.dumps({"format": "scenegen-folder-library", "version": 9}))
    with pytest.raises(LibraryError, match=r"version 9 is not known \(this is version 1\) - install a newer scenegen$"):
        FolderLibrary.open(library.folder)


def test_a_path_through_a_file_is_told(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(LibraryError) as caught:
        FolderLibrary.create(tmp_path / "file" / "lib")
    assert str(caught.value) == (
        f"{tmp_path / 'file' / 'lib'}: a part of the path is a file - choose another folder with --library"
    )


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (errno.ENOSPC, "x: the disk is full - free some room and run the command again; what was kept stays"),
        (errno.EROFS, "x: the file system is read-only - choose another folder with --library"),
        (errno.EACCES, "x: no permission to write - choose another folder with --library, or change its permissions"),
    ],
)
def test_operating_system_errors_become_sentences(code, sentence):
    assert str(library_error("x", OSError(code, os.strerror(code)))) == sentence


def test_a_full_disk_publishes_nothing_and_loses_nothing(library, monkeypatch):
    library.commit([line(0)])

    def full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LibraryError, match="the disk is full"):
        library.commit([line(1)])
    monkeypatch.undo()
    assert [r.index for r in library.rows()] == [0]
    library.commit([line(2)])
    assert [r.index for r in library.rows()] == [0, 2]


def test_a_failed_write_leaves_no_scratch_file(library, monkeypatch):
    def full(_source, _target):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(LibraryError, match="the disk is full"):
        library.write("scenes/a.usda", b"text")
    assert list(library.path("scenes").iterdir()) == []
    assert list(library.path("scratch").iterdir()) == []


def test_find_wants_one_scenario(library):
    library.commit([line(0), line(1)])
    assert library.find(f"{1:024x}").index == 1
    with pytest.raises(LibraryError, match="2 scenarios have an id that starts with '00'"):
        library.find("00")
    with pytest.raises(LibraryError, match=r"no scenario 'ff' - list ids with `scenegen library list`$"):
        library.find("ff")
