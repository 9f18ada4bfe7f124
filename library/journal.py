"""Journals: what an unfinished expansion has made, durable line by line, until a commit publishes it.

A line is its own hash and its text. A run that is killed leaves at most a torn last line, which the next one cuts off;
any other damaged line is named. Lines that were published already do no harm: a commit leaves out rows that are there.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self

from library.commit import damaged
from library.files import library_error
from library.row import Line
from scenegen.errors import LibraryError
from scenegen.record import content_hash

STAGING = "staging"


class Journal:
    """The journal of one expansion in one library; whoever holds it is the expansion's only writer.

    Example:
        >>> with Journal(library.folder, expansion.content_id) as journal:  # doctest: +SKIP
        ...     journal.add(lines)
    """

    def __init__(self, folder: Path, expansion_id: str) -> None:
        self.path = folder / STAGING / f"{expansion_id}.jsonl"
        self._file: FileIO | None = None

    def __enter__(self) -> Self:
        """Become the writer.

        Raises:
            LibraryError: Another process runs this very expansion, or the folder is not writable.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab", buffering=0)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise LibraryError(
                str(self.path), "another process runs this very expansion", "wait for it, or choose another --seed"
            ) from None
        except OSError as error:
            raise library_error(self.path, error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the journal back; its lines stay until they are published."""
        self.close()

    def close(self) -> None:
        """Give the journal back."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, lines: Iterable[Line]) -> None:
        """Append lines and make them durable.

        Raises:
            LibraryError: The disk is full or not writable; then none of the lines is kept.
        """
        data = b"".join(_sealed(line.text().encode()) for line in lines)
        if not data:
            return
        assert self._file is not None
        start = os.fstat(self._file.fileno()).st_size
        try:
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            os.truncate(self.path, start)
            raise library_error(self.path, error) from error

    def lines(self) -> Iterator[Line]:
        """Read what is in the journal, and cut a torn last line off.

        Raises:
            LibraryError: A line other than the last is damaged.
        """
        good = 0
        with self.path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                if not raw.endswith(b"\n"):
                    os.truncate(self.path, good)
                    return
                digest, _, text = raw[:-1].partition(b" ")
                if content_hash(text).encode() != digest:
                    raise damaged(str(self.path), f"line {number} does not match its hash")
                yield Line.from_text(text)
                good += len(raw)

    def clear(self) -> None:
        """Forget the lines: they were published."""
        os.truncate(self.path, 0)


def _sealed(text: bytes) -> bytes:
    return content_hash(text).encode() + b" " + text + b"\n"
