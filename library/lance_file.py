"""Whether a Lance file is whole: Lance may go on after a write that failed, and name a file that lacks some bytes.

A file ends with the places of its tables, which the writer counted as it went, and `LANC`; what was lost on the way
shows as tables that do not end where the footer begins.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from library.files import unreadable
from scenegen.errors import LibraryError

_FILE = struct.Struct("<QQQIIHH4s")
"""Footer of a data or index file: column metadata, table of columns, table of global buffers (bytes from the start),
number of global buffers, number of columns, version, magic (Lance file format 2)."""
_MANIFEST = struct.Struct("<QHH4s")
"""Footer of a manifest: where its message begins, version, magic."""
_ENTRY = 16
"""Size of an entry of a table [byte]: place and length."""
_MAGIC = b"LANC"


def require_whole(path: Path) -> None:
    """Refuse a data, index or manifest file of Lance that lacks bytes.

    Raises:
        LibraryError: It does, or it cannot be read.
    """
    try:
        data = _Tail.of(path)
    except OSError as error:
        raise unreadable(path, error) from error
    if not (data.is_manifest if path.suffix == ".manifest" else data.is_file):
        raise LibraryError(
            str(path), "not all of it reached the disk", "check the disk and its room, and run the command again"
        )


@dataclass(frozen=True)
class _Tail:
    """The end of a file."""

    path: Path
    size: int
    bytes: bytes

    @classmethod
    def of(cls, path: Path) -> Self:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - _FILE.size))
            return cls(path, size, file.read())

    @property
    def is_file(self) -> bool:
        if self.size < _FILE.size:
            return False
        _, columns_at, buffers_at, buffers, columns, _, _, magic = _FILE.unpack(self.bytes)
        ends = (columns_at + columns * _ENTRY, buffers_at + buffers * _ENTRY)
        return magic == _MAGIC and ends == (buffers_at, self.size - _FILE.size)

    @property
    def is_manifest(self) -> bool:
        if self.size < _MANIFEST.size:
            return False
        begin, _, _, magic = _MANIFEST.unpack(self.bytes[-_MANIFEST.size :])
        if magic != _MAGIC or begin + 4 > self.size:
            return False
        with self.path.open("rb") as file:
            file.seek(begin)
            length = int.from_bytes(file.read(4), "little")
        return begin + 4 + length == self.size - _MANIFEST.size
