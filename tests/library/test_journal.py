"""What was added to a journal is there after any end of the writer; torn last lines go, other damage is named."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from library.journal import Journal, is_held
from library.row import Line, attempt_columns
from scenegen.errors import LibraryError

ID = "e" * 24


def line(index, scenario_id=None, rejected=None):
    rejected = rejected or {}
    rows = {"attempts": [attempt_columns(ID, index, scenario_id, rejected)]}
    return Line(index, scenario_id, None, rejected, rows)


LINES = st.lists(
    st.builds(
        line,
        st.integers(0, 10**9),
        st.none() | st.text(max_size=20),
        st.dictionaries(st.text(max_size=9), st.integers(1, 9), max_size=3),
    ),
    max_size=6,
)


@given(batches=st.lists(LINES, max_size=4))
def test_lines_come_back_as_they_were_added(tmp_path_factory, batches):
    folder = tmp_path_factory.mktemp("journal")
    for batch in batches:
        with Journal(folder, ID) as journal:
            journal.add(batch)
    with Journal(folder, ID) as journal:
        assert list(journal.lines()) == [one for batch in batches for one in batch]
        journal.clear()
        assert list(journal.lines()) == []


@given(lines=LINES.filter(bool), data=st.data())
def test_a_journal_cut_anywhere_gives_its_whole_lines_and_goes_on(tmp_path_factory, lines, data):
    folder = tmp_path_factory.mktemp("journal")
    with Journal(folder, ID) as journal:
        journal.add(lines)
    whole = journal.path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    journal.path.write_bytes(whole[:cut])
    kept = lines[: whole[:cut].count(b"\n")]
    with Journal(folder, ID) as journal:
        assert list(journal.lines()) == kept
        journal.add([line(7)])
        assert list(journal.lines()) == [*kept, line(7)]


@settings(max_examples=50)
@given(data=st.data())
def test_a_changed_byte_is_named_or_ends_the_last_line(tmp_path_factory, data):
    folder, lines = tmp_path_factory.mktemp("journal"), [line(0), line(1, "a" * 24), line(2)]
    with Journal(folder, ID) as journal:
        journal.add(lines)
    whole = journal.path.read_bytes()
    at, bit = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 7))
    journal.path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
    number = whole[:at].count(b"\n") + 1
    with Journal(folder, ID) as journal:
        if at == len(whole) - 1:
            assert list(journal.lines()) == lines[:2]
            return
        with pytest.raises(LibraryError) as raised:
            list(journal.lines())
    assert str(raised.value).startswith(f"{journal.path}: damaged: line {number} ")


def test_a_reader_that_does_not_hold_the_journal_cuts_nothing_off(tmp_path):
    with Journal(tmp_path, ID) as journal:
        journal.add([line(0)])
    with journal.path.open("ab") as file:
        file.write(b"half a line")
    before = journal.path.read_bytes()
    assert list(Journal(tmp_path, ID).lines()) == [line(0)]
    assert journal.path.read_bytes() == before


def test_only_one_writes(tmp_path):
    with Journal(tmp_path, ID) as journal:
        assert is_held(journal.path)
        with pytest.raises(LibraryError) as raised, Journal(tmp_path, ID):
            pass
        with Journal(tmp_path, "f" * 24):
            pass
    assert str(raised.value) == (
        f"{journal.path}: another process runs this very expansion - wait for it, or choose another --seed"
    )
    assert not is_held(journal.path)
    with Journal(tmp_path, ID):
        pass


def test_an_interruption_in_the_middle_of_a_line_leaves_nothing_of_it(tmp_path, monkeypatch):
    def interrupted(descriptor):
        raise KeyboardInterrupt

    with Journal(tmp_path, ID) as journal:
        journal.add([line(0)])
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", interrupted)
            with pytest.raises(KeyboardInterrupt):
                journal.add([line(1), line(2)])
        os.truncate(journal.path, journal.path.stat().st_size - 5)  # the last line was written in part
        journal.add([line(3)])
        assert list(journal.lines()) == [line(0), line(3)]


def test_an_error_takes_the_lines_back(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    with Journal(tmp_path, ID) as journal:
        journal.add([line(0)])
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", full)
            with pytest.raises(LibraryError) as raised:
                journal.add([line(1)])
        assert str(raised.value) == (
            f"{journal.path}: the disk is full - free some room and run the command again; what was kept stays"
        )
        assert list(journal.lines()) == [line(0)]


def test_where_not_even_that_works_the_lines_go_before_the_next_one(tmp_path, monkeypatch):
    def failing(*_):
        raise OSError(5, "Input/output error")

    with Journal(tmp_path, ID) as journal:
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", failing)
            patched.setattr(os, "ftruncate", failing)
            with pytest.raises(LibraryError, match="the disk reports an error"):
                journal.add([line(1)])
        journal.add([line(2)])
        assert list(journal.lines()) == [line(2)]


def test_a_journal_of_another_expansion_is_refused(tmp_path):
    with Journal(tmp_path, ID) as journal:
        journal.add([line(0)])
    with Journal(tmp_path, "f" * 24) as other:
        other.path.write_bytes(journal.path.read_bytes())
        with pytest.raises(LibraryError, match="damaged: line 1 is of another expansion"):
            list(other.lines())


def test_nothing_to_add_writes_nothing(tmp_path):
    with Journal(tmp_path, ID) as journal:
        journal.add([])
        assert journal.path.read_bytes() == b""
