"""Files are written whole or not at all, created once, listed, and every error is one sentence."""

import errno
import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from library.files import SCRATCH, FolderFiles, library_error, require_usable, unreadable
from scenegen.errors import LibraryError

NAMES = st.text("abcdef._-", min_size=1, max_size=8).filter(lambda name: name.strip("."))
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


@pytest.fixture
def files(tmp_path):
    return FolderFiles(tmp_path / "root")


def scratch(files):
    return sorted(one.path for one in files.list(SCRATCH))


@given(data=st.binary(max_size=2000), path=PATHS, durable=st.booleans())
def test_what_was_put_is_read_back(tmp_path_factory, data, path, durable):
    files = FolderFiles(tmp_path_factory.mktemp("files"))
    files.put(path, b"before")
    files.put(path, data, durable=durable)
    assert files.read(path) == data
    assert [one.path for one in files.list("")] == [path]
    assert [one.size for one in files.list("")] == [len(data)]
    assert scratch(files) == []


def test_a_file_is_created_once(files):
    assert files.create("branches/main/0.json", b"first")
    assert not files.create("branches/main/0.json", b"second")
    assert files.read("branches/main/0.json") == b"first"
    assert scratch(files) == []


def test_of_two_roots_at_one_folder_only_one_creates_a_file(files):
    other = FolderFiles(files.folder)
    assert [files.create("a", b"1"), other.create("a", b"2")] == [True, False]
    assert other.read("a") == b"1"


def test_files_are_readable_by_others(files):
    files.put("a", b"")
    files.create("b", b"")
    assert {stat.S_IMODE(files.local(name).stat().st_mode) for name in ("a", "b")} == {0o644 & ~_umask()}


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_file_that_is_not_there(files):
    with pytest.raises(FileNotFoundError):
        files.read("a")
    with pytest.raises(FileNotFoundError):
        files.digest("a")
    files.delete("a")
    assert list(files.list("a")) == []


def test_deleted_is_gone(files):
    files.put("a/b", b"x")
    files.delete("a/b")
    assert list(files.list("")) == []


def test_the_folder_for_scratch_files_may_be_removed_meanwhile(files):
    files.put("a/b", b"1")
    (files.folder / SCRATCH).rmdir()
    files.put("a/b", b"2")
    (files.folder / SCRATCH).rmdir()
    assert files.create("a/c", b"3")
    assert (files.read("a/b"), files.read("a/c")) == (b"2", b"3")


def test_names_of_folders_are_durable_up_to_the_root(files, monkeypatch):
    synced, fsync = [], os.fsync

    def noted(descriptor):
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    files.create("tables/new/data", b"1")
    root = str(files.folder)
    assert {f"{root}/tables/new", f"{root}/tables", root, os.path.dirname(root)} <= set(synced)
    synced.clear()
    files.create("tables/new/more", b"1")
    assert [one for one in synced if SCRATCH not in one] == [f"{root}/tables/new"]


def test_a_path_through_a_file_is_one_sentence(files):
    files.put("a", b"")
    with pytest.raises(LibraryError) as raised:
        files.put("a/b", b"")
    assert str(raised.value) in (
        f"{files.folder}/a/b: a part of the path is a file - choose another folder with --library",
        f"{files.folder}/a/b: a file of that name is in the way - choose another folder with --library",
    )
    assert scratch(files) == []


SENTENCES = {
    errno.ENOSPC: "the disk is full - free some room and run the command again; what was kept stays",
    errno.EDQUOT: "the disk quota is used up - free some room and run the command again; what was kept stays",
    errno.EFBIG: "the file-size limit is reached - raise the limit and run the command again; what was kept stays",
    errno.EMFILE: "too many files are open - raise the limit of open files (ulimit -n) and run the command again",
    errno.EACCES: "no permission to write - choose another folder with --library, or change its permissions",
    errno.EROFS: "the file system is read-only - choose another folder with --library",
    errno.EIO: "the disk reports an error - check the disk; `scenegen library verify` tells what is damaged",
    errno.ENAMETOOLONG: "File name too long - check the path and run the command again",
}


@pytest.mark.parametrize("number", SENTENCES)
def test_errors_of_the_system_are_sentences(number):
    assert str(library_error("x", OSError(number, os.strerror(number)))) == f"x: {SENTENCES[number]}"


def test_what_cannot_be_read_is_a_sentence_and_too_many_files_another(tmp_path):
    error = OSError(errno.EIO, os.strerror(errno.EIO))
    assert str(unreadable(tmp_path, error)) == (
        f"{tmp_path}: cannot be read (Input/output error) - "
        "check the disk and the file's permissions; `scenegen library verify` tells what else is damaged"
    )
    many = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    assert "too many files are open" in str(unreadable(tmp_path, many))


def test_a_folder_instead_of_a_file_cannot_be_read(files):
    files.put("a/b", b"")
    with pytest.raises(LibraryError, match=r"a: cannot be read \(Is a directory\) - check the disk"):
        files.read("a")


def test_alone_waits_for_nobody_who_is_gone(files):
    files.put("a", b"")
    with files.alone():
        pass
    with files.alone():
        pass
    with pytest.raises(LibraryError, match="No such file or directory"), FolderFiles(files.folder / "none").alone():
        pass


@pytest.mark.parametrize(
    "name", ["a b", 'it\'s "quoted"', "ünïcødé 文", "50%", "a#b?c", "C:", "~", "back\\slash", "a@b"]
)
def test_usable_names(tmp_path, name):
    require_usable(tmp_path / name)


@pytest.mark.parametrize("name", ["new\nline", "tab\t", "\x7f", "\udcff"])
def test_unusable_names_are_refused_in_printable_words(tmp_path, name):
    with pytest.raises(LibraryError) as raised:
        require_usable(tmp_path / name)
    assert str(raised.value) == (
        f"{str(tmp_path / name)!a}: the path holds control characters or bytes that are no UTF-8"
        " - choose another --library"
    )
