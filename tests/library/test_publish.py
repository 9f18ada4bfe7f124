"""Publishing: what is new is kept once, the old version stays, and a refusal is a sentence that changes nothing."""

import dataclasses
import itertools
import json
import os
import shutil
import threading

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import library.versioned
from library.commit import FORMAT, FileFacts, advanced
from library.lance_file import require_whole
from library.lance_table import FRAGMENTS
from library.row import ROW_HASH, attempt_columns, sealed
from library.tables import ATTEMPTS, TABLES
from library.versioned import MARKER, Changes, Signature, VersionedLibrary, installed
from scenegen.errors import InvalidOption, InvalidRecord, LibraryError, UnknownName

SIGNED = Signature("test")
ID = "e" * 24


def rows(*indices, **more):
    """Rows of the table `attempts`."""
    return [sealed({**attempt_columns(ID, index, None, {}), **more}) for index in indices]


def publish(library, *indices, branch="main", **more):
    return library.publish(Changes(rows={"attempts": rows(*indices, **more)}), SIGNED, branch=branch)


def kept(snapshot):
    return snapshot.table("attempts").scan().column("index").to_pylist()


@pytest.fixture
def library_(tmp_path):
    return VersionedLibrary.create(tmp_path / "library")


def test_a_new_library_is_empty_and_takes_rows_in_order(library_):
    assert list(library_.at().rows()) == []
    first = publish(library_, 3, 1, 2)
    assert (first.number, first.parent, first.added) == (0, None, {"attempts": 3})
    second = publish(library_, 0)
    assert (second.number, second.parent) == (1, first.ref)
    assert kept(library_.at()) == [3, 1, 2, 0]
    assert kept(library_.at("main@0")) == [3, 1, 2]


def test_rows_that_are_there_are_left_out(library_):
    publish(library_, 1, 2)
    commit = publish(library_, 2, 3, 3)
    assert commit.added == {"attempts": 1}
    assert kept(library_.at()) == [1, 2, 3]


def test_nothing_new_is_no_commit(library_):
    publish(library_, 1)
    assert publish(library_, 1) is None
    assert library_.publish(Changes(), SIGNED) is None
    assert library_.history.head("main").number == 0


def test_files_alone_are_a_commit_once(library_):
    publish(library_, 1)
    files = library_.keep_file("records/a.json", b"{}")
    assert library_.publish(Changes(files=files), SIGNED).files["records/a.json"].size == 2
    assert library_.publish(Changes(files=files), SIGNED) is None


def test_a_file_that_was_kept_keeps_its_content(library_):
    publish(library_, 1)
    library_.publish(Changes(files=library_.keep_file("records/a.json", b"{}")), SIGNED)
    other = {"records/a.json": FileFacts(size=1, sha256="0" * 64)}
    with pytest.raises(LibraryError, match=r"records/a\.json: damaged: its SHA-256 is not"):
        library_.publish(Changes(files=other), SIGNED)


def test_a_branch_begins_where_its_origin_ends(library_):
    publish(library_, 1)
    origin = publish(library_, 2)
    begun = library_.branch("trial", origin, SIGNED)
    assert (begun.number, begun.parent, begun.fingerprint) == (2, origin.ref, origin.fingerprint)
    publish(library_, 3, branch="trial")
    publish(library_, 4)
    assert kept(library_.at("trial")) == [1, 2, 3]
    assert kept(library_.at()) == [1, 2, 4]


def test_a_closed_branch_takes_no_more(library_):
    publish(library_, 1)
    library_.branch("trial", library_.history.head("main"), SIGNED)
    library_.branch("trial", library_.history.head("trial"), SIGNED, closed=True)
    with pytest.raises(LibraryError) as raised:
        publish(library_, 2, branch="trial")
    assert str(raised.value) == f"{library_.folder}: branch trial is closed - make another branch"
    assert kept(library_.at("trial")) == [1]


def test_a_branch_that_is_not_there_is_named(library_):
    publish(library_, 1)
    with pytest.raises(UnknownName) as raised:
        publish(library_, 2, branch="mian")
    assert str(raised.value) == "unknown branch 'mian' - did you mean 'main'?"


