"""JSON files from elsewhere: bombs, pipes, links and lies are refused at once and by name."""

import os
import time

import pytest

from library.import_json import parse_json, read_json
from scenegen.errors import InvalidRecord


def refusal(path, root, **options):
    start = time.monotonic()
    with pytest.raises(InvalidRecord) as caught:
        read_json(path, root=root, **options)
    assert time.monotonic() - start < 3.0
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 200_000, "not JSON (it is nested too deeply)"),
        ('{"a":' * 200_000, "not JSON (it is nested too deeply)"),
        ('{"a": 1, "a": 2}', "not JSON (the key 'a' stands in it twice)"),
        ('{"a": NaN}', "not JSON (NaN is no finite number)"),
        ('{"a": -Infinity}', "not JSON (-Infinity is no finite number)"),
        ('{"a": 1e999}', "not JSON (1e999 is no finite number)"),
        ("\ufeff{}", "not JSON (Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0))"),
        ("{", "not JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))"),
    ],
)
def test_what_is_no_json(text, reason):
    with pytest.raises(InvalidRecord) as caught:
        parse_json(text, what="it")
    assert str(caught.value) == f"it: {reason}"


def test_digits_without_end():
    with pytest.raises(InvalidRecord, match=r"^it: not JSON \(Exceeds the limit"):
        parse_json("1" * 100_000, what="it")


def test_a_plain_file(tmp_path):
    (tmp_path / "a.json").write_text('{"a": [1, 2.5, "x"]}')
    assert read_json(tmp_path / "a.json", root=tmp_path) == {"a": [1, 2.5, "x"]}


def test_a_huge_file_is_not_read(tmp_path):
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(200 * 2**30)  # a sparse file: 200 GiB that take no room
    assert refusal(path, tmp_path) == f"{path}: it has 204800.0 MiB - accepted: up to 64 MiB"


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    assert refusal(tmp_path / "pipe.json", tmp_path) == (
        f"{tmp_path / 'pipe.json'}: it is no plain file - accepted: plain files"
    )


def test_a_link_that_leads_out(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.json").write_text('{"password": 1}')
    (root / "a.json").symlink_to(tmp_path / "secret.json")
    assert refusal(root / "a.json", root) == (
        f"{root / 'a.json'}: it leads to {tmp_path / 'secret.json'} - accepted: files below {root}"
    )


def test_a_file_that_is_not_there(tmp_path):
    path = tmp_path / "a.json"
    assert refusal(path, tmp_path) == f"{path}: it cannot be read (No such file or directory)"
