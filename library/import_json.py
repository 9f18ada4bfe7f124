"""JSON files from elsewhere: read whole only if they are plain files of a bearable size and depth."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scenegen.errors import InvalidRecord

MOST_BYTES = 64 * 2**20


def read_json(path: Path, *, root: Path, most_bytes: int = MOST_BYTES) -> Any:
    """Read a JSON file that nobody vouches for.

    Args:
        path: The file.
        root: The folder that it must really lie in, links followed.
        most_bytes: The greatest size that is read.

    Raises:
        InvalidRecord: It is no plain file, leads out of the root, is too large, is no JSON, is nested too deeply, names
            a key twice or holds a number that is not finite.
    """
    return parse_json(read_plain(path, root=root, most_bytes=most_bytes), what=str(path))


def read_plain(path: Path, *, root: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """Read a plain file that really lies below a root.

    Raises:
        InvalidRecord: It is no plain file, leads out of the root, or is too large.
    """
    real, real_root = os.path.realpath(path), os.path.realpath(root)
    if os.path.commonpath([real, real_root]) != real_root:
        raise InvalidRecord(str(path), [f"it leads to {real} - accepted: files below {real_root}"])
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK)  # a pipe nobody writes to would be waited for
    except OSError as error:
        raise InvalidRecord(str(path), [f"it cannot be read ({error.strerror})"]) from None
    with open(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise InvalidRecord(str(path), ["it is no plain file - accepted: plain files"])
        if facts.st_size > most_bytes:
            sizes = f"{facts.st_size / 2**20:.1f} MiB - accepted: up to {most_bytes / 2**20:g} MiB"
            raise InvalidRecord(str(path), [f"it has {sizes}"])
        return file.read(most_bytes)


def parse_json(data: bytes | str, *, what: str) -> Any:
    """Parse JSON strictly; see `read_json`."""
    try:
        return json.loads(data, object_pairs_hook=_once, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError:
        raise InvalidRecord(what, ["not JSON (it is nested too deeply)"]) from None
    except ValueError as error:
        raise InvalidRecord(what, [f"not JSON ({str(error)[:200]})"]) from None


def _once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key {name[:40]!r} stands in it twice")
        found[name] = value
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no finite number")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:40]} is no finite number")
    return value
