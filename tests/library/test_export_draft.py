"""Outputs that appear whole or not at all."""

import os
import subprocess
import sys

import pytest

from library.export_draft import drafted
from scenegen.errors import InvalidOption, LibraryError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write(output, text, **options):
    with drafted(output, **options) as folder:
        (folder / "file").write_text(text)
        assert not output.is_dir() or (output / "file").read_text() != text


def test_the_output_appears_when_it_is_whole(tmp_path):
    write(tmp_path / "deep" / "out", "a")
    assert names(tmp_path / "deep") == ["out"]
    assert (tmp_path / "deep" / "out" / "file").read_text() == "a"


def half(folder, error):
    (folder / "file").write_text("half")
    raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_one_leaves_nothing(tmp_path, error):
    with pytest.raises(error), drafted(tmp_path / "out") as folder:
        half(folder, error)
    assert names(tmp_path) == []


def test_what_is_there_is_refused(tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(InvalidOption) as caught:
        write(tmp_path / "out", "a")
    accepted = "a name that is not there yet, or --force to replace what is there"
    assert str(caught.value) == f"--output {tmp_path / 'out'} - accepted: {accepted}"


def test_force_replaces_a_folder_and_a_file(tmp_path):
    (tmp_path / "out").write_text("a file")
    for text in ("a", "b"):
        write(tmp_path / "out", text, force=True)
        assert (tmp_path / "out" / "file").read_text() == text
    assert names(tmp_path) == ["out"]


def test_an_interrupted_replacement_leaves_what_was_there(tmp_path):
    write(tmp_path / "out", "old")
    with pytest.raises(KeyboardInterrupt), drafted(tmp_path / "out", force=True):
        raise KeyboardInterrupt
    assert (tmp_path / "out" / "file").read_text() == "old"
    assert names(tmp_path) == ["out"]


def test_a_link_is_replaced_and_not_followed(tmp_path):
    write(tmp_path / "target", "kept")
    (tmp_path / "out").symlink_to(tmp_path / "target")
    write(tmp_path / "out", "new", force=True)
    assert (tmp_path / "target" / "file").read_text() == "kept"
    assert not (tmp_path / "out").is_symlink()


def test_drafts_of_killed_runs_are_removed_and_those_of_running_ones_stay(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for process in (gone.pid, os.getppid()):
        (tmp_path / f".out.{process}.draft").mkdir()
    write(tmp_path / "out", "a")
    assert names(tmp_path) == [f".out.{os.getppid()}.draft", "out"]


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LibraryError) as caught:
        write(tmp_path / "file" / "out", "a")
    assert str(caught.value).startswith(f"{tmp_path / 'file' / 'out'}: ")