@pytest.mark.parametrize("name", ["", "a b", "../x", "a/b", "a\n", "-a", "a.b", "x" * 65])
def test_names_that_no_branch_can_have(library_, name):
    commit = publish(library_, 1)
    with pytest.raises(InvalidOption) as raised:
        library_.branch(name, commit, SIGNED)
    assert str(raised.value) == f"branch {name!r} - accepted: letters, digits, _ -, beginning with a letter or digit"


def test_a_name_is_given_to_one_branch_or_tag(library_):
    commit = publish(library_, 1)
    library_.branch("trial", commit, SIGNED)
    library_.tag("v1", commit)
    for name in ("trial", "v1", "main"):
        with pytest.raises(LibraryError) as raised:
            library_.branch(name, commit, SIGNED)
        assert str(raised.value) == f"{library_.folder}: {name} names a branch or a tag already - choose another name"


def test_a_branch_begun_elsewhere_at_the_same_time_waits_and_is_refused(library_, monkeypatch):
    first, second = publish(library_, 1), publish(library_, 2)
    other, create, refused = VersionedLibrary.open(library_.folder), library_.files.create, []

    def begin_elsewhere():
        try:
            other.branch("trial", second, SIGNED)
        except LibraryError as error:
            refused.append(str(error))

    thread = threading.Thread(target=begin_elsewhere)

    def overtaken(path, data):
        thread.start()
        thread.join(0.3)  # time enough to begin the branch, if nothing holds the other back
        return create(path, data)

    monkeypatch.setattr(library_.files, "create", overtaken)
    begun = library_.branch("trial", first, SIGNED)
    thread.join()
    assert refused == [f"{library_.folder}: trial names a branch or a tag already - choose another name"]
    assert library_.history.head("trial") == begun


def test_a_message_that_is_too_long_is_a_sentence(library_):
    with pytest.raises(InvalidRecord, match=r"^commit: message: 'mmm.* - accepted: String should have at most 2000"):
        library_.publish(Changes(rows={"attempts": rows(1)}), Signature("m" * 2001))


def test_names_of_people_and_commands_with_odd_characters_are_kept_in_printable_words(library_, monkeypatch):
    monkeypatch.setenv("SCENEGEN_AUTHOR", "A\nB\udcff")
    monkeypatch.setattr("sys.argv", ["/bin/scenegen", "expand", "--library", "a\udcff"])
    commit = library_.publish(Changes(rows={"attempts": rows(1)}), Signature.here("m"))
    assert (commit.author, commit.command) == ("A?B?", ("scenegen", "expand", "--library", "a\\udcff"))
    assert commit.packages == installed()
    assert library_.history.head("main") == commit


def test_order_is_by_number_whatever_the_clock_says(library_, monkeypatch):
    times = iter(["2026-01-03T00:00:00+00:00", "2026-01-02T00:00:00+00:00", "2026-01-01T00:00:00+00:00"])
    monkeypatch.setattr(library.versioned, "now", lambda: next(times))
    for index in range(3):
        publish(library_, index)
    assert [commit.number for commit in library_.history.log(library_.history.head("main"))] == [2, 1, 0]
    assert kept(library_.at()) == [0, 1, 2]


def test_a_writer_that_comes_second_publishes_on_top(library_, monkeypatch):
    publish(library_, 0)
    other, create, raced = VersionedLibrary.open(library_.folder), library_.files.create, []

    def second(path, data):
        if not raced:
            raced.append(publish(other, 1))
        return create(path, data)

    monkeypatch.setattr(library_.files, "create", second)
    assert publish(library_, 2).number == 2
    assert kept(library_.at()) == [0, 1, 2]


def test_a_writer_that_never_comes_first_gives_up_with_a_sentence(library_, monkeypatch):
    publish(library_, 0)
    head = library_.history.head("main")
    monkeypatch.setattr(library.versioned, "TRIES", 3)
    monkeypatch.setattr(library_.files, "create", lambda path, data: False)
    monkeypatch.setattr(library_.history, "read", lambda branch, number: head)
    with pytest.raises(LibraryError) as raised:
        publish(library_, 1)
    assert str(raised.value) == (
        f"{library_.folder}: others committed 3 times while this writer tried - run the command again"
    )


