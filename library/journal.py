"""Journals: what an unfinished expansion has made, durable line by line, until a commit publishes it.

A line is its own hash and its text. A run that is killed leaves at most a torn last line, which the next one cuts off;
any other damaged line is named. Lines that were published already do no harm: a commit leaves out rows that are there.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self

from library.commit import damaged
from library.files import FolderFiles, library_error, unreadable
from library.row import Line
from library.tables import ATTEMPTS
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
        self._folder = folder
        self._file: FileIO | None = None
        self._whole: int | None = None
        """Where the whole lines end [byte], while some that are being added, or could not be, may follow."""

    def __enter__(self) -> Self:
        """Become the writer.

        Raises:
            LibraryError: Another process runs this very expansion, or the folder is not writable.
        """
        try:
            while self._file is None:
                self._file = self._locked()
            FolderFiles(self._folder).sync(f"{STAGING}/{self.path.name}")
        except BlockingIOError:
            raise LibraryError(
                str(self.path), "another process runs this very expansion", "wait for it, or choose another --seed"
            ) from None
        except OSError as error:
            self.close()
            raise error if isinstance(error, LibraryError) else library_error(self.path, error) from error
        return self

    def _locked(self) -> FileIO | None:
        """Open the file and lock it; None if it was removed in between, so that the lock would be nobody's."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            file = opened.enter_context(self.path.open("ab", buffering=0))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), os.stat(self.path)):
                    opened.pop_all()
                    return file
        return None

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
            LibraryError: The disk is full or not writable; then none of the lines counts as kept.
        """
        data = b"".join(_sealed(line.text().encode()) for line in lines)
        if not data:
            return
        assert self._file is not None
        try:
            self._cut()
            self._whole = os.fstat(self._file.fileno()).st_size
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]
            os.fsync(self._file.fileno())
            self._whole = None
        except OSError as error:
            with suppress(OSError):  # where not even that can be done now, it is done before the next line
                self._cut()
            raise library_error(self.path, error) from error

    def lines(self) -> Iterator[Line]:
        """Read what is in the journal; its holder cuts a torn last line off.

        Raises:
            LibraryError: A line other than the last is damaged, or the file cannot be read.
        """
        good = 0
        for number, raw in enumerate(self._raw(), start=1):
            if not raw.endswith(b"\n"):
                self._whole = good
                break
            yield journal_line(self.path, number, raw)
            good += len(raw)
        try:
            self._cut()
        except OSError as error:
            raise library_error(self.path, error) from error

    def clear(self) -> None:
        """Forget the lines: they were published.

        Raises:
            LibraryError: The file is not writable; its lines do no harm.
        """
        try:
            os.truncate(self.path, 0)
        except OSError as error:
            raise library_error(self.path, error) from error
        self._whole = None

    def _raw(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as file:
                yield from file
        except OSError as error:
            raise unreadable(self.path, error) from error

    def _cut(self) -> None:
        """Take away what follows the whole lines."""
        if self._file is not None and self._whole is not None:
            os.ftruncate(self._file.fileno(), self._whole)
            self._whole = None


def journal_line(path: Path, number: int, raw: bytes) -> Line:
    """Read one whole line of a journal.

    Args:
        path: The journal, named after its expansion.
        number: The line's number, from 1.
        raw: The line with its end.

    Raises:
        LibraryError: It is damaged, or another expansion's.
    """
    digest, _, text = raw[:-1].partition(b" ")
    if content_hash(text).encode() != digest:
        raise damaged(str(path), f"line {number} does not match its hash")
    line = Line.from_text(text)
    if any(row["expansion"] != path.stem for row in line.rows.get(ATTEMPTS.name, ())):
        raise damaged(str(path), f"line {number} is of another expansion")
    return line


def is_held(path: Path) -> bool:
    """Tell whether a process writes a journal just now."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _sealed(text: bytes) -> bytes:
    return content_hash(text).encode() + b" " + text + b"\n"