@settings(max_examples=100)
@given(hashes=st.lists(st.text("0123456789abcdef", min_size=24, max_size=24)), data=st.data())
def test_the_fingerprint_depends_on_neither_order_nor_batches(hashes, data):
    whole, begin = advanced("0" * 64, hashes), "0" * 64
    shuffled = data.draw(st.permutations(hashes))
    while shuffled:
        size = data.draw(st.integers(1, len(shuffled)))
        begin, shuffled = advanced(begin, shuffled[:size]), shuffled[size:]
    assert begin == whole
    assert len(whole) == 64
    assert advanced(whole, ["0" * 24]) != whole


@settings(max_examples=6)
@given(order=st.permutations(range(6)), cuts=st.sets(st.integers(1, 5)))
def test_libraries_of_equal_rows_have_equal_fingerprints(tmp_path_factory, order, cuts):
    library_ = VersionedLibrary.create(tmp_path_factory.mktemp("fingerprint") / "library")
    edges = [0, *sorted(cuts), 6]
    for begin, end in itertools.pairwise(edges):
        publish(library_, *order[begin:end])
    assert library_.history.head("main").fingerprint == advanced("0" * 64, [row[ROW_HASH] for row in rows(*range(6))])


def test_small_fragments_are_joined_and_nothing_is_lost(library_):
    count = FRAGMENTS + 3
    for index in range(count):
        publish(library_, index)
    table = library_.at().table("attempts")
    assert kept(library_.at()) == list(range(count))
    assert len(table.dataset.get_fragments()) <= FRAGMENTS
    wanted = [row[ROW_HASH] for row in rows(*range(count))]
    assert len(table.look_up(ROW_HASH, wanted)) == count


@pytest.fixture
def newer(monkeypatch):
    """A table `attempts` as a later scenegen may have it: with one more column."""
    fields = [*list(ATTEMPTS.schema)[:-1], pa.field("note", pa.string()), ATTEMPTS.schema.field(ROW_HASH)]
    later = dataclasses.replace(ATTEMPTS, schema=pa.schema(fields))

    def chosen(yes):
        monkeypatch.setitem(TABLES, "attempts", later if yes else ATTEMPTS)

    return chosen


def test_columns_of_a_newer_scenegen_stay(library_, newer):
    newer(True)
    publish(library_, 0, note="from the future")
    newer(False)
    for index in range(1, FRAGMENTS + 3):
        publish(library_, index)
    assert library_.at().table("attempts").look_up(ROW_HASH, [rows(0, note="from the future")[0][ROW_HASH]])
    newer(True)
    notes = library_.at().table("attempts").scan().column("note").to_pylist()
    assert notes == ["from the future", *[None] * (FRAGMENTS + 2)]


def test_columns_that_are_new_are_null_in_older_rows(library_, newer):
    publish(library_, 0, 1)
    newer(True)
    assert library_.at().table("attempts").scan(columns=["note", "index"]).to_pylist() == [
        {"note": None, "index": 0},
        {"note": None, "index": 1},
    ]
    publish(library_, 2, note="new")
    assert publish(library_, 0, 1) is None
    assert library_.at().table("attempts").scan().column("note").to_pylist() == [None, None, "new"]
    assert library_.at("main@0").table("attempts").scan().column("note").to_pylist() == [None, None]


def test_a_file_that_lacks_bytes_in_the_middle_is_not_published(library_):
    commit = publish(library_, 0)
    for path in commit.files:
        file = library_.files.local(path)
        require_whole(file)
        whole = file.read_bytes()
        for damage in (whole[1:], whole[:-1], whole[: len(whole) // 3] + whole[len(whole) // 2 :], b"", whole[-9:]):
            file.write_bytes(damage)
            with pytest.raises(LibraryError) as raised:
                require_whole(file)
            assert str(raised.value) == (
                f"{file}: not all of it reached the disk - check the disk and its room, and run the command again"
            )


def test_a_damaged_table_is_named_once_and_takes_no_rows(library_):
    commit = publish(library_, 0)
    path = library_.files.local(next(one for one in commit.files if "/data/" in one))
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(LibraryError) as raised:
        publish(library_, 1)
    assert str(raised.value) == (
        f"{path}: damaged: its SHA-256 is not {commit.files[str(path.relative_to(library_.folder))].sha256[:12]}…"
        " - `scenegen library verify` names all damage and what can be done"
    )


@pytest.mark.parametrize(
    "name", ["a b", "it's", '"q"', "ünïcødé 文", "50%20", "a#b?c", "C:", "~", "back\\slash", "[1]*"]
)
def test_libraries_with_odd_names(tmp_path, monkeypatch, name):
    publish(VersionedLibrary.create(tmp_path / name), 1)
    publish(VersionedLibrary.open(tmp_path / name), 2)
    assert kept(VersionedLibrary.open(tmp_path / name).at()) == [1, 2]
    monkeypatch.chdir(tmp_path)
    publish(VersionedLibrary.open(name), 3)
    assert kept(VersionedLibrary.open(name).at()) == [1, 2, 3]


@pytest.mark.parametrize("relative", ["s3:/bucket", "file:x", "~", "memory:a"])
def test_relative_paths_that_look_like_addresses_are_folders(tmp_path, monkeypatch, relative):
    monkeypatch.chdir(tmp_path)
    publish(VersionedLibrary.create(relative), 1)
    assert kept(VersionedLibrary.open(tmp_path / relative).at()) == [1]


def test_a_name_that_lance_cannot_write_is_refused_before_anything_is_made(tmp_path):
    with pytest.raises(LibraryError, match="the path holds control characters or bytes that are no UTF-8"):
        VersionedLibrary.create(tmp_path / "new\nline")
    assert list(tmp_path.iterdir()) == []


def test_a_library_may_be_moved_and_linked(library_, tmp_path):
    publish(library_, 1)
    shutil.move(library_.folder, tmp_path / "moved")
    (tmp_path / "link").symlink_to(tmp_path / "moved")
    publish(VersionedLibrary.open(tmp_path / "link"), 2)
    assert kept(VersionedLibrary.open(tmp_path / "moved").at()) == [1, 2]
    assert VersionedLibrary.open(tmp_path / "moved").name == "library"


def test_a_library_of_a_newer_format_is_refused(library_):
    (library_.folder / MARKER).write_text(
        json.dumps({"format": "scenegen-library", "version": FORMAT + 1, "name": "x"})
    )
    sentence = (
        f"{library_.folder}: format {FORMAT + 1} is newer than this scenegen knows ({FORMAT})"
        " - install a newer scenegen; nothing was changed"
    )
    for opened in (VersionedLibrary.open, VersionedLibrary.create):
        with pytest.raises(LibraryError) as raised:
            opened(library_.folder)
        assert str(raised.value) == sentence


def test_a_commit_of_a_newer_format_is_refused(library_):
    commit = publish(library_, 1)
    path = library_.files.local(commit.path)
    content = json.loads(path.read_text())
    content["commit"]["format"] = FORMAT + 1
    path.write_text(json.dumps(content, indent=1))
    with pytest.raises(LibraryError, match=rf"00000000\.json: format {FORMAT + 1} is newer than this scenegen knows"):
        library_.at()


def test_a_folder_with_other_files_is_no_library(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(LibraryError) as raised:
        VersionedLibrary.create(tmp_path)
    assert str(raised.value) == (
        f"{tmp_path}: the folder holds other files and is no library - choose an empty or a new folder"
    )
    with pytest.raises(LibraryError) as raised:
        VersionedLibrary.open(tmp_path)
    assert str(raised.value) == f"{tmp_path}: no library there - make one with `scenegen expand`"


def test_what_an_interrupted_creation_left_is_no_hindrance(tmp_path):
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch" / "1-ab").write_text("{")
    assert kept(VersionedLibrary.create(tmp_path).at()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root; the crash tests refuse each call instead")
def test_a_read_only_library_is_read_and_not_written(library_):
    publish(library_, 1)
    for path in (library_.folder, *library_.folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert kept(VersionedLibrary.open(library_.folder).at()) == [1]
        with pytest.raises(LibraryError, match="no permission to write - choose another folder with --library"):
            VersionedLibrary.create(library_.folder)
    finally:
        for path in (library_.folder, *library_.folder.rglob("*")):
            path.chmod(0o755)
